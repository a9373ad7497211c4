"""One row at a time from Python: noregret beside scikit-learn and River, in one process.

    pip install target/python/wheels/*.whl scikit-learn river     # the wheel of `cargo xtask wheel`
    python benches/rivals/python_rows.py

`rows(repeat)` returns what is measured as (what, ours, rival, ratio): examples per CPU second of each, medians over interleaved
repetitions, and the median of the ratios of the pairs. Rows are dense, d = 54, K = 7, from a softmax of linear scores.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

FEATURES, CLASSES, ROWS = 54, 7, 1000
BINARY = Path(__file__).parents[2] / "target" / "release" / "noregret"


def stream(rows, seed=0):
    """Standard normal rows, and classes of a softmax of linear scores."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, FEATURES))
    logits = x @ rng.normal(0, 0.5, (FEATURES, CLASSES))
    return x, (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def contests():
    """What is compared: names, and functions that make a function that does `ROWS` rows."""
    from river import linear_model
    from sklearn.linear_model import SGDClassifier

    import noregret
    from noregret import river, sklearn

    x, y = stream(ROWS)
    classes = np.arange(CLASSES)
    rows = [x[at : at + 1] for at in range(ROWS)]
    labels = [y[at : at + 1] for at in range(ROWS)]
    dicts = [{f"f{column}": value for column, value in enumerate(row)} for row in x.tolist()]
    targets = y.tolist()

    def partial_fit(make):
        def work():
            model = make().partial_fit(rows[0], labels[0], classes=classes)
            for row, label in zip(rows, labels, strict=True):
                model.partial_fit(row, label)

        return work

    def progressive(make):
        def work():
            model = make()
            for row, label in zip(dicts, targets, strict=True):
                model.predict_proba_one(row)
                model.learn_one(row, label)

        return work

    def bare(name):
        def work():
            model = noregret.Learner(name, features=FEATURES, classes=CLASSES, radius=20.0)
            for row, label in zip(x, targets, strict=True):
                model.predict_proba(row)
                model.learn_one(row, label)

        return work

    softmax = "River SoftmaxRegression"
    sgd = partial_fit(lambda: SGDClassifier(loss="log_loss"))
    theirs = progressive(linear_model.SoftmaxRegression)
    yield "sklearn face, `ogd`, partial_fit a row", "SGDClassifier", partial_fit(sklearn.OgdClassifier), sgd
    yield "sklearn face, `folklore`, partial_fit a row", "SGDClassifier", partial_fit(sklearn.FolkloreClassifier), sgd
    yield "sklearn face, `ogd`, partial_fit a row", softmax, partial_fit(sklearn.OgdClassifier), theirs
    yield "River face, `ogd`, predict and learn", softmax, progressive(river.Ogd), theirs
    yield "River face, `folklore`, predict and learn", softmax, progressive(river.Folklore), theirs
    yield "Learner, `ogd`, predict and learn", softmax, bare("ogd"), theirs
    yield "Learner, `folklore`, predict and learn", softmax, bare("folklore"), theirs


def clock(work):
    """CPU seconds: both sides have one thread, and the machine may have other work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def paired(what, ours, theirs, repeat, ours_rows=ROWS, theirs_rows=ROWS):
    pairs = [(ours(), theirs()) for _ in range(repeat + 1)][1:]  # The first is for caches.
    ratio = statistics.median((b / theirs_rows) / (a / ours_rows) for a, b in pairs)
    rate = [rows / statistics.median(times) for rows, times in zip((ours_rows, theirs_rows), zip(*pairs, strict=True), strict=True)]
    return what, rate[0], rate[1], ratio


def against_the_command_line(name, count, repeat):
    """An array beside the learning pass of the command line on the same rows, text included; CPU against wall seconds."""
    import noregret

    x, y = stream(count)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.libsvm")
        with open(path, "w") as out:
            for row, label in zip(x.tolist(), y.tolist(), strict=True):
                out.write(f"{label} " + " ".join(f"{at + 1}:{v:.9g}" for at, v in enumerate(row)) + "\n")

        def ours():
            learner = noregret.Learner(
                name, features=FEATURES, classes=CLASSES, radius=20.0, scale="standard", intercept=True
            )
            return clock(lambda: learner.run(x, y))

        def theirs():
            words = [BINARY, "run", path, "--learner", name, "--scale", "standard", "--json", "--quiet"]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            return json.loads(done.stdout.splitlines()[-1])["seconds"]

        what = f"Learner.run on arrays, `{name}` / the command line on LIBSVM text"
        return paired(what, ours, theirs, repeat, count, count)


def rows(repeat=5):
    """Everything that is measured, as (what, our rows a second, the rival's, ratio)."""
    table = [
        paired(f"{what} / {rival}", lambda work=ours: clock(work), lambda work=theirs: clock(work), repeat)
        for what, rival, ours, theirs in contests()
    ]
    if BINARY.exists():
        table += [against_the_command_line(name, count, repeat) for name, count in (("ogd", 50_000), ("folklore", 5_000))]
    return table


if __name__ == "__main__":
    print("| what | ours, rows/s | rival, rows/s | ratio |\n|---|---:|---:|---:|")
    for what, ours, rival, ratio in rows():
        print(f"| {what} | {ours:.0f} | {rival:.0f} | {ratio:.1f} |")
