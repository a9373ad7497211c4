"""Labels as Python's users give them: in lists, arrays and tables, their texts, and their weights."""

from __future__ import annotations

import collections
import decimal
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _arrays, _core, _frames, _tables


class Cells(list[Any]):
    """The cells of a Series of polars, with its name."""

    def __init__(self, series: Any) -> None:
        super().__init__(series.to_list())
        self.name = series.name


def labels(y: Any) -> Any:
    """Labels, one for each row: also those of a table of one column, of an array of shape (rows, 1), or of an iterator.
    Probability vectors stay as they are.

    Raises ValueError for several labels in a row.
    """
    y = _tables.whole(y)
    if isinstance(y, str):
        return y
    if hasattr(y, "tocsr"):
        y = y.toarray()
    if y is None or not (hasattr(y, "__len__") or hasattr(y, "__arrow_c_stream__")):
        raise TypeError(f"y is {y!r}; labels, one for each row, were needed")
    if isinstance(y, Mapping | set | frozenset):
        raise TypeError(f"y is of type {type(y).__name__}; a list of labels in the order of the rows was needed")
    # Series and arrays of pandas: whole numbers and truth values beside a missing one, of which NumPy makes reals.
    if hasattr(y, "isna") and not hasattr(y, "columns") and not isinstance(y.dtype, np.dtype) and not _frames.is_category(y.dtype):
        return y.astype(object)
    if hasattr(y, "null_count") and hasattr(y, "to_list") and not hasattr(y, "columns"):
        return Cells(y) if y.null_count() else y
    if hasattr(y, "to_pylist") and not hasattr(y, "column_names"):
        y = y.to_pylist()
    if hasattr(y, "__arrow_c_stream__") and not any(hasattr(y, name) for name in ("__array__", "column_names", "get_columns", "iloc")):
        frame = _tables.of_arrow(y)
        return frame.cells[0] if len(frame.cells) == 1 else _vectors(np.column_stack([np.asarray(cells) for cells in frame.cells]))
    if _tables.is_pandas(y) or _tables.is_polars(y) or hasattr(y, "column_names"):
        frame = _tables.table(y)
        if len(frame.names) == 1:
            return labels(y.iloc[:, 0] if _tables.is_pandas(y) else y.get_columns()[0] if _tables.is_polars(y) else y.column(0))
        return _vectors(np.column_stack([np.asarray(cells) for cells in frame.cells]))
    if isinstance(y, np.matrix):
        y = np.asarray(y)  # A column of a matrix is a matrix.
    if isinstance(y, np.ndarray):
        return _vectors(y) if y.ndim == 2 else y
    if isinstance(y, list | tuple) and y and isinstance(y[0], list | tuple | np.ndarray):
        sizes = [np.size(label) for label in y]
        other = next((at for at, size in enumerate(sizes) if size != sizes[0]), None)
        if other is not None:
            raise ValueError(
                f"y has {sizes[0]} labels in its first row and {sizes[other]} in row {other}; one was needed: several labels need a learner each"
            )
        return _vectors(np.asarray(y))
    kinds = {_kind(label) for label in y} if isinstance(y, list | tuple) else set()
    if None in kinds:
        at, no_label = next(((at, label) for at, label in enumerate(y) if isinstance(label, Mapping | set | frozenset)), (0, None))
        if no_label is not None:
            raise TypeError(f"y[{at}] is {no_label!r}; a label, or a list of the probabilities of the classes in their order, was needed")
    if kinds == {str}:
        # NumPy writes other texts for members of an enumeration.
        y = [str.__str__(label) for label in y]
    if len(kinds) > 1 or (kinds == {str} and any(label.endswith("\0") for label in y)) or (kinds == {int} and max(y) >= 2**63):
        # NumPy would make texts of numbers, numbers of truth values, reals of whole numbers, and cut texts.
        mixed = np.empty(len(y), dtype=object)
        mixed[:] = y
        return mixed
    return y


def check_one(y: Any) -> None:
    """Refuses what is neither a label nor the probabilities of the classes."""
    several = isinstance(y, list | tuple | np.ndarray) and np.ndim(y) == 1 and any(isinstance(part, str | bytes) for part in y)
    if several or isinstance(y, Mapping):
        raise TypeError(f"y is {y!r}; a label, or a list of the probabilities of the classes in their order, was needed")


