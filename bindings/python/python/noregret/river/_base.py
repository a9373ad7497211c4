"""Common part of the classifiers for River."""

from __future__ import annotations

import collections
import datetime
import math
import operator
import threading
from collections.abc import Collection, Sequence
from typing import Any, ClassVar

import numpy as np
from river import base

from .. import _arrays, _core, _tables, _targets, _written
from .._kinds import KINDS, caution, classifier, number, truth, unless_none, whole
from .._learner import Learner
from . import _frames


class _Lock:
    """A lock, of which every copy of a classifier has its own."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held = threading.RLock()

    def __reduce__(self) -> Any:
        return _Lock, ()


class Classifier(base.MiniBatchClassifier):
    """Methods and common parameters of the classifiers; subclasses document them."""

    _learner_name: ClassVar[str]
    _own: ClassVar[tuple[str, ...]]
    _nested: ClassVar[str | None] = None
    """The parameter that names a nested learner, if any."""
    _reach: ClassVar[float | None] = None
    """The default of `norm` times `radius`, if it differs from the learner's."""
    _weighs: ClassVar[bool] = False
    """Whether there are weights: subclasses without have no `class_weight`."""

    def __init__(
        self,
        *,
        scale: str = "auto",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        class_weight: dict[Any, float] | None = None,
        missing: Sequence[Any] | None = None,
        not_missing: Sequence[Any] | None = None,
        memory: int = 8192,
        **own: Any,
    ) -> None:
        _tables.reading(missing=missing, not_missing=not_missing)  # Raises.
        unless_none(number, radius=radius)
        truth(intercept=intercept)
        whole(seed=seed, memory=memory)
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        if class_weight is not None and not isinstance(class_weight, dict):
            raise TypeError(f"class_weight = {class_weight!r}: must be a dictionary of classes and weights; rows that come one by one have no balance")
        if self._weighs:
            self.class_weight = class_weight
        self.missing = missing
        self.not_missing = not_missing
        self.memory = memory
        inside = {name: own.pop(name) for name in list(own) if name not in self._own}
        self.__dict__.update({**dict.fromkeys(self._own), **own})
        if self._nested is not None:
            # River finds parameters that stand in no signature under the name that stands for them there.
            self.nested = inside
        # Columns and classes grow with the learner.
        self._lock = _Lock()
        # Nothing is known yet: neither features nor classes.
        self._core: _core.Learner | None = None
        self._table: Learner | None = None
        self._columns: dict[Any, int] = {}
        binary = KINDS[self._learner_name]["classes"] == "two"
        self._classes: dict[Any, int] = {False: 0, True: 1} if binary else {}

    @property
    def _multiclass(self) -> bool:
        return bool(KINDS[self._learner_name]["classes"] != "two")

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learns a row.

        New features and classes are added as if they had always existed; features that are not there count as 0 (before scaling).
        A text is the category `name=text`, a date or time has the features that it has in a table, None (NaN, NA) is a missing
        value: a known number far from 0 is its mean so far, and after 20 numbers the feature `name:missing` says that it is missing.
        Keys of nested dictionaries are named by path, `user.age`, and each text in a list is a category.

        Parameters
        ----------
        x
            Numbers and texts by name.
        y
            The class, any hashable; True or False for learners of two classes. A missing one (None, NaN, NA, or a word for one such
            as "NA") is not learnt.

        Raises
        ------
        ValueError, TypeError
            For NaN, infinity and values that are neither number nor text, or a third class of a learner of two.
        """
        self._learn_one(x, y, 1.0)

    def _learn_one(self, x: dict[Any, Any], y: Any, w: float) -> None:
        with self._lock.held:
            if self._is_missing(_one_label(y)):
                return
            if self._table is not None:
                self._learn_table([self._whole(x)], [y], None if w == 1.0 else [w])
                return
            x = self._flat(x)
            core, label = self._prepared(y, x)
            _core.learn_mapping(core, self._columns, self._marked(core, x, begins=True), label, w)
            self._classes.setdefault(y, label)

    def _marked(self, core: _core.Learner, x: dict[Any, Any], begins: bool) -> dict[Any, Any]:
        """The row with a feature `name:missing` of value 1 for each known feature whose number it lacks, if that has one. With `begins`,
        one begins where the mean of enough others stands for the number."""
        values = x.values()
        # Two loops in C: this is done for every row.
        if None not in values and all(map(operator.eq, values, values)):
            return x
        holes = [name for name, value in x.items() if name in self._columns and _arrays.is_missing(value)]
        marks = {name: f"{name}:missing" for name in holes}
        told = (mark for name, mark in marks.items() if mark in self._columns or (begins and core.lacks(self._columns[name])))
        return {**dict.fromkeys(told, 1.0), **x}

    def _is_missing(self, y: Any) -> bool:
        """Whether a label is missing: there is none, or it is a word for that and no class so far. A mark such as `?` is a class where
        another one has neither a letter nor a digit."""
        if _arrays.is_missing(y):
            return True
        if y in self._classes or not isinstance(y, _tables.LABELS):
            return False
        words = ([str(word) for word in given or ()] for given in (self.missing, self.not_missing))
        # Two more, since others may follow.
        return bool(_arrays.absent([str(y)], ["a", "b", *map(str, self._classes)], *words))

    def _whole(self, x: Any) -> dict[Any, Any]:
        """A row of the table: what it lacks is missing."""
        names = self._table.feature_names_in_ if self._table is not None and self._table._held is not None else []
        nested = tuple(f"{name}{mark}" for name, value in x.items() if isinstance(value, _NESTED) for mark in ".[")
        return {**dict.fromkeys(name for name in names if not (nested and name.startswith(nested))), **x}

    def _flat(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """A row of numbers and texts, in which None is missing."""
        said = {str(word) for word in self.missing or ()}
        x = _flat(x, said)
        if said:
            numbers = {number for number in map(_number, said) if number is not None}
            x = {name: None if (value.strip() in said if isinstance(value, str) else value in numbers) else value for name, value in x.items()}
        return x

    def _learn_table(self, x: Any, y: Any, w: Any) -> None:
        """Learns the rows of a table in order, as the command line does."""
        if self._table is None:
            first = [label for label in _arrays.distinct(_targets.labels(y))[0] if not self._is_missing(label)]
            if not first:
                return
            self._table = Learner(
                self._learner_name,
                # More classes may come; binary learners have two.
                classes=2 if len(first) == 1 else None,
                radius=self.radius,
                seed=self.seed,
                scale=None if self.scale == "auto" else self.scale,
                intercept=self.intercept,
                missing=self.missing or (),
                not_missing=self.not_missing or (),
                memory=self.memory,
                **self._parameters(),
            )
            self._table._asked["reach"] = self._reach
        self._table.update(x, y, w)
        self._core = self._table._core
        outputs = self._table._labels_out()
        labels = range(self._table.classes) if outputs is None else outputs.tolist()
        self._classes = {label: at for at, label in enumerate(labels)}

    def _prepared(self, y: Any, x: dict[Any, Any]) -> tuple[_core.Learner, int]:
        """The learner, and the index of class `y`."""
        label = self._classes.get(y)
        self._tell_apart([y])
        if label is None:
            if not self._multiclass:
                raise ValueError(f"y = {y!r}: must be True or False: {self._learner_name} is binary")
            if isinstance(y, float | np.floating) and math.isinf(y):
                raise ValueError(f"y = {y!r}: a finite number was needed")
            # Others come back from a pickle as they were given.
            _targets.check_types([known for known in (*self._classes, y) if isinstance(known, _tables.LABELS)], {})
            label = len(self._classes)
        if self._core is None:
            columns = sum(not _arrays.is_missing(value) for value in x.values())
            self._core = classifier(
                self._learner_name,
                2,
                max(columns, 1),
                self._parameters(),
                self._reach,
                radius=self._radius(columns),
                seed=self.seed,
                sparse=True,
                scale=self._suitable(x),
                intercept=self.intercept,
                memory=self.memory,
            )
            if self._reach is None:
                caution(self._learner_name, self._parameters(), 3)
        return self._core, label

    def _tell_apart(self, labels: Any) -> None:
        """Refuses True beside 1, and False beside 0: equal keys of the dictionaries of probabilities."""
        if not self._multiclass:
            return
        truths = (bool, np.bool_)
        few = {(isinstance(label, truths), label) for label in labels if isinstance(label, (int, float, np.number, *truths)) and label in (0, 1)}
        for truth, label in sorted(few):
            for known in (*self._classes, *(other for _, other in few)):
                if known == label and isinstance(known, truths) != truth:
                    raise ValueError(f"the label {label!r} equals the class {known!r}, and River tells classes apart by that; write both as texts")

    def _parameters(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in self._own}, **getattr(self, "nested", {})}

    def _suitable(self, x: dict[Any, Any]) -> str:
        """The scaling for rows like the first one: by row for word counts, otherwise by column."""
        if self.scale != "auto":
            return self.scale
        return "unit" if isinstance(x, collections.Counter) else "standard"

    def _radius(self, columns: int) -> float | None:
        """The radius without scaling, for values of magnitude about 1."""
        if self.radius is None and self.scale == "none":
            return math.sqrt(max(columns + self.intercept, 1))
        return self.radius

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Probabilities of the classes so far, with sum 1, for the row that comes next. Unknown features are ignored.

        Columns are scaled by the rows so far and this one, as in `learn_one` and by `noregret run`.

        Parameters
        ----------
        x
            Numbers and texts by name.
        """
        with self._lock.held:
            if self._core is None:
                return dict.fromkeys(self._classes, 0.5)
            if self._table is not None:
                table = _written.as_known(_tables.table([self._whole(x)]), self._core)
                found, misfits = _core.predict_table(self._core, table.given(), False)
                _tables.tell(misfits, 2)
                return self._named(found[0].tolist())
            x = self._marked(self._core, self._flat(x), begins=False)
            return self._named(_core.predict_mapping(self._core, self._columns, x, False))

    def _named(self, probabilities: list[float]) -> dict[Any, float]:
        named = dict(zip(self._classes, probabilities, strict=False))
        if len(named) < len(probabilities):
            # A reserved class.
            total = sum(named.values())
            named = {label: p / total if total > 0 else 1 / len(named) for label, p in named.items()}
        return named

    def learn_many(self, X: Any, y: Any) -> None:
        """Learns the rows of a frame of pandas or polars, or of a table of Arrow, in order: the same as `learn_one` for each.

        A table with texts, categories, times or missing values is read like the same CSV file by `noregret run`; the
        roles of columns are determined by the first table.

        Parameters
        ----------
        X
            A column for each feature.
        y
            The classes.
        """
        _tables.check_index(X, of="X", y=y)
        with self._lock.held:
            self._learn_many(_frames.taken(X), y, 1.0)

    def _learn_many(self, X: Any, y: Any, w: Any) -> None:
        names, y = list(X.columns), list(y if isinstance(y, list | tuple) else _targets.labels(y))
        twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if twice is not None:
            raise ValueError(f"column {twice!r} appears twice; columns are told apart by their names")
        if len(y) != len(X):
            raise ValueError(f"y has {len(y)} labels for {len(X)} rows")
        mixed = self._core is None and (bool(self.missing) or not _tables.has_only_numbers(X))
        if self._table is not None or mixed:
            self._tell_apart(y)
            self._learn_table(X, y, None if np.ndim(w) == 0 and w == 1.0 else np.broadcast_to(w, len(X)))
            return
        weights = np.broadcast_to(np.asarray(w, dtype=np.float64), len(X))
        before = (None if self._core is None else self._core.copy(), dict(self._columns), dict(self._classes))
        try:
            for at, (row, label, weight) in enumerate(zip(X.itertuples(index=False, name=None), y, weights, strict=True)):
                self._learn_one(dict(zip(names, row, strict=True)), label, float(weight))
        except (ValueError, TypeError) as why:
            self._core, self._columns, self._classes = before
            why.add_note(f"This is row {at}; no row of the table was learnt.")
            raise

    def predict_proba_many(self, X: Any) -> Any:
        """Probabilities of the classes: a frame of the library of `X`, with its index, and a column for each class so far."""
        with self._lock.held:
            return _frames.given_back(self._proba_many(_frames.taken(X)), X)

    def predict_many(self, X: Any) -> Any:
        """The most probable class of each row: a Series of the library of `X`, with its index."""
        with self._lock.held:
            found = self._proba_many(_frames.taken(X))
        return _frames.given_back(found if found.empty else found.idxmax(axis="columns"), X)

    def _proba_many(self, X: Any) -> Any:
        import pandas

        names = list(X.columns)
        if self._table is not None:
            probabilities, misfits = _core.predict_table(self._table._core, _written.as_known(_tables.table(X), self._table._core).given(), False)
            _tables.tell(misfits, 3)
            return pandas.DataFrame(probabilities[:, : len(self._classes)], index=X.index, columns=list(self._classes))
        rows = [
            self.predict_proba_one(dict(zip(names, row, strict=True)))
            for row in X.itertuples(index=False, name=None)
        ]
        return pandas.DataFrame(rows, index=X.index, columns=list(self._classes), dtype=np.float64)

    @property
    def learner(self) -> Any:
        """The underlying learner, for saving, merging or certifying; None before the first row. If rows came one by one, its columns have
        numbers, in the order in which features came (new ones of a row by their names), and a file has numbers for labels, too. A first
        `learn_many` with texts or missing values makes a learner that knows names."""
        weights = _targets.class_weights(getattr(self, "class_weight", None))
        if self._table is not None or self._core is None:
            if self._table is None or not weights:
                return self._table
            # `learn_many` goes on with the table, and tells it the weights of rows.
            learner = Learner._wrap(self._table._core)._like([self._table])
            learner._class_weight = weights
            return learner
        learner = Learner._wrap(self._core)
        learner._class_weight = weights
        learner._values, learner._grows = {str(at): label for label, at in self._classes.items()}, False
        return learner


