"""Many classes and many features: `rivals.py many` writes results/many-classes.md. Streams are those of many_streams.py.

Processor time and peak memory are those of the whole process, reading the file included, on one core.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from functools import wraps
from itertools import chain

import matplotlib
import numpy as np
from matplotlib import pyplot as plt

import many_streams
from contestants import NOREGRET
from places import ROOT, WORK
from streams import stream
from tables import build, built

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "noregret"
FOLDER = WORK / "many"
SKETCHED = (
    "", "--learner folklore-diag", "--learner folklore-sketch", "--learner folklore-sketch --set rank=30",
    "--learner folklore-sketch --set regularization=0.2",
)
# Rows of reuters4 as `noregret data fetch` makes it.
ALL_OF_RCV1 = 665_265
RATES = ("0.5", "2", "5", "10")
# Without a hierarchy the search for the best label visits most of the leaves, so that 100,000 classes take hours.
SIZES = {"tree": (100, 1_000, 10_000, 100_000), "flat": (100, 1_000, 10_000)}
# Largest number of classes for one-against-all, whose output has a number for every class and row.
LARGEST_OAA = 1_000
# Largest number of classes for `auto`, which takes a minute there.
LARGEST_AUTO = 10_000


@dataclass
class Run:
    """The result of a process on a stream."""

    rows: int
    log_loss: float | None
    error: float
    seconds: float
    mebibytes: float

    def cells(self):
        loss = "" if self.log_loss is None else f"{self.log_loss:.4f}"
        return f"{loss} | {self.error:.4f} | {self.rows / self.seconds:,.0f} | {self.mebibytes:,.0f}"


def remembered(contestant):
    """Reuses an earlier result of `contestant`; for noregret, of the same build."""

    @wraps(contestant)
    def run(*settings):
        key = [contestant.__name__, *map(str, settings), build() if contestant.__name__ == "ours" else ""]
        log = FOLDER / "runs.jsonl"
        entries = map(json.loads, log.read_text().splitlines()) if log.exists() else ()
        known = next((Run(**entry["run"]) for entry in entries if entry["key"] == key), None)
        if known is None:
            known = contestant(*settings)
            with open(log, "a") as out:
                out.write(json.dumps({"key": key, "run": asdict(known)}) + "\n")
        return known

    return run


# Linux counts the memory of a process before its program starts, which is that of its parent: so the parent is small.
LAUNCHER = """
import os, sys
null = [(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
_, status, used = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=null), 0)
print(status, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)
"""


def process(command):
    """Output, processor time and peak memory of a process."""
    with tempfile.TemporaryFile() as out:
        launch = [sys.executable, "-S", "-c", LAUNCHER, *map(str, command)]
        used = subprocess.run(launch, stdout=out, stderr=subprocess.PIPE, text=True, check=True).stderr
        status, seconds, mebibytes = map(float, used.split())
        if status != 0:
            raise SystemExit(f"{' '.join(map(str, command))}: ended with {status:.0f}")
        out.seek(0)
        return out.read().decode(), seconds, mebibytes


def ours(name, settings):
    out, seconds, memory = process([NOREGRET, "run", FOLDER / f"{name}.svm", "--threads", "1", "--json", "--quiet", *settings.split()])
    summary = json.loads(out.splitlines()[-1])
    return Run(summary["rounds"], summary.get("log_loss"), summary["error_rate"], seconds, memory)


def vw(name, classes, settings):
    """One-against-all logistic with probabilities."""
    path = FOLDER / f"{name}.vw"
    labels = np.array([int(line.split(" ", 1)[0]) for line in open(path)]) - 1
    with tempfile.TemporaryDirectory() as folder:
        said = os.path.join(folder, "said")
        common = "--loss_function logistic --probabilities --random_seed 1 --holdout_off --no_stdin --quiet -b 24"
        command = f"-m vowpalwabbit -d {path} --oaa {classes} {common} -p {said} {settings}"
        _, seconds, memory = process([sys.executable, *command.split()])
        total, wrong = 0.0, 0
        for line, label in zip(open(said), labels):
            p = np.fromiter((float(part.split(":")[1]) for part in line.split()), float)
            total -= math.log(0.999 * p[label] / max(p.sum(), 1e-15) + 0.001 / classes)
            wrong += int(p.argmax() != label)
    return Run(len(labels), total / len(labels), wrong / len(labels), seconds, memory)


def made(name, rows, plt=False):
    """Files of a stream, written once; for the rival's trees, labels count from 0."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (FOLDER / f"{name}.vw").exists():
        many_streams.write(rows, FOLDER / f"{name}.svm", FOLDER / f"{name}.vw")
    if plt and not (FOLDER / f"{name}-plt.vw").exists():
        with open(FOLDER / f"{name}.vw") as whole, open(FOLDER / f"{name}-plt.vw", "w") as out:
            for line in whole:
                label, rest = line.split(" ", 1)
                out.write(f"{int(label) - 1} {rest}")
    return name