def _kind(label: Any) -> Any:
    """The kind of a label among those that NumPy does not keep apart."""
    kinds = ((str, str), (bool | np.bool_, bool), (int | np.integer, int), (float | np.floating, float))
    if isinstance(label, np.timedelta64):  # An integer of NumPy's.
        return None
    return next((kind for types, kind in kinds if isinstance(label, types)), None)


def _vectors(y: Any) -> Any:
    if y.ndim == 1:
        return y
    if y.ndim == 2 and y.shape[1] == 1:
        return y[:, 0]
    if y.dtype.kind not in "fiub":
        raise ValueError(
            f"y has {y.shape[1]} labels in a row, {y[0].tolist()} in the first; one was needed: several labels need a learner each"
        )
    return y


def column(y: Any, name: str) -> list[Any]:
    """The cells of a column of labels, as they were given; None where one is missing."""
    if getattr(getattr(y, "dtype", None), "kind", "") in ("M", "m"):
        y = _arrays.objects(np.asarray(y))
    given = y.to_pylist() if hasattr(y, "to_pylist") else y.tolist() if hasattr(y, "tolist") else list(y)
    labels = [None if _arrays.is_missing(label) else _object(label) for label in given]
    for at, label in enumerate(labels):
        if isinstance(label, float) and math.isinf(label):
            raise ValueError(f"column {name!r}, row {at}: {label}; a finite number was needed")
        if isinstance(label, Mapping | list | set | bytes | np.ndarray):
            raise TypeError(f"column {name!r}, row {at}: {label!r} is no label; a text, a number, a truth value or a time was needed")
    return labels


def amounts(targets: list[Any]) -> list[Any]:
    """Numbers to be forecast; None where one is missing."""
    found = [int(target) if isinstance(target, bool) else target for target in targets]
    for at, target in enumerate(found):
        if isinstance(target, str):
            if _core.missing_labels([target], [], []):
                continue
            try:
                float(target)
            except ValueError:
                raise ValueError(f"y[{at}] is {target!r}; a number to forecast was needed") from None
        elif not (target is None or isinstance(target, int | float | decimal.Decimal)):
            raise TypeError(f"y[{at}] is {target!r}; a number to forecast was needed")
    return found


def _object(value: Any) -> Any:
    """A scalar of NumPy, or an array without axes, as the object of Python; a time with nanoseconds has none."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.datetime64 | np.timedelta64):
        return _arrays.objects(np.array([value]))[0]
    return value.item() if isinstance(value, np.generic) else value


def text_of(value: Any) -> str:
    """The text of a label.

    Raises TypeError for an object that a model file does not keep, and which would be a text when it comes back.
    """
    if isinstance(value, bytes):
        raise TypeError(f"the label {value!r} is of bytes; a text was needed, which .decode() makes of it")
    if isinstance(value, str):
        return str.__str__(value)
    if value is not None and (not isinstance(value, _tables.LABELS) or isinstance(value, np.timedelta64)):
        raise TypeError(f"the label {value!r} is of a type that a model file does not keep; str(label) makes a text of it")
    return "" if value is None else str(value)


def number_of(label: Any) -> Any:
    """A decimal number as the integer or real number that it equals, if there is one; anything else as it is."""
    if not isinstance(label, decimal.Decimal):
        return label
    number = int(label) if label == label // 1 and "." not in str(label) and "E" not in str(label) else float(label)
    return number if decimal.Decimal(str(number)) == label else label


def class_weights(given: Mapping[Any, float] | None) -> dict[str, float] | None:
    """Importance weights by the first names of labels."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"class_weight is {given!r}; a dictionary of labels and weights was needed")
    wrong = next((label for label, weight in (given or {}).items() if not isinstance(weight, int | float | np.number)), None)
    if given is not None and wrong is not None:
        raise TypeError(f"class_weight[{wrong!r}] = {given[wrong]!r}: must be a number")
    wrong = next((label for label, weight in (given or {}).items() if not 0 <= weight <= _core.LARGEST_WEIGHT), None)
    if given is not None and wrong is not None:
        raise ValueError(f"class_weight[{wrong!r}] = {given[wrong]!r}: must be from 0 to {_core.LARGEST_WEIGHT:g}")
    return None if given is None else {weight_names(label)[0]: float(weight) for label, weight in given.items()}


