"""From Python, in one process: noregret beside scikit-learn and River one row at a time, and whole arrays beside the command line.

    python3 benches/rivals/rivals.py speed     # installs a release wheel beside the rivals, and has these contests in its table

Rows are dense, d = 54, K = 7, from a softmax of linear scores.
"""

import json
import os
import subprocess

import numpy as np

from contestants import NOREGRET, timed
from places import ROOT, WORK
from speed import Contest, clock

FEATURES, CLASSES, ROWS = 54, 7, 1000


def install(python):
    """Builds a release wheel and installs it for `python`."""
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    package = ["--force-reinstall", "--no-deps", "--no-build-isolation", ROOT / "bindings" / "python"]
    path = f"{os.path.dirname(python)}{os.pathsep}{os.environ['PATH']}"  # pip looks for maturin there.
    environment = {**os.environ, "PATH": path, "CARGO_TARGET_DIR": str(ROOT / "target"), "PYO3_PYTHON": str(python)}
    subprocess.run([*pip, *package], check=True, env=environment)


def stream(rows, seed=0):
    """Standard normal rows, and classes of a softmax of linear scores."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, FEATURES))
    logits = x @ rng.normal(0, 0.5, (FEATURES, CLASSES))
    return x, (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def a_row_at_a_time():
    """Every contestant gets the same rows in its fastest form; ours compute at least what the rival computes."""
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

        return lambda: clock(work)

    def progressive(make):
        def work():
            model = make()
            for row, label in zip(dicts, targets, strict=True):
                model.predict_proba_one(row)
                model.learn_one(row, label)

        return lambda: clock(work)

    def bare(name):
        def work():
            model = noregret.Learner(name, features=FEATURES, classes=CLASSES, radius=20.0)
            for row, label in zip(x, targets, strict=True):
                model.predict_proba(row)
                model.learn_one(row, label)

        return lambda: clock(work)

    softmax = "River `SoftmaxRegression`"
    sgd = partial_fit(lambda: SGDClassifier(loss="log_loss"))
    theirs = progressive(linear_model.SoftmaxRegression)
    for what, rival, ours, other, target in [
        ("`sklearn.OgdClassifier`, partial_fit", "`SGDClassifier`", partial_fit(sklearn.OgdClassifier), sgd, 20),
        ("`sklearn.FolkloreClassifier`, partial_fit", "`SGDClassifier`", partial_fit(sklearn.FolkloreClassifier), sgd, 1),
        ("`sklearn.OgdClassifier`, partial_fit", softmax, partial_fit(sklearn.OgdClassifier), theirs, 5),
        ("`river.Ogd`, predict and learn", softmax, progressive(river.Ogd), theirs, 1),
        ("`river.Folklore`, predict and learn", softmax, progressive(river.Folklore), theirs, 1),
        ("`Learner(\"ogd\")`, predict and learn", softmax, bare("ogd"), theirs, 5),
        ("`Learner(\"folklore\")`, predict and learn", softmax, bare("folklore"), theirs, 1),
    ]:
        yield Contest(what, rival, ours, other, (ROWS, ROWS), target)


def whole_arrays(name, count):
    """An array beside the learning pass of the command line on the same rows as LIBSVM text, reading included. The wall time
    of that pass is the command line's own; CPU time is that of its whole process."""
    import noregret

    x, y = stream(count)
    path = WORK / "streams" / f"rows-{count}.libsvm"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "w") as out:
            for row, label in zip(x.tolist(), y.tolist(), strict=True):
                out.write(f"{label} " + " ".join(f"{at + 1}:{v:.9g}" for at, v in enumerate(row)) + "\n")

    def ours():
        learner = noregret.Learner(
            name, features=FEATURES, classes=CLASSES, radius=20.0, scale="standard", intercept=True
        )
        return clock(lambda: learner.run(x, y))

    def theirs():
        words = [NOREGRET, "run", path, "--learner", name, "--scale", "standard", "--threads", "1", "--json", "--quiet"]
        out, _, cpu = timed(words)
        return json.loads(out.splitlines()[-1])["seconds"], cpu

    return Contest(f"`Learner(\"{name}\").run`, {count:,} rows", "`noregret run`", ours, theirs, (count, count), 1)


def contests():
    yield from a_row_at_a_time()
    yield whole_arrays("ogd", 50_000)
    yield whole_arrays("folklore", 10_000)
