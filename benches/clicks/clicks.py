"""Rare clicks: expected clicks of noregret's bandits and of rivals of ten lines, on `noregret generate clicks`.

    python benches/clicks/clicks.py --program target/dist/noregret --seeds 5 > results/rare-clicks.md

Needs NumPy. `--only`, `--learners` and `--rivals` run a part of it.
"""

import argparse
import datetime
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

HEAD = """# Rare clicks

Written by `python benches/clicks/clicks.py --seeds {seeds}`. An ad server shows one of several labels in each of {rows:,} rounds, and a click
comes by a logistic model of five columns (`noregret generate clicks`, whose settings the script has). What is counted is the
click rate of the labels played, by the true model, exploration included: mean over the seeds, and one by one. The rows, and the clicks
that would happen, are the same for all.

noregret runs with what is written and nothing else. Of a rival that setting of its grid is shown which has the most clicks in the mean over the
seeds, chosen world by world after the fact, so that it knows what no one knows before: that is what `auto` is to be compared with,
and it does not reach it. Microseconds of a round are processor time of noregret's whole run, reading and logging included. A
learner without a line and a time without a number were not measured in that world, and Vowpal Wabbit is not among the rivals.
`auto` is of the build of {day.day} {day:%B %Y}."""

WORLDS = {
    "20 labels, .2 to 3 %": "",
    "5 labels": "classes=5",
    "100 labels": "classes=100",
    "rates of .05 to 1 %": "lowest=0.0005 highest=0.01",
    "rates of 5 to 40 %": "lowest=0.05 highest=0.4",
    "drift at half time": "drift=1",
    "one popular label": "popular=true",
    "a label that is never clicked": "hopeless=true",
}

LEARNERS = {
    "auto": "",
    "relative-gaps": "--learner relative-gaps",
    "squarecb": "--learner squarecb",
    "squarecb oracle=pooled": "--learner squarecb --set oracle=pooled",
    "fastcb": "--learner fastcb",
    "fastcb oracle=pooled": "--learner fastcb --set oracle=pooled",
    "confidit": "--learner confidit",
}


class Greedy:
    """Epsilon-greedy, a logistic regression with Adagrad for each label, whose bias begins at the log-odds of `prior`."""

    name = "ε-greedy, Adagrad"
    grid = list(itertools.product([0.01, 0.02, 0.05, 0.1], [0.05, 0.2, 0.5], [0.5, 0.01]))

    def __init__(self, settings, labels, features):
        self.epsilon, self.rate, prior = (np.array(column) for column in zip(*settings))
        self.w = np.zeros((len(settings), labels, features))
        self.w[:, :, -1] = np.log(prior / (1 - prior))[:, None]
        self.squares = np.full_like(self.w, 1e-8)

    def play(self, x, rng):
        best = np.einsum("skd,sd->sk", self.w, x).argmax(axis=1)
        drawn = rng.integers(self.w.shape[1], size=len(best))
        return np.where(rng.random(len(best)) < self.epsilon, drawn, best)

    def learn(self, x, rows, played, clicked):
        w, squares = self.w[rows, played], self.squares[rows, played]
        gradient = (1 / (1 + np.exp(-(w * x).sum(axis=1))) - clicked)[:, None] * x
        squares += gradient**2
        self.squares[rows, played] = squares
        self.w[rows, played] = w - self.rate[:, None] * gradient / np.sqrt(squares)


class Thompson:
    """Thompson sampling: a Laplace posterior for each label, with a full matrix; draws are `width` times as wide."""

    name = "Thompson, full Laplace"
    grid = list(itertools.product([0.1, 0.25, 0.5, 1.0], [0.1, 1.0], [0.5, 0.01]))
    draws, logistic = True, True

    def __init__(self, settings, labels, features):
        self.width, variance, prior = (np.array(column) for column in zip(*settings))
        self.w = np.zeros((len(settings), labels, features))
        self.w[:, :, -1] = np.log(prior / (1 - prior))[:, None] if self.logistic else 0.0
        self.matrix = np.eye(features) * variance[:, None, None, None] * np.ones((1, labels, 1, 1))

    def play(self, x, rng):
        mean = np.einsum("skd,sd->sk", self.w, x)
        noise = rng.standard_normal(mean.shape) if self.draws else 1.0
        wide = np.sqrt(np.einsum("skd,sd->sk", np.einsum("skde,se->skd", self.matrix, x), x))
        return (mean + self.width[:, None] * wide * noise).argmax(axis=1)

    def learn(self, x, rows, played, clicked):
        w, matrix = self.w[rows, played], self.matrix[rows, played]
        score = (w * x).sum(axis=1)
        mean = 1 / (1 + np.exp(-score)) if self.logistic else score
        curvature = mean * (1 - mean) if self.logistic else np.ones(len(score))
        product = np.einsum("sde,se->sd", matrix, x)
        scale = 1 / (1 + curvature * (product * x).sum(axis=1))
        self.w[rows, played] = w + ((clicked - mean) * scale)[:, None] * product
        self.matrix[rows, played] = matrix - (curvature * scale)[:, None, None] * product[:, :, None] * product[:, None, :]


