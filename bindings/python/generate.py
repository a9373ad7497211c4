"""Writes what follows from the registry and cannot be made at import: `python generate.py`, with the package installed.

`noregret/_tried.py` tells which learners have classifiers: those that can be made for problems of any size and whose theorem's
parameters, if need be with a smaller `norm`, are of practical use; River's take in new classes and features besides. Stubs (`learners.pyi` and so on) tell type checkers and editors of the classes that `noregret/_classes.py` makes.
`tests/test_generated.py` fails when they are not what this writes.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import noregret.river._classifiers as river
import noregret.sklearn._classifiers as sklearn
from noregret import Learner, bandits, learners
from noregret._classes import Entry
from noregret._kinds import KINDS

HEADER = "# Written by generate.py from the registry. Do not edit.\n"
REACH = 3.0
"""The default of `norm` times `radius` in classifiers whose theorem's steps are too small to be seen with the learner's own 30."""


def practical(entry: Entry, reach: float | None = None) -> bool:
    """Whether three far clusters are told apart after 300 rows, with the theorem's parameters or with `norm = reach / radius`.
    Some theorems are so careful that the probabilities stay equal."""
    learner, x, y = clusters(entry, reach)
    learner.update(x, y)
    chosen = learner.predict(x)
    visibly = learner.predict_proba(x)[np.arange(300), chosen].mean() > 1 / learner.classes + 0.01
    return bool((chosen == y).mean() > 0.8 and visibly)


def bounded(entry: Entry) -> bool:
    """Whether memory stays the same however many rows are learnt. Some learners keep them all: no good for endless streams."""
    learner, x, y = clusters(entry, None)
    sizes = []
    for at in range(6):
        learner.update((1 - at / 10) * x[:100], y[:100])
        sizes.append(learner._core.__sizeof__())
    return max(sizes[3:]) < 1.5 * max(sizes[:3])


def clusters(entry: Entry, reach: float | None) -> tuple[Learner, Any, Any]:
    """A learner, and rows of three far clusters (two for two classes) with their classes."""
    rng = np.random.default_rng(0)
    classes = 2 if entry["classes"] == "two" else 3
    y = rng.integers(0, classes, 300)
    x = rng.normal(size=(300, 2)) + 4 * np.array([[0, 1], [1, -1], [-1, -1]])[y]
    x -= x.mean(axis=0)
    radius = float(np.linalg.norm(x, axis=1).max())
    norm = {} if reach is None else {"norm": reach / radius}
    return Learner(entry["name"], features=2, classes=classes, radius=radius, **norm), x, y


def tried() -> tuple[dict[str, float | None], list[str], list[str]]:
    """Learners that have classifiers, with the default of `norm` times `radius` if it is not their own; River's; and those
    that keep their rows."""
    found: dict[str, float | None] = {}
    for name, entry in KINDS.items():
        if entry["general"] and entry["classes"] != "real" and entry["feedback"] in ("full", "either"):
            if practical(entry):
                found[name] = None
            elif any(param["name"] == "norm" for param in entry["params"]) and practical(entry, REACH):
                found[name] = REACH
    return found, [name for name in found if KINDS[name]["grows"]], [name for name in found if not bounded(KINDS[name])]


def constants(found: dict[str, float | None], streaming: list[str], keeping: list[str]) -> str:
    rows = [f'    "{name}": {reach},' for name, reach in found.items()]
    names, keepers = ([f'    "{name}",' for name in some] for some in (streaming, keeping))
    return "\n".join([
        HEADER + '"""Which learners have classifiers: found by trying every one on far clusters."""', "",
        "from __future__ import annotations", "",
        "PRACTICAL: dict[str, float | None] = {", *rows, "}",
        '"""Learners that tell the clusters apart, with the default of `norm` times `radius` where their own is too large."""', "",
        "STREAMING = [", *names, "]", '"""Those that take in new classes and features."""', "",
        "KEEPING = [", *keepers, "]", '"""Those that keep their rows, so that their memory grows."""', "",
    ])


def fill(words: str, indent: int) -> str:
    pad = " " * indent
    return textwrap.fill(words, 110, initial_indent=pad, subsequent_indent=pad, break_on_hyphens=False)


def stub(doc: str, base: str, kinds: Iterable[type[Any]]) -> str:
    """What type checkers are told of a module: how its classes are made, and what they are made with."""
    named = {kind.__name__: kind for kind in kinds}
    names = fill(", ".join(f'"{name}"' for name in sorted(named)), 4)
    body = "\n".join(line for name in sorted(named) for line in declared(named[name]))
    standard = [
        f"from {module} import {', '.join(used)}"
        for module, words in [("collections.abc", ["Mapping", "Sequence"]), ("typing", ["Any", "Literal"])]
        if (used := [word for word in words if re.search(rf"\b{word}\b", body)])
    ]
    return "\n".join([HEADER + f'"""{doc}"""', "", *standard, "", base, "", f"__all__ = [\n{names}\n]", "", body, ""])


def declared(kind: type[Any]) -> list[str]:
    """The parameters that a classifier keeps, and the constructor. Lines end between keywords, not within."""
    keywords = list(inspect.signature(kind.__init__).parameters.values())[1:]
    own = [f"    {p.name}: {p.annotation}" for p in keywords if p.name in getattr(kind, "_own", ())]
    words = ["self,", "*,", *(declaration(p).replace(" ", "\xa0") + "," for p in keywords)]
    start = fill(" ".join(words), 8).replace("\xa0", " ")
    return [f"class {kind.__name__}({kind.__base__.__name__}):", *own, "    def __init__(", start, "    ) -> None: ..."]


def declaration(p: inspect.Parameter) -> str:
    default = json.dumps(p.default) if isinstance(p.default, str) else p.default
    stars = "**" if p.kind is p.VAR_KEYWORD else ""
    return f"{stars}{p.name}: {p.annotation}" + ("" if p.default is p.empty else f" = {default}")


def files() -> dict[str, str]:
    """The text of every generated file, by its path in the package."""
    found, streaming, keeping = tried()
    batch = "from ._base import Classifier\nfrom ._weighted import WeightedClassifier"
    base = "from ._base import Classifier, WeightedClassifier"
    return {
        "_tried.py": constants(found, streaming, keeping),
        "learners.pyi": stub(
            learners.__doc__, "from ._learner import Learner", [getattr(learners, name) for name in learners.__all__]),
        "bandits.pyi": stub(
            bandits.__doc__, "from ._bandit import Bandit", [getattr(bandits, name) for name in bandits.__all__]),
        "sklearn/_classifiers.pyi": stub(
            sklearn.__doc__, batch, [sklearn.made(KINDS[name], reach) for name, reach in found.items()]),
        "river/_classifiers.pyi": stub(
            river.__doc__, base, [river.made(KINDS[name], found[name]) for name in streaming]),
    }


if __name__ == "__main__":
    package = Path(__file__).parent / "python" / "noregret"
    for name, text in files().items():
        (package / name).write_text(text)
