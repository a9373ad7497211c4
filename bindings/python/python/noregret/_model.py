"""Common part of `Learner` and `Bandit`: properties, copies and pickles."""

from __future__ import annotations

import datetime
import json
import threading
import warnings
from collections.abc import Iterable
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from . import _core, _tables, _targets

_C = TypeVar("_C", _core.Learner, _core.Bandit)
_M = TypeVar("_M", bound="Model[Any]")


class Model(Generic[_C]):
    """A learner of the compiled part."""

    __slots__ = ("_asked", "_first", "_frame", "_held", "_index")
    _compiled: type[_C]
    _registered: ClassVar[str | None] = None
    """The name in the registry of a class of its own."""
    _kept: ClassVar[tuple[str, ...]]
    """What copies and pickles have beside the compiled part, in the order of pickles."""
    _held: _C | None
    """None until the first rows determine the learner."""
    _index: dict[str, int] | None
    """Classes by name, made at first use."""
    _asked: dict[str, Any]
    """The arguments, until the first rows determine the learner."""
    _frame: list[str] | None
    """The names of the columns of the first table whose columns count by their places."""
    _first: threading.RLock
    """Of several threads one makes the learner by its first rows, or takes in new labels, and the others wait."""

    def __new__(cls: type[_M], *_: Any, **__: Any) -> _M:
        model = super().__new__(cls)
        model._first = threading.RLock()
        return model

    @property
    def _core(self) -> _C:
        if self._held is None:
            raise RuntimeError(
                "the learner is made by its first rows, and there were none yet (features= and classes= make it at once)"
            )
        return self._held

    @classmethod
    def _parts(cls, given: Iterable[Any]) -> list[Any]:
        """What is merged, as a list."""
        parts = list(given)
        for part in parts:
            if getattr(part, "_compiled", None) is not cls._compiled:
                raise TypeError(f"{part!r} cannot be merged: a {cls.__name__} was needed, as {cls.__name__}.load(path) reads it")
        return parts

    @property
    def name(self) -> str:
        """The name in the registry."""
        return str(self._asked["facts"]["name"]) if self._held is None else self._held.name

    @property
    def classes(self) -> int:
        """Number of classes; 1 for a real-valued target."""
        return self._core.classes

    @property
    def features(self) -> int:
        """Number of columns, without the intercept."""
        return self._core.features

    @property
    def rounds(self) -> int:
        """Rounds learnt so far."""
        return self._core.rounds

    @property
    def params(self) -> dict[str, float | int | str | bool]:
        """The parameters in use: the given ones, and the theorem's values for the others."""
        return self._core.params

    @property
    def labels(self) -> list[str]:
        """Names of the classes in order; empty for a real-valued target."""
        return self._core.labels

    @property
    def columns(self) -> list[str]:
        """Names of the features in order: numeric columns, and features of other columns, such as `colour=red`."""
        return self._core.columns

    def _names(self) -> dict[str, int]:
        index = self._index
        if index is None:
            with self._first:
                self._index = index = {name: at for at, name in enumerate(self._core.labels)}
        return index

    def _as_row(self, x: Any, by_name: bool) -> Any:
        """A Series of pandas that is a row, whose cells are called or counted as the columns are; anything else as it is."""
        if self._held is None or not hasattr(x, "iloc") or hasattr(x, "columns"):
            return x
        if by_name:
            row = _tables.by_index(x)
            named = row if isinstance(row, dict) else dict(zip(map(str, range(len(row))), row, strict=True))
            roles = _tables.roles_of(self._core)
            known = [name for name, role in roles.items() if role not in ("label", "weight", "drop")]
            return named if (set(known) <= named.keys() if roles else named is row) else x
        if len(x) == self.features and (self.features > 1 or _tables.is_series(x)):
            self._in_order(x)
            return x.to_numpy()
        return x

    def _in_order(self, x: Any) -> None:
        """Refuses a table whose columns have other places than in an earlier one, of a learner that knows columns by their places."""
        names = _tables.column_names(x)
        if names is None:
            return
        places = [str(at) for at in range(len(names))]
        if self._frame is None or (self._frame == places and not set(names) & set(places)):
            self._frame = names  # The first one with names of its own.
        if names != self._frame and names != places and len(names) == len(self._frame):
            raise ValueError(
                f"x has the columns {', '.join(names[:10])}; they were needed in the order of the first table, {', '.join(self._frame[:10])}, "
                "since the learner knows columns by their places (without features= a first table makes one that knows them by name)"
            )

    def _tell(self, given: dict[str, Any] | None) -> None:
        """States the types of the given labels, by their text, and the order of columns, for a model file."""
        self._core.place(self._frame)
        kinds = (str, int, float, np.bool_, np.integer, np.floating, datetime.date)
        given = given or {}
        numbered = [(label, text) for text, label in given.items() if _targets.text_of(label) != text]
        if numbered:
            told = ", ".join(f"{_targets.text_of(label)!r} is {text}" for label, text in numbered[:10])
            warnings.warn(f"rows that came one by one have numbered labels and columns in a file: {told}", stacklevel=3)
            return
        kept = {text: _targets.number_of(label) for text, label in given.items()}
        self._core.state([(text, label) for text, label in kept.items() if isinstance(label, kinds)])
        other = next((text for text, label in given.items() if not isinstance(label, kinds)), None)
        if other is not None:
            what = f"the number {kept[other]!r}" if isinstance(kept[other], kinds) else "a text"
            warnings.warn(f"the label {given[other]!r} is saved as {what}: a file keeps texts, numbers, truth values and times", stacklevel=3)

    @classmethod
    def _wrap(cls: type[_M], core: Any) -> _M:
        if core is not None and cls._registered not in (None, core.name):
            raise ValueError(f"{cls.__name__}: the model is one of {core.name}, and not of {cls._registered}; {cls._compiled.__name__} takes all")
        model = cls.__new__(cls)
        model._held = core
        model._index = None
        model._frame = None if core is None else core.places
        return model

    def _placed(self: _M, *others: Model[Any]) -> _M:
        """The same, with the columns of `others` in their places."""
        frames = [other._frame for other in others if other._frame is not None]
        named = [frame for frame in frames if frame != [str(at) for at in range(len(frame))]] or frames
        for frame in named:
            if frame != named[0]:
                raise ValueError(
                    f"the parts have learnt the columns {', '.join(named[0][:10])} and {', '.join(frame[:10])}; one order was needed, since learners with "
                    "features= know columns by their places"
                )
        self._frame = named[0] if named else None
        return self

    def copy(self: _M) -> _M:
        """An independent copy, with pending decisions if there are any."""
        model = self._wrap(None if self._held is None else self._held.copy())
        for name in self._kept:
            setattr(model, name, getattr(self, name))
        return model

    def __copy__(self: _M) -> _M:
        return self.copy()

    def __deepcopy__(self: _M, memo: dict[int, Any]) -> _M:
        return self.copy()

    def __getstate__(self) -> Any:
        return None if self._held is None else self._held.to_bytes(), *(getattr(self, name) for name in self._kept)

    def __setstate__(self, state: Any) -> None:
        held, *kept = state
        self._held = None if held is None else self._compiled.from_bytes(held)
        self._index = None
        for name, value in zip(self._kept, kept, strict=True):
            setattr(self, name, value)

    def _repr_html_(self) -> str:
        facts = [("rounds", self.rounds), ("classes", self.classes), ("features", self.features)]
        tiles = [[name, str(value), ""] for name, value in facts]
        parameters = [(name, str(value)) for name, value in self.params.items()]
        parts = [{"tiles": tiles}, {"heading": "Parameters"}, {"list": parameters}]
        return _core.page(self.name, type(self).__name__, json.dumps(parts), "{}", True)

    def __repr__(self) -> str:
        # A learner by its name says which it is; a class of its own does.
        kind = f"{self.name!r}, " if "_compiled" in vars(type(self)) else ""
        size = "no rows yet" if self._held is None else f"classes={self.classes}, features={self.features}, rounds={self.rounds}"
        return f"{type(self).__name__}({kind}{size})"