class Diagonal(Thompson):
    """The same with the diagonals of the matrices."""

    name = "Thompson, diagonal Laplace"

    def learn(self, x, rows, played, clicked):
        w, matrix = self.w[rows, played], self.matrix[rows, played]
        mean = 1 / (1 + np.exp(-(w * x).sum(axis=1)))
        variances = 1 / (1 / np.einsum("sdd->sd", matrix) + (mean * (1 - mean))[:, None] * x**2)
        self.w[rows, played] = w + variances * (clicked - mean)[:, None] * x
        self.matrix[rows, played] = variances[:, :, None] * np.eye(x.shape[1])


class LinUcb(Thompson):
    """LinUCB: a ridge regression for each label, whose estimate plus `width` times its deviation is largest."""

    name = "LinUCB"
    grid = list(itertools.product([0.01, 0.03, 0.1, 0.3, 1.0], [0.1, 1.0], [0.5]))
    draws, logistic = False, False


RIVALS = [Greedy, Thompson, Diagonal, LinUcb]


def world(program, folder, settings, rows, seed):
    """The files of a world, its rows with a constant at the end, the clicks and the click rates."""
    read = {}
    for costs in ["clicks", "rates"]:
        path = folder / f"{costs}-{seed}.vw"
        words = [word for one in [*settings.split(), f"costs={costs}"] for word in ["--set", one]]
        subprocess.run([program, "generate", "clicks", "--rows", str(rows), "--seed", str(seed), "-o", path, *words], check=True)
        with open(path) as file:
            read[costs] = [[1.0 - float(cost[cost.index(":") + 1 :]) for cost in line.split("|")[0].split()] for line in file]
    with open(folder / f"clicks-{seed}.vw") as file:
        x = [[float(cell[cell.index(":") + 1 :]) for cell in line.split("|")[1].split()] + [1.0] for line in file]
    (folder / f"rates-{seed}.vw").unlink()
    return folder / f"clicks-{seed}.vw", np.array(x), np.array(read["clicks"]), np.array(read["rates"])


def ours(program, path, options, rates, seed):
    """Expected clicks of a learner of noregret, and the microseconds of a round."""
    log = path.with_suffix(".ndjson")
    log.unlink(missing_ok=True)
    command = [program, "run", path, "--feedback", "bandit", "--seed", str(seed), *options.split()]
    before = os.times()
    subprocess.run([*command, "--log", log], check=True, capture_output=True)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    with open(log) as file:
        p = [json.loads(line)["p"] for line in itertools.islice(file, 1, None)]
    log.unlink()
    return float((np.array(p) * rates).sum()), 1e6 * seconds / len(rates)


def rival(kind, worlds, seed):
    """Expected clicks by setting (rows) and world (columns), all played at once."""
    settings = kind.grid
    learner = kind([one for one in settings for _ in worlds], worlds[0][2].shape[1], worlds[0][1].shape[1])
    rng = np.random.default_rng(seed)
    x, clicks, rates = (np.stack([one[at] for one in worlds]) for at in [1, 2, 3])
    which = np.tile(np.arange(len(worlds)), len(settings))
    rows, earned = np.arange(len(which)), np.zeros(len(which))
    for t in range(x.shape[1]):
        row = x[which, t]
        played = learner.play(row, rng)
        learner.learn(row, rows, played, clicks[which, t, played])
        earned += rates[which, t, played]
    return earned.reshape(len(settings), len(worlds))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="target/dist/noregret")
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", help="a part of the name of a world")
    parser.add_argument("--learners", nargs="*", default=list(LEARNERS))
    parser.add_argument("--rivals", nargs="*", default=[kind.name for kind in RIVALS])
    args = parser.parse_args()
    day = datetime.date.fromtimestamp(pathlib.Path(shutil.which(args.program)).stat().st_mtime)
    print(HEAD.format(seeds=args.seeds, rows=args.rows, day=day))
    for name, settings in WORLDS.items():
        if args.only and args.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            seeds = range(1, args.seeds + 1)
            worlds = [world(args.program, pathlib.Path(folder), settings, args.rows, seed) for seed in seeds]
            best = np.mean([rates.max(axis=1).sum() for *_, rates in worlds])
            chance = np.mean([rates.mean(axis=1).sum() for *_, rates in worlds])
            print(f"\n## {name[0].upper()}{name[1:]}\n\nThe best policy earns {best:.0f} clicks, chance {chance:.0f}.\n", flush=True)
            print("| learner | expected clicks | of the best policy | by seed | setting | µs a round |\n|---|---:|---:|---|---|---:|")
            for learner in args.learners:
                runs = [ours(args.program, path, LEARNERS[learner], rates, seed) for seed, (path, *_, rates) in zip(seeds, worlds)]
                show(f"`{learner}`", [run[0] for run in runs], best, "", f"{np.mean([run[1] for run in runs]):.0f}")
            for kind in [kind for kind in RIVALS if kind.name in args.rivals]:
                earned = rival(kind, worlds, 1)
                at = earned.mean(axis=1).argmax()
                show(kind.name, earned[at], best, f"{kind.grid[at]}, best of {len(kind.grid)}")


def show(name, clicks, best, setting, micros="-"):
    mean = np.mean(clicks)
    by_seed = " ".join(f"{one:.0f}" for one in clicks)
    print(f"| {name} | {mean:.0f} | {mean / best:.3f} | {by_seed} | {setting} | {micros} |", flush=True)


if __name__ == "__main__":
    main()