def tree_vw(name, classes, settings):
    """A probabilistic label tree of the rival, which is given the labels in the order of the tree."""
    path = FOLDER / f"{name}-plt.vw"
    labels = np.array([int(line.split(" ", 1)[0]) for line in open(path)])
    with tempfile.TemporaryDirectory() as folder:
        said = os.path.join(folder, "said")
        common = "--loss_function logistic --random_seed 1 --holdout_off --no_stdin --quiet -b 24 --top_k 1"
        command = f"-m vowpalwabbit -d {path} --plt {classes} {common} -p {said} {settings}"
        _, seconds, memory = process([sys.executable, *command.split()])
        best = np.array([int(line.split(",")[0].split(":")[0].strip() or -1) for line in open(said)])
    return Run(len(labels), None, float((best[: len(labels)] != labels).mean()), seconds, memory)


ours, vw, tree_vw = remembered(ours), remembered(vw), remembered(tree_vw)
HEAD = "| learner | log-loss | error rate | rows a second | MiB |\n|---|---:|---:|---:|---:|\n"


def first():
    """The three streams, with the best of the rival's rates."""
    streams = [
        ("200 classes, 20 dense features, 5,000 rows", "dense-200", many_streams.dense, 200),
        ("1,000 classes, 100,000 sparse features, 30 a row, 20,000 rows", "texts-1000", many_streams.texts, 1000),
        ("two classes, 1,000,000 sparse features, 50 a row, 50,000 rows", "two-million", many_streams.two, 2),
    ]
    for title, name, rows, classes in streams:
        made(name, rows())
        text = f"### {title}\n\n{HEAD}"
        for settings in ("", "--learner folklore-diag"):
            text += f"| `{f'noregret run {settings}'.strip()}` | {ours(name, settings).cells()} |\n"
        runs = [(rate, vw(name, classes, f"-l {rate}")) for rate in RATES]
        rate, best = min(runs, key=lambda run: run[1].log_loss)
        text += f"| `vw --oaa {classes} --probabilities -l {rate}`, best of {', '.join(RATES)} | {best.cells()} |\n"
        yield text


def sketches(data):
    """Sparse text: sketched learners beside diagonal ones and the rival's sketch; nothing without the data set."""
    on = stream("reuters4", data)
    if on is None:
        return
    for suffix, path in ((".svm", on.libsvm), (".vw", on.vw)):
        link = FOLDER / f"reuters4{suffix}"
        link.unlink(missing_ok=True)
        link.symlink_to(path)
    rows, columns = on.rows[0].shape
    text = f"### Text: reuters4, {rows:,} rows, {columns:,} columns, {on.classes} classes\n\n"
    if rows < ALL_OF_RCV1:
        text += f"""A part of RCV1: the whole stream of {ALL_OF_RCV1:,} rows comes from `noregret data fetch reuters4`, which needs a network. There was none
where this page was written.

"""
    text += HEAD
    for settings in SKETCHED:
        text += f"| `{f'noregret run {settings}'.strip()}` | {ours('reuters4', settings).cells()} |\n"
    runs = [(rate, vw("reuters4", on.classes, f"--OjaNewton --sketch_size 10 -l {rate}")) for rate in RATES]
    rate, best = min(runs, key=lambda run: run[1].log_loss)
    yield text + f"| `vw --OjaNewton --sketch_size 10 -l {rate}`, best of {', '.join(RATES)} | {best.cells()} |\n"


