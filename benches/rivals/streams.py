"""The streams, each as one LIBSVM file and the same rows as VW text, so that every contestant reads the same numbers."""

import gzip
import os
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_digits, load_svmlight_file

from places import NOREGRET, WORK


@dataclass(frozen=True)
class Stream:
    """Rows in the order in which they arrive."""

    name: str
    libsvm: Path

    @cached_property
    def rows(self):
        """Features (CSR, n by d) and labels 0..K-1."""
        features, labels = load_svmlight_file(str(self.libsvm))
        _, labels = np.unique(labels, return_inverse=True)
        return features.tocsr(), labels.astype(np.int64)

    @cached_property
    def classes(self):
        return int(self.rows[1].max()) + 1

    @cached_property
    def vw(self):
        """VW text with labels 1..K."""
        path = self.libsvm.with_suffix(".vw")
        if not path.exists():
            features, labels = self.rows
            with open(part := path.with_suffix(".part"), "w") as out:
                for row, label in enumerate(labels):
                    span = slice(features.indptr[row], features.indptr[row + 1])
                    cells = " ".join(f"{j + 1}:{v:.9g}" for j, v in zip(features.indices[span], features.data[span]))
                    out.write(f"{label + 1} | {cells}\n")
            part.rename(path)
        return path


REAL = {
    "vehicle": "vehicle.scale", "segment": "segment.scale", "shuttle": "shuttle", "letter": "letter.scale",
    "satimage": "satimage.scale", "pendigits": "pendigits", "usps": "usps", "mnist_t10k": "mnist_t10k",
    "electricity": "electricity", "covtype": "covtype.scale01", "kdd99": "kdd99_10pct", "reuters4": "reuters4_sub",
}
MADE = ("digits", "segments", "segments-scaled", "softmax", "covtype-shuffled")
NAMES = ("digits", "segments", "segments-scaled", "softmax", "vehicle", "segment", "satimage", "usps", "pendigits",
         "mnist_t10k", "letter", "reuters4", "electricity", "shuttle", "covtype", "covtype-shuffled", "kdd99")

GENERATED = {
    "random-rbf": "random-rbf --set classes=5 --set drift=0",
    "random-rbf, drift": "random-rbf --set classes=5 --set drift=0.001",
    "hyperplane": "hyperplane --set drift=0.001",
    "sea": "sea",
    "led": "led",
    "led, drift": "led --set drift=3",
    "agrawal": "agrawal --set drift=4",
    "random-tree": "random-tree --set classes=4",
    "random-tree, drift": "random-tree --set classes=4 --set drift=3",
    "waveform": "waveform",
    "waveform, drift": "waveform --set drift=3",
    "stagger": "stagger",
    "chessboard": "chessboard",
    "mixed-drift": "mixed-drift --set drift=10",
    "synnonsep": "synnonsep",
}
"""Streams of `noregret generate`, which no default was chosen with."""
GENERATED_ROWS = int(os.environ.get("NOREGRET_GENERATED_ROWS", 10_000))


def stream(name, data):
    """The stream of that name, or None if its data set is absent."""
    title = f"{name}, {GENERATED_ROWS} rows" if name in GENERATED else name
    path = WORK / "streams" / f"{title}.libsvm"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        if name in GENERATED:
            rows = ["--rows", str(GENERATED_ROWS), "--seed", "1", "--format", "libsvm", "-o", str(part)]
            subprocess.run([NOREGRET, "generate", *GENERATED[name].split(), *rows], check=True)
        elif name in MADE:
            made = MAKE[name](data)
            if made is None:
                return None
            features, labels = made
            dump_svmlight_file(features, labels + 1, str(part), zero_based=False)
        else:
            source = data / f"{REAL[name]}.libsvm.gz"
            if not source.exists():
                return None
            part.write_bytes(gzip.decompress(source.read_bytes()))
        part.rename(path)
    return Stream(title, path)


def head(on, rows):
    """The first rows of a stream, as a stream."""
    path = on.libsvm.with_name(f"{on.name}-{rows}.libsvm")
    if not path.exists():
        with open(on.libsvm) as whole, open(part := path.with_suffix(".part"), "w") as out:
            out.writelines(line for line, _ in zip(whole, range(rows)))
        part.rename(path)
    return Stream(f"{on.name}, first {rows:,} rows", path)


def with_label_before(on):
    """The stream with a further column for each label, 1 for the label of the row before: what learners that remember nothing are told."""
    path = on.libsvm.with_name(f"{on.libsvm.stem}, label before.libsvm")
    if not path.exists():
        features, labels = on.rows
        told = [""] + [f" {features.shape[1] + label + 1}:1" for label in labels.tolist()]
        with open(on.libsvm) as rows, open(part := path.with_suffix(".part"), "w") as out:
            lines = (line.rstrip() for line in rows if line.strip() and not line.startswith("#"))
            out.writelines(f"{line}{before}\n" for line, before in zip(lines, told))
        part.rename(path)
    return Stream(f"{on.name}, label before", path)


def digits(_):
    """scikit-learn's digits, permuted."""
    bunch = load_digits()
    order = np.random.default_rng(0).permutation(len(bunch.target))
    return bunch.data[order] / 16.0, bunch.target[order]


def segments(_, scaled=False):
    """River's ImageSegments in its own order."""
    from river import datasets

    rows = list(datasets.ImageSegments())
    names = sorted({label for _, label in rows})
    features = np.array([[float(value) for value in x.values()] for x, _ in rows])
    if scaled:
        deviation = features.std(0)
        features = (features - features.mean(0)) / np.where(deviation > 0, deviation, 1)
    return features, np.array([names.index(label) for _, label in rows])


def softmax(_, rows=100_000, classes=7):
    """A well-specified softmax model: ten correlated Gaussians, two categories one-hot. Bayes log-loss 0.639."""
    rng = np.random.default_rng(0)
    rng.permutation(1797)  # The permutation of the digits was drawn first from the same generator.
    root = np.linalg.cholesky(0.9 ** np.abs(np.subtract.outer(np.arange(10), np.arange(10))))
    gauss = rng.standard_normal((rows, 10)) @ root.T
    few = np.eye(4)[rng.choice(4, rows, p=[0.45, 0.3, 0.2, 0.05])]
    share = 1 / np.arange(1, 41) ** 1.1
    many = np.eye(40)[rng.choice(40, rows, p=share / share.sum())]
    features = np.hstack([gauss, few, many])
    weights = np.vstack([rng.standard_normal((10, classes)) * 1.5, rng.standard_normal((44, classes))])
    scores = features @ weights + np.array([1.0, 1.2, 0, -1.0, -0.5, 0, -0.2])
    p = np.exp(scores - scores.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    labels = (p.cumsum(1) > rng.random((rows, 1))).argmax(1)
    return sp.csr_matrix(features), labels


def covtype_shuffled(data):
    whole = stream("covtype", data)
    if whole is None:
        return None
    features, labels = whole.rows
    order = np.random.default_rng(0).permutation(len(labels))
    return features[order], labels[order]


MAKE = {
    "digits": digits,
    "segments": segments,
    "segments-scaled": lambda data: segments(data, scaled=True),
    "softmax": softmax,
    "covtype-shuffled": covtype_shuffled,
}