def weight_names(label: Any) -> list[str]:
    """What a label may be called, among weights and beside texts: equal numbers are one label in every writing."""
    text = text_of(label)
    number = isinstance(label, float | np.floating | decimal.Decimal) and label == label // 1
    return [str(int(label)), text] if number else [text]


def has_weight(weights: Mapping[str, float], label: Any) -> bool:
    """Whether a label has a weight of its own."""
    return any(name in weights for name in weight_names(label))


def weight_of(weights: Mapping[str, float], label: Any) -> float:
    """The weight of a label, 1 if it has none."""
    return next((weights[name] for name in weight_names(label) if name in weights), 1.0)


def known_as(labels: Iterable[Any], known: Iterable[Any]) -> list[Any]:
    """The labels, each as the known one that it equals: 1.0 is 1 also beside texts. True equals 1, and is another label."""
    own = {(isinstance(label, bool | np.bool_), label): label for label in known}
    return [own.get((isinstance(label, bool | np.bool_), label), label) for label in labels]


def names_as(labels: Iterable[Any], known: Mapping[str, Any]) -> list[str]:
    """The texts of labels: that of the known one, by its text, where one is equal."""
    own = {(isinstance(label, bool | np.bool_), label): text for text, label in known.items()}
    return [own.get((isinstance(label, bool | np.bool_), label)) or text_of(label) for label in labels]


def check_types(labels: Iterable[Any], known: Mapping[str, Any]) -> None:
    """Refuses a text beside a number of the same writing, among distinct labels and the `known` ones by their text. 1.0 is written as 1,
    too."""
    given = [(text, label) for label in labels for text in weight_names(label)]
    _core.check_types([(text, known[text]) for text, _ in given if text in known] + given)


def need_classes(
    labels: Collection[Any], labelled: int, facts: Mapping[str, Any], told: Mapping[str, Sequence[str]], more: bool = False
) -> None:
    """Refuses first rows that tell no class, and a real-valued target: distinct labels, which so many rows have. `told` has the words that
    were said to count as missing or not; with `more` there are other labels than those of the rows."""
    if facts["labels"] is not None or facts["classes"] is not None:
        return
    if not labels:
        raise ValueError("y has missing labels only; at least 2 classes were needed (or classes=K)")
    _core.check_classes(_with_texts(labels), labelled)
    texts = {text_of(label) for label in labels if label is not None}
    words = _arrays.absent(sorted(texts), (), told["missing"], told["not_missing"])
    # An empty label is missing, whatever is said.
    said, unsaid = sorted(words.intersection(told["missing"])), sorted(words.difference(told["missing"], [""]))
    if (said or unsaid) and len(texts - words) < 2 and not more:
        only = "".join(f'every label is "{text}"' for text in texts - words) or "y has missing labels only"
        why = f"labels that count as missing are classes with not_missing={unsaid}" if unsaid else f"missing={said} leaves out the others"
        raise ValueError(f"{only}; at least 2 classes were needed (or classes=K): {why}")


def remarks(labels: Iterable[Any], labelled: int) -> list[str]:
    """Remarks on distinct labels, which so many rows have."""
    return _core.label_remarks(_with_texts(labels), labelled)


def _with_texts(labels: Iterable[Any]) -> list[tuple[str, Any]]:
    return [(text_of(label), label) for label in labels if label is not None]


def unlabelled(labels: Any, truth: Any, weights: Any = None) -> list[str]:
    """Remarks on labels that are words for missing ones, where the rows have the classes `truth`. Rows of weight 0 have none, whatever
    their label is."""
    absent = np.flatnonzero((np.asarray(truth) < 0) & (weights is None or np.asarray(weights) != 0)).tolist()
    counts = collections.Counter(label for label in map(np.asarray(labels, dtype=object).__getitem__, absent) if isinstance(label, str) and label)
    return [
        f"the label {label!r} counts as missing in {rows} row{'s' * (rows > 1)}: predicted, and not learnt; not_missing=[{label!r}] makes it a class"
        for label, rows in counts.items()
    ]
