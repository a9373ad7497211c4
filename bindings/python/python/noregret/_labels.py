"""Labels of learners: the conversion between given labels and classes, and importance weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _arrays, _core, _tables, _targets
from ._arrays import Floats, Ints
from ._offers import named
from ._promises import Promising
from ._run import as_array


class Labelled(Promising):
    """Given labels, targets, and importance weights of labels."""

    __slots__ = ("_grows", "_outputs", "_values")
    _values: dict[str, Any] | None
    """The given labels, by their text. None if only their text is known, as in a model file."""
    _grows: bool
    """Whether new labels are added."""
    _outputs: Any
    """The value of `predict` for each class, made at first use."""

    def _labels_out(self) -> Any:
        """The returned value for each class; None if it is the index."""
        outputs = self._outputs
        if outputs is None:
            with self._first:
                names, values = self._core.labels, self._values
                if values is not None:
                    outputs = as_array([values.get(name, name) for name in names])
                else:
                    outputs = () if are_numbers(self._core) and len(names) == self.classes else as_array(names)
                self._outputs = outputs
        return None if isinstance(outputs, tuple) else outputs

    def _targets(self, y: Any) -> Floats | Ints:
        """Targets as indices. Numbers are those of classes where classes have no other names."""
        if self._real:
            return _arrays.targets(y, True, {})
        array = np.asarray(y) if not hasattr(y, "__arrow_c_stream__") or hasattr(y, "__array__") else _arrays.numbers(y, "y")
        by_number = self._labels_out() is None
        if by_number and array.dtype.kind == "O" and not any(isinstance(label, str | bool | np.bool_) for label in array.flat):
            array = y = _arrays.numbers(array, "y")  # Whole numbers and reals, or missing ones.
        if array.ndim != 1 or (array.dtype.kind in "iuf" and by_number):
            return _arrays.targets(y, False, self._names())
        values, places = _arrays.distinct(y)
        values = _targets.known_as(values, (self._values or {}).values())
        _targets.check_types(values, self._values or {})
        names = [_targets.text_of(value) for value in values]
        index = self._names()
        absent = _arrays.absent(names, index)
        there = [name for name in names if name not in absent]
        # Equal numbers are one class in every writing.
        classes = dict(zip(there, _core.classes_of(self._core, there, self._grows), strict=True))
        if any(name not in index for name in there):
            self._remember(values)
        return _arrays.placed([classes.get(name, _arrays.UNLABELLED) for name in names], places)

    def _in_classes(self, y: Any) -> Any:
        """Probability vectors of a table, whose columns are named after the classes, in the order of these."""
        y = _tables.whole(y)
        names = None if self._real or _tables.is_series(y) else _tables.column_names(y)
        if names is None or len(names) < 2:
            return y
        places = [str(at) for at in range(len(names))]
        if self._held is not None:
            labels = self._core.labels
        else:
            labels = self._asked["facts"]["labels"] or places[: self._asked["facts"]["classes"]]
            if labels == places and names != places and self._values is None:
                plain = hasattr(y, "iloc") and all(isinstance(name, _tables.LABELS) for name in y.columns)
                self._values = named(y.columns.tolist() if plain else names)
                self._asked["facts"]["labels"] = labels = list(self._values)
        if names == labels:
            return y
        if sorted(names) != sorted(labels):
            raise ValueError(
                f"y has the columns {', '.join(names[:10])}; the classes {', '.join(labels[:10])} were needed (an array has them in this order)"
            )
        given = _tables.table(y).only(labels)
        return np.column_stack([np.asarray(cells) for cells in given.cells])

    def _target(self, y: Any) -> Any:
        if self._real:
            return float(y)
        if y is None:
            raise TypeError("y is None; a label was needed")
        _targets.check_one(y)
        if isinstance(y, list | tuple | np.ndarray) and np.ndim(y) == 1:
            return np.ascontiguousarray(_arrays.numbers(y, "y"), dtype=np.float64)
        if isinstance(y, np.timedelta64):  # An integer of NumPy's, which is no label.
            _targets.text_of(y)
        y = y.item() if isinstance(y, np.str_ | np.integer) else y
        if isinstance(y, int) and 0 <= y < 2**63 and self._labels_out() is None:
            return y
        # A known label is found at once: what arrays need takes longer than many rounds.
        if type(y) in (str, int) and type((self._values or {}).get(str(y))) is type(y):
            known = self._names().get(str(y))
            if known is not None:
                return known
        return int(self._targets(_targets.labels([y]))[0])

    def _importance(self, y: Any) -> float:
        return 1.0 if self._class_weight is None else _targets.weight_of(self._class_weight, y)

    def _check_class_weight(self, labels: Iterable[Any]) -> None:
        """Refuses a weight for what is none of the labels, or warns where labels may still come."""
        known = [name for label in labels for name in _targets.weight_names(label)]
        unknown = [name for name in self._class_weight or {} if name not in known]
        if not unknown:
            return
        told = f"class_weight has a weight for {unknown[0]!r}, which is no label"
        if not self._grows:
            raise ValueError(f"{told}: there are {', '.join(known[:10])}")
        warnings.warn(f"{told} so far: there are {', '.join(self._core.labels[:10])}", stacklevel=5)

    def _weights(self, y: Any, weight: Any) -> Floats | None:
        """Importance weights of rows: the given ones times those of the labels."""
        weights = _arrays.weights(weight)
        if self._class_weight is None:
            return weights
        own = np.array([self._importance(label) for label in _targets.column(y, "y")], dtype=np.float64)
        return own if weights is None else own * weights

    def _remember(self, labels: Iterable[Any]) -> None:
        """Stores the given labels, so that `predict` can return them."""
        # True equals 1, and is another label.
        distinct = {(isinstance(label, bool), label): label for label in (() if self._real else labels) if label is not None}
        new = {_targets.text_of(label): label for label in distinct.values()}
        with self._first:
            self._index = self._outputs = None
            if not self._real:
                self._values = {**new, **(self._values or {})}


def are_numbers(core: _core.Learner | _core.Bandit) -> bool:
    """Whether classes without types are the numbers from 0: those of rows of numbers. In a table without types, such as CSV, a label
    is a text."""
    table = core.roles if isinstance(core, _core.Bandit) else _core.roles(core)
    return not table and core.labels == [str(at) for at in range(len(core.labels))]
