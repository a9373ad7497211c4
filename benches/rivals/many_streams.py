"""Streams with many classes or many features, made with numpy: rows of (class, columns, values)."""

import numpy as np


def dense(classes=200, features=20, rows=5000, seed=0):
    """Labels drawn from a softmax of linear scores of dense normal rows."""
    rng = np.random.default_rng(seed)
    weights = 1.5 * rng.standard_normal((features, classes))
    x = rng.standard_normal((rows, features))
    scores = x @ weights + rng.gumbel(size=(rows, classes))
    columns = np.arange(features)
    for values, label in zip(x, scores.argmax(1)):
        yield label, columns, values


def texts(classes=1000, features=100_000, stored=30, rows=20_000, seed=0):
    """Rows like short texts: half of their words are of a vocabulary of their class, the others any, common words first."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, features, (classes, 40))
    for _ in range(rows):
        label = rng.integers(classes)
        words = rng.choice(own[label], stored // 2, replace=False)
        common = (features ** rng.random(stored - stored // 2)).astype(np.int64) - 1
        columns = np.unique(np.concatenate([words, common]))
        yield label, columns, np.ones(len(columns)) / np.sqrt(stored)


def two(features=1_000_000, stored=50, rows=50_000, seed=0):
    """Two classes of sparse rows: the sign of a sum of weights, with a tenth of the labels flipped; common columns first."""
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal(features)
    for _ in range(rows):
        columns = np.unique((features ** rng.random(stored)).astype(np.int64) - 1)
        label = int(weights[columns].sum() > 0.0)
        yield label ^ int(rng.random() < 0.1), columns, np.ones(len(columns)) / np.sqrt(stored)


def tree(classes, rows, stored=20, seed=0):
    """Classes are leaves of a binary tree: a row has words of every node above its class, and some noise words."""
    rng = np.random.default_rng(seed)
    depth = int(np.ceil(np.log2(classes)))
    order = rng.permutation(classes)
    noise = 1 << 12
    for _ in range(rows):
        leaf = int(rng.integers(classes))
        path = [(1 << level) + (leaf >> (depth - level)) for level in range(1, depth + 1)]
        columns = np.unique(np.concatenate([noise + np.array(path), rng.integers(0, noise, max(stored - depth, 2))]))
        yield order[leaf], columns, np.ones(len(columns)) / np.sqrt(stored)


def flat(classes, rows, stored=10, seed=0):
    """Flat classes: a row has words of its class only, and some noise words."""
    rng = np.random.default_rng(seed)
    noise = 1 << 12
    for _ in range(rows):
        label = int(rng.integers(classes))
        words = noise + 4 * label + rng.choice(4, 3, replace=False)
        columns = np.unique(np.concatenate([words, rng.integers(0, noise, stored - 3)]))
        yield label, columns, np.ones(len(columns)) / np.sqrt(stored)


def write(rows, libsvm=None, vw=None):
    """Writes rows to a file for each program; classes are counted from 0 in one and from 1 in the other."""
    files = [open(path, "w") if path else None for path in (libsvm, vw)]
    for label, columns, values in rows:
        for file, first, offset in zip(files, (f"{label}", f"{label + 1} |"), (1, 0)):
            if file:
                pairs = " ".join(f"{column + offset}:{value:.5g}" for column, value in zip(columns, values))
                file.write(f"{first} {pairs}\n")
    for file in files:
        if file:
            file.close()
