"""Labels on offer with features of their own, as the command line and the service read them."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import is_missing, objects
from ._tables import time_text
from ._targets import text_of

Described = list[tuple[str, float]]
"""Features by name."""


def described(x: Any, what: str) -> Described:
    """The features of `x`: nested dictionaries by their path (`user.age`), lists by position, a text as the category
    `path=text`; missing values (None, NaN, NA) are left out."""
    found: Described = []
    if x is not None:
        x = x.to_dict() if hasattr(x, "to_dict") and hasattr(x, "iloc") and not hasattr(x, "columns") else x
        if not isinstance(x, Mapping) and not _is_list(x):
            raise TypeError(f"{what} is {x!r}; a dictionary of features, or a list of numbers, was needed")
        _flatten("", x, found)
    return found


def on_offer(labels: Any) -> tuple[list[Any], list[tuple[str, Described]]]:
    """The labels on offer as given, and with their names and features: a dictionary of labels and features, labels
    without features, or features without labels, which are called by their places."""
    if hasattr(labels, "iloc") and hasattr(labels, "columns"):
        labels = labels.to_dict("index")  # A row for each label.
    if hasattr(labels, "to_dicts"):
        labels = labels.to_dicts()
    if isinstance(labels, np.ndarray) and labels.ndim == 2:
        labels = list(labels)
    if isinstance(labels, Mapping):
        return names(list(labels)), [(text_of(name), described(own, f"labels[{name!r}]")) for name, own in labels.items()]
    if isinstance(labels, list | tuple) and labels and all(isinstance(own, Mapping) or _is_list(own) for own in labels):
        return list(range(len(labels))), [("", described(own, f"labels[{at}]")) for at, own in enumerate(labels)]
    return (given := names(labels)), [(text_of(name), []) for name in given]


def names(labels: Any) -> list[Any]:
    """The labels of a list."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(f"labels is {labels!r}; a list of labels was needed, or a dictionary of labels and their features")
    labels = labels.to_pylist() if hasattr(labels, "to_pylist") else labels
    given = list(objects(labels)) if isinstance(labels, np.ndarray) else list(labels)
    # A time alone is what it is in an array.
    given = [objects(np.array([name]))[0] if isinstance(name, np.datetime64) else name for name in given]
    for name in given:
        if is_missing(name):
            raise TypeError(f"labels has {name!r}; a text or a number was needed, True, False or a time")
        text_of(name)
    return given


def named(labels: Iterable[Any]) -> dict[str, Any]:
    """Labels by their text."""
    if isinstance(labels, (str, set, frozenset)):
        raise TypeError(f"labels is {labels!r}; a list of labels was needed, whose order is that of the classes")
    if isinstance(labels, Mapping):
        raise TypeError(
            f"labels is {labels!r}; a list of labels was needed, as list(labels): features of labels are given in each round in which they are on offer"
        )
    found: dict[str, Any] = {}
    equal: dict[tuple[bool, Any], Any] = {}
    for label in names(labels):
        name = text_of(label)
        key = (isinstance(label, bool | np.bool_), label)
        same = found.get(name, equal.get(key))
        if same is not None:
            raise ValueError(f"labels has {same!r} and {label!r}; every label needs a name of its own")
        found[name] = equal[key] = label
    return found


def _is_list(x: Any) -> bool:
    return isinstance(x, (list, tuple)) or (isinstance(x, np.ndarray) and x.ndim > 0)


def _flatten(path: str, value: Any, into: Described) -> None:
    if is_missing(value):
        return
    if isinstance(value, datetime.date | np.datetime64) and (features := _core.time_features(path, time_text(value))):
        into.extend(features)
        return
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    if isinstance(value, np.timedelta64):
        value = float(value / np.timedelta64(1, "s"))
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, str):
        into.extend(_core.moment_features(path, value) or [(f"{path}={value}", 1.0)])
    elif isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating, decimal.Decimal)):
        number = float(value)
        if not abs(number) <= _core.LARGEST:
            raise ValueError(f"feature {path!r} is {value}; a number of at most {_core.LARGEST:g} was needed")
        into.append((path, number))
    elif isinstance(value, Mapping):
        for key, member in value.items():
            _flatten(f"{path}.{key}" if path else str(key), member, into)
    elif _is_list(value):
        for at, member in enumerate(value):
            # The order of texts in a list says nothing.
            inner = path if isinstance(member, str) and path else f"{path}.{at}" if path else str(at)
            _flatten(inner, member, into)
    else:
        raise TypeError(f"feature {path!r} is {value!r}; a number, a text, a dictionary or a list was needed")
