"""Baselines that use the order of the labels only.

`python3 benches/rivals/baselines.py FILE.libsvm[.gz] ...` prints a row of the page's table for each file. Nothing but the
standard library is needed.
"""

import gzip
import math
import random
import sys
from pathlib import Path


def no_change(labels, classes):
    """The previous label, with the share of rounds in which that was right so far; the other labels share the rest. (log-loss, error)"""
    loss = errors = repeats = 0.0
    before = None
    for t, label in enumerate(labels):
        if before is None:
            loss, errors = math.log(classes), 1.0
        else:
            p = (repeats + 1) / (t + 1)
            loss -= math.log(p if label == before else (1 - p) / (classes - 1))
            errors += label != before
            repeats += label == before
        before = label
    return loss / len(labels), errors / len(labels)


def label_markov(labels, classes):
    """Frequencies of every label after the previous one, counted from 1. (log-loss, error)"""
    counts = [[1] * classes for _ in range(classes + 1)]
    loss = errors = 0.0
    before = classes
    for label in labels:
        row = counts[before]
        loss -= math.log(row[label] / sum(row))
        errors += max(range(classes), key=row.__getitem__) != label
        row[label] += 1
        before = label
    return loss / len(labels), errors / len(labels)


BASELINES = {"no-change": no_change, "label-markov": label_markov}


def cells(labels, classes):
    """Of a table: log-loss / error of every baseline."""
    return [f"{loss:.4f} / {error:.4f}" for loss, error in (rule(labels, classes) for rule in BASELINES.values())]


def labels_of(path):
    """The labels of a LIBSVM file as 0, 1, …"""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as rows:
        names = [line.split(None, 1)[0] for line in rows if line.strip()]
    order = {name: at for at, name in enumerate(sorted(set(names), key=float))}
    return [order[name] for name in names], len(order)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        shuffled = name.endswith(":shuffled")
        path = Path(name.removesuffix(":shuffled"))
        found, classes = labels_of(path)
        if shuffled:
            random.Random(0).shuffle(found)
        title = path.name.split(".")[0] + ("-shuffled" if shuffled else "")
        print("| " + " | ".join([title, *cells(found, classes)]) + " |")
