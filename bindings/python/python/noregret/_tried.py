# Written by generate.py from the registry. Do not edit.
"""Which learners have classifiers: found by trying every one on far clusters."""

from __future__ import annotations

PRACTICAL: dict[str, float | None] = {
    "auto": None,
    "folklore": None,
    "folklore-diag": None,
    "folklore-sketch": None,
    "folklore-intervals": None,
    "aioli": None,
    "kernel-aioli": None,
    "kernel-aioli-landmarks": None,
    "label-tree": None,
    "gaf": None,
    "ogd": None,
    "ons": 3.0,
    "ons-diag": 3.0,
    "ons-sketch": 3.0,
    "ftrl": None,
    "perceptron": None,
    "second-order-perceptron": None,
    "second-order-perceptron-diag": None,
    "gaptron-logistic": None,
    "gaptron-hinge": None,
    "gaptron-smooth": None,
    "adaboost-olm": None,
}
"""Learners that tell the clusters apart, with the default of `norm` times `radius` where their own is too large."""

STREAMING = [
    "auto",
    "folklore",
    "folklore-diag",
    "folklore-sketch",
    "folklore-intervals",
    "aioli",
    "kernel-aioli",
    "kernel-aioli-landmarks",
    "label-tree",
    "gaf",
    "ogd",
    "ons",
    "ons-diag",
    "ons-sketch",
    "ftrl",
    "perceptron",
    "second-order-perceptron",
    "second-order-perceptron-diag",
    "gaptron-logistic",
    "gaptron-hinge",
    "gaptron-smooth",
]
"""Those that take in new classes and features."""

KEEPING = [
    "kernel-aioli",
    "ftrl",
]
"""Those that keep their rows, so that their memory grows."""