_NESTED = (dict, list, tuple, set, frozenset, np.ndarray)
_SPECIAL = (dict, list, tuple, set, frozenset, np.ndarray, datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _flat(x: dict[Any, Any], said: Collection[str] = ()) -> dict[Any, Any]:
    """Flattens a row: numbers and texts in nested lists and dictionaries by path (`user.age`, `size[0]`), each text in a list
    as a category (except for those `said` to be missing), and times as the features that they have in a table."""
    if not isinstance(x, dict):
        if not (hasattr(x, "keys") and hasattr(x, "items")) or hasattr(x, "iloc"):
            raise TypeError(f"x is {x!r}; a dictionary of features by name was needed")
        x = dict(x)
    # Few types instead of many values: this is most of a row's time in Python.
    if not any(issubclass(kind, _SPECIAL) or kind.__name__ == "NAType" for kind in set(map(type, x.values()))):
        return x
    flat: dict[Any, Any] = {}

    def add(path: Any, value: Any) -> None:
        if _arrays.is_missing(value):
            flat[path] = None
            return
        if isinstance(value, datetime.timedelta):
            value = value.total_seconds()
        if isinstance(value, np.timedelta64):
            value = float(value / np.timedelta64(1, "s"))
        if isinstance(value, datetime.date | np.datetime64):
            features: list[tuple[str, Any]] | None = _core.time_features(str(path), _tables.time_text(value))
            flat.update(features or [(path, str(value))])
        elif isinstance(value, dict):
            for name, inside in value.items():
                add(f"{path}.{name}", inside)
        elif isinstance(value, list | tuple | set | frozenset | np.ndarray):
            for at, inside in enumerate(value):
                if isinstance(inside, str):
                    flat.update({f"{path}={inside}": 1.0} if inside.strip() not in said else {})
                else:
                    add(f"{path}[{at}]", inside)
        else:
            flat[path] = value

    for name, value in x.items():
        add(name, value)
    return flat


def _one_label(y: Any) -> Any:
    """The label, unless it is several."""
    if isinstance(y, dict | list | set | np.ndarray):
        raise TypeError(f"y is {y!r}; one label was needed (river.multioutput.ClassifierChain has a classifier for each of several)")
    return y


class WeightedClassifier(Classifier):
    """The same for learners with importance weights."""

    _weighs = True

    def _importance(self, y: Any) -> float:
        return 1.0 if self.class_weight is None else float(self.class_weight.get(_one_label(y), 1.0))

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learns a row.

        New features and classes are added as if they had always existed; features that are not there count as 0 (before scaling).
        A text is the category `name=text`, a date or time has the features that it has in a table, None (NaN, NA) is a missing
        value: a known number far from 0 is its mean so far, and after 20 numbers the feature `name:missing` says that it is missing.
        Keys of nested dictionaries are named by path, `user.age`, and each text in a list is a category.

        Parameters
        ----------
        x
            Numbers and texts by name.
        y
            The class, any hashable; True or False for learners of two classes. A missing one (None, NaN, NA, or a word for one such
            as "NA") is not learnt.
        w
            Importance weight >= 0; rows of weight 0 are not learnt.

        Raises
        ------
        ValueError, TypeError
            For NaN, infinity and values that are neither number nor text, or a third class of a learner of two.
        """
        if not isinstance(w, int | float | np.number):
            raise TypeError(f"w = {w!r}: must be a number")
        self._learn_one(x, y, w * self._importance(y))

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learns the rows of a frame of pandas or polars, or of a table of Arrow, in order: the same as `learn_one` for each.

        Parameters
        ----------
        X
            A column for each feature.
        y
            The classes.
        w
            Importance weights, one for each row or one for all.
        """
        _tables.check_index(X, of="X", y=y, w=w)
        X = _frames.taken(X)
        if self.class_weight is not None:
            w = np.broadcast_to(np.asarray(w, dtype=np.float64), len(X)) * [self._importance(label) for label in y]
        with self._lock.held:
            self._learn_many(X, y, w)
