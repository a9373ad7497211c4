"""Data that tests share, made on the spot."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from noregret import catalogue

ROOT = Path(__file__).parents[3]
BINARY = Path(os.environ.get("NOREGRET_BINARY", ROOT / "target" / "debug" / "noregret"))
needs_the_command_line = pytest.mark.skipif(not BINARY.exists(), reason=f"{BINARY} is not built; `cargo build` makes it")


def vector(name):
    """The reference `testdata/vectors/<name>.json`; one that is missing is an error."""
    return json.loads((ROOT / "testdata" / "vectors" / f"{name}.json").read_text())


def stream(rows, features, classes, seed=0):
    """Rows of norm at most 1 and classes of a random linear softmax."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, features))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    logits = 6 * x @ rng.standard_normal((features, classes))
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return x, y


def signs(count=200, seed=0):
    """Numbers, and labels that the first column tells."""
    x = np.random.default_rng(seed).normal(size=(count, 3))
    return x, np.where(x[:, 0] > 0, "yes", "no")


def in_threads(work, count):
    """Does `work`, which is told the number of its thread, in so many threads at once."""
    threads = [threading.Thread(target=work, args=(at,)) for at in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def killed(code, *words):
    """Runs `code`, which ends itself with the exit code 9, in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, words)]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=300)
    assert done.returncode == 9, done.stderr


def entries(*feedback):
    """Learners of the registry that can be made for any problem, by what they are told."""
    return [entry for entry in catalogue() if entry["feedback"] in feedback]


def classes_of(entry):
    return {"any": 3, "two": 2, "real": 1}[entry["classes"]]


def dimension_of(entry):
    """As many features as the learner can do with."""
    if entry["name"] == "conditional-logit":
        return 6  # a block of two for each of three labels
    return 5 if entry["general"] or entry["feedback"] == "bandit" else 2


@pytest.fixture
def data():
    return stream
