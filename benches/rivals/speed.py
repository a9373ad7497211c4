"""Ratios of speed: two programs run in turn, and the medians of the ratios of pairs."""

import statistics
import sys
import time
from dataclasses import dataclass
from typing import Callable

import numpy as np

from contestants import NOREGRET, timed, vw_command
from places import WORK
from second_order import Folklore
from streams import stream


@dataclass
class Contest:
    """Two functions that return (wall, CPU) seconds for the same rows; `rows` of each, since a slow rival gets fewer."""

    what: str
    rival: str
    ours: Callable[[], tuple[float, float]]
    theirs: Callable[[], tuple[float, float]]
    rows: tuple[int, int]
    target: float


def gemm(n=1024, repeat=20):
    """The machine's own rate of double-precision matrix products through NumPy's BLAS, GFLOP/s, one thread."""
    a = np.random.default_rng(0).standard_normal((n, n))
    best = min(clock(lambda: a @ a)[0] for _ in range(repeat))
    return 2 * n**3 / best / 1e9


def clock(work):
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def command(*words):
    """A noregret run: the whole process, text included."""

    def run():
        _, wall, cpu = timed([NOREGRET, "run", *words, "--threads", "1", "--json", "--quiet"])
        return wall, cpu

    return run


def second_order(features, classes, rows, fewer, target):
    """FOLKLORE on dense Gaussian rows: the command line against the NumPy version's loop alone."""
    path = WORK / "streams" / f"gauss-{features}-{classes}.libsvm"
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, features)) / np.sqrt(features)
    y = rng.integers(0, classes, rows)
    radius = float(np.sqrt((x * x).sum(1)).max())
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part := path.with_suffix(".part"), "w") as out:
            for row, label in zip(x, y):
                out.write(f"{label + 1} " + " ".join(f"{j + 1}:{v:.9g}" for j, v in enumerate(row)) + "\n")
        part.rename(path)

    def theirs():
        model = Folklore(classes, features, norm=30 / radius, radius=radius)

        def loop():
            for row, label in zip(x[:fewer], y[:fewer].tolist()):
                model.round(row, label)

        return clock(loop)

    ours = command(path, "--learner", "folklore", "--scale", "none", "--no-intercept")
    return Contest(f"`folklore`, d = {features}, K = {classes}, dense", "NumPy", ours, theirs, (rows, fewer), target)


def against_vw(on, learner, options, target, *set):
    """A learner on covtype text against VW on the same rows."""
    rows = len(on.rows[1])

    def theirs():
        _, wall, cpu = timed(vw_command(on, options))
        return wall, cpu

    rival = f"`vw {options}`"
    return Contest(f"`{learner}`, {on.name}", rival, command(on.libsvm, "--learner", learner, *set), theirs, (rows, rows), target)


def contests(data):
    yield second_order(54, 7, 50_000, 2_000, 9)
    yield second_order(400, 9, 4_000, 100, 14)
    on = stream("covtype", data)
    if on is None:
        print(f"skipped: contests on covtype, which is not in {data}", file=sys.stderr)
        return
    yield against_vw(on, "ogd", f"--oaa {on.classes} --loss_function logistic --probabilities", 10)
    explore = ("--set", "exploration=0.01")
    for learner in ("soba-diag", "banditron"):
        yield against_vw(on, learner, f"--cbify {on.classes}", 8, *explore)
    for loss in ("logistic", "hinge", "smooth"):
        name = f"gaptron-{loss}"
        yield against_vw(on, name, f"--cbify {on.classes}", 8, "--feedback", "bandit", *explore, "--set", "rate=0.01")


def line(contest, repeat):
    """One line of the table."""
    pairs = []
    for _ in range(repeat):
        pairs.append((contest.ours(), contest.theirs()))
    ours, theirs = contest.rows
    wall = [b[0] / theirs / (a[0] / ours) for a, b in pairs]
    cpu = [b[1] / theirs / (a[1] / ours) for a, b in pairs]
    speed = [statistics.median(rows / pair[side][0] for pair in pairs) for side, rows in enumerate(contest.rows)]
    return (
        f"| {contest.what} | {contest.rival} | {speed[0]:,.0f} | {speed[1]:,.0f} | {statistics.median(wall):.1f} "
        f"({min(wall):.1f} to {max(wall):.1f}) | {statistics.median(cpu):.1f} | {contest.target} |"
    )