def growth(least=20_000):
    """Labels from a hundred to a hundred thousand, five rows of each or more."""
    points = {}
    for shape in ("tree", "flat"):
        text = f"### {'A hierarchy' if shape == 'tree' else 'Flat: classes have nothing in common'}\n\n"
        text += "| classes " + HEAD.replace("\n|---|", "\n|---:|---|", 1)
        for classes in SIZES[shape]:
            rows = max(least, 5 * classes)
            name = made(f"{shape}-{classes}", getattr(many_streams, shape)(classes, rows), plt=True)
            contests = [("`label-tree`", lambda: ours(name, "--learner label-tree")), ("`vw --plt`", lambda: tree_vw(name, classes, "-l 1"))]
            if classes <= LARGEST_AUTO:
                contests.append(("`auto`", lambda: ours(name, "")))
            if classes <= LARGEST_OAA:
                contests.append(("`vw --oaa`", lambda: vw(name, classes, "-l 5")))
            for who, run in contests:
                got = run()
                points.setdefault(f"{who.strip('`')}, {'hierarchy' if shape == 'tree' else 'flat'}", []).append((classes, 1e6 * got.seconds / got.rows))
                text += f"| {classes:,} | {who} | {got.cells()} |\n"
        yield text, points


def chart(points, path):
    """Processor time a row over the number of classes, on logarithmic axes."""
    figure, axes = plt.subplots(figsize=(6.4, 4))
    for name, line in points.items():
        axes.loglog(*zip(*line, strict=True), marker="o", label=name)
    axes.set(xlabel="classes", ylabel="processor time a row, microseconds")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


COSTS = """## What a round costs

Processor time of a round of the learners for many features, on sparse rows, over the number of classes, of features, of entries of a
row and of rows of the sketch, the others fixed: `cargo run --profile dist -p noregret-benches --bin gemm_share -- costs results/costs.svg`.

![Time of a round over classes, features, entries and rank](costs.svg)
"""


def many(options):
    path = ROOT / "results" / "many-classes.md"
    page = f"""# Many classes, many features

Written by `python3 benches/rivals/rivals.py many`. One pass in file order, every prediction made before its label was seen; streams
are made by `benches/rivals/many_streams.py`. Rows a second of processor time and the peak memory are those of the whole process,
reading included; other programs were running, so that times are upper bounds; rivals' figures are kept from
earlier runs of this page. Where a rival's probability of the label is zero, a thousandth of the uniform distribution is mixed in, to its favour.
{built()}

## Many classes, many columns

"""
    for text in chain(first(), sketches(options.data)):
        page += text + "\n"
        path.write_text(page)
    page += "\n## From a hundred to a hundred thousand classes\n\n"
    page += """20,000 rows, or five of each class if that is more. `vw --plt` knows how many labels there are and their order; its tree gives
no probabilities. Where classes have nothing in common, the forecasts in the tree are nearly uniform, and the exact search for
the best label visits most of the leaves: the time of `label-tree` then grows with the number of classes.

![Processor time per row over the number of classes](many-classes.svg)

"""
    for text, points in growth():
        page += text + "\n"
        chart(points, ROOT / "results" / "many-classes.svg")
        path.write_text(page)
    path.write_text(page + COSTS)
