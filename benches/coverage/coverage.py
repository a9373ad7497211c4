"""How often the intervals of off-policy estimates contain the truth, on many small logs.

    python benches/coverage/coverage.py --logs 500 > results/coverage.md

Needs NumPy and the Python package, whose numbers are those of `noregret evaluate`.
"""

from __future__ import annotations

import argparse

import numpy as np

import noregret

LABELS = 5
RATES = [0.02, 0.05, 0.1, 0.2, 0.5]
SIZES = [100, 300, 1_000, 3_000, 10_000]

HEAD = """# Coverage of off-policy intervals

Written by `python benches/coverage/coverage.py --logs {logs}`. A log has {labels} labels, whose rewards are 0 or 1. The policy to evaluate always plays the
first one, which earns at the rate of the row; the others earn at half, three quarters, five quarters and one and a half times that. For each rate, size and way of logging
there are {logs} logs; every interval is one of 95 %, so that about .95 is wanted, and {slack} is what chance leaves of it in a table's cell.
`dr` has the running means of the labels as estimates of rewards. The three ways of logging:

* **rare**: the first label is played with probability .02, the others share the rest. Weights are 50.
* **uniform**: all labels are played equally often.
* **adaptive**: an ε-greedy learner with ε = .1 logs while it learns, so that probabilities depend on earlier rewards.

`seq` is the confidence sequence, which is what `noregret evaluate` shows first, and which holds at every time and for adaptive logs. `normal` is
approximate, and only computed where enough rewards, and enough missing ones, were observed: its coverage is among the logs that have one, and the share of these is in the
last column. A cell without a number had no such log. `dm` has no interval, since nothing bounds its error. `naive` is what is not offered: the normal interval of `ips` from its standard error
in every log, however few rewards there were."""


def play(way: str, rate: float, size: int, logs: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Labels, rewards and distributions of some logs."""
    rates = np.minimum(rate * np.array([1.0, 0.5, 0.75, 1.25, 1.5]), 1.0)
    coins, luck = rng.random((2, logs, size))
    if way != "adaptive":
        p = np.array([0.02] + [0.98 / (LABELS - 1)] * (LABELS - 1)) if way == "rare" else np.full(LABELS, 1 / LABELS)
        labels = np.minimum(np.searchsorted(np.cumsum(p), coins, side="right"), LABELS - 1)
        return labels, (luck < rates[labels]).astype(float), np.broadcast_to(p, (logs, size, LABELS))
    labels, distributions = np.empty((logs, size), dtype=int), np.empty((logs, size, LABELS))
    played, earned, all_logs = np.full((logs, LABELS), 2.0), np.full((logs, LABELS), 1.0), np.arange(logs)
    for t in range(size):
        p = np.full((logs, LABELS), 0.1 / LABELS)
        p[all_logs, np.argmax(earned / played, axis=1)] += 0.9
        label = np.minimum((coins[:, t, None] >= np.cumsum(p, axis=1)).sum(axis=1), LABELS - 1)
        labels[:, t], distributions[:, t] = label, p
        played[all_logs, label] += 1
        earned[all_logs, label] += luck[:, t] < rates[label]
    return labels, (luck < rates[labels]).astype(float), distributions


def means(labels: np.ndarray, rewards: np.ndarray) -> np.ndarray:
    """The mean reward of every label before each round, from one reward of a half."""
    hot = np.eye(LABELS)[labels]
    before = [np.vstack([np.zeros(LABELS), np.cumsum(terms, axis=0)[:-1]]) for terms in (hot * rewards[:, None], hot)]
    return (before[0] + 0.5) / (before[1] + 1)


class Cell:
    """Coverage of one kind of interval."""

    def __init__(self) -> None:
        self.logs, self.there, self.covered, self.width = 0, 0, 0, 0.0

    def add(self, interval: tuple[float, float] | None, truth: float) -> None:
        self.logs += 1
        if interval is not None:
            low, high = interval
            self.there += 1
            self.covered += low <= truth <= high
            self.width += high - low

    def __str__(self) -> str:
        return f"{self.covered / self.there:.3f} ± {self.width / self.there / 2:.3f}" if self.there else ""


def measured(way: str, rate: float, size: int, logs: int) -> list[str]:
    """The cells of one row."""
    rng = np.random.default_rng([["rare", "uniform", "adaptive"].index(way), round(1000 * rate), size])
    kinds = ["ips seq", "dr seq", "ips normal", "snips normal", "dr normal", "naive"]
    cells = {kind: Cell() for kind in kinds}
    policy = np.tile(np.eye(LABELS)[0], (size, 1))
    for labels, rewards, distributions in zip(*play(way, rate, size, logs, rng)):
        estimates = means(labels, rewards)
        found = noregret.evaluate_arrays(labels, rewards, distributions, policy, estimates=estimates).estimates
        for name in ["ips", "snips", "dr"]:
            if name != "snips":
                cells[f"{name} seq"].add(found[name].sequence, rate)
            cells[f"{name} normal"].add(found[name].normal, rate)
        half = 1.96 * (found["ips"].standard_error or 0.0)
        cells["naive"].add((found["ips"].value - half, found["ips"].value + half), rate)
    share = cells["ips normal"].there / logs
    return [f"{rate:g}", f"{size:,}", *(str(cells[kind]) for kind in kinds), f"{share:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=500)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--ways", nargs="+", default=["rare", "uniform", "adaptive"])
    args = parser.parse_args()
    slack = f"± {1.96 * (0.95 * 0.05 / args.logs) ** 0.5:.3f}"
    print(HEAD.format(logs=args.logs, labels=LABELS, slack=slack))
    for way in args.ways:
        print(f"\n## {way.capitalize()}\n\nCoverage ± mean half width.\n")
        print("| rate | rounds | ips seq | dr seq | ips normal | snips normal | dr normal | naive | have a normal one |")
        print("|---:|---:|---|---|---|---|---|---|---:|", flush=True)
        for rate in RATES:
            for size in args.sizes:
                print("| " + " | ".join(measured(way, rate, size, args.logs)) + " |", flush=True)


if __name__ == "__main__":
    main()
