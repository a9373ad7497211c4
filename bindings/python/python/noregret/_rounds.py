"""The rows of a bandit: numbers, those of a table, or features by name; and the bandit that the first rows determine."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from . import _arrays, _core, _offers, _tables, _targets, _written
from ._arrays import Floats, Ints, Rows
from ._kinds import caution
from ._labels import are_numbers
from ._model import Model
from ._run import as_array

_R = TypeVar("_R", bound="Rounds")

ROOM = 64
"""Columns of a bandit for features by name, as in the service, unless `features` says otherwise."""


class Rounds(Model[_core.Bandit]):
    """Rows and labels of a bandit."""

    __slots__ = ("_given",)
    _kept = ("_given", "_asked", "_frame")
    _given: dict[str, Any]
    """The labels as they were given, by their text; empty where only their text is known."""

    @property
    def roles(self) -> dict[str, str]:
        """The roles of the table's columns, by name; empty for rows of numbers and for features by name."""
        return dict(self._core.roles)

    # Making

    def _start(self, x: Any, offered: Any) -> None:
        """Makes the bandit for a first row, which is decided: its numbers have places, other features have names."""
        with self._first:
            if self._held is not None:
                return  # Another thread has made it.
            if said := _tables.said(self._asked["roles"]):
                raise TypeError(f"{', '.join(said)}: for tables only; the first rows must be one, learnt or run before rows are decided")
            facts, params = dict(self._asked["facts"]), self._asked["params"]
            if facts["labels"] is None and facts["classes"] is None:
                if offered is None:
                    raise TypeError("labels: the labels that may be played must be given, labels=[...], or classes=K for numbers from 0")
                self._given = _offers.named(offered)
                facts["labels"] = list(self._given)
            numbers = _tables.numbers_of(x)
            columns = ROOM if numbers is None else len(numbers)
            classes = len(facts["labels"]) if facts["classes"] is None else facts["classes"]
            scale, playing = facts.pop("scale") or "auto", self._asked["playing"]
            facts |= {"intercept": facts["intercept"] or columns == 0}
            name = facts.pop("name")
            del facts["classes"]
            self._take(_core.Bandit(name, classes, columns, params, scale=scale, **facts, **playing), params)
            if numbers is None:
                # Its columns have names from the beginning, which a log tells.
                _core.rows_of(self._core, self._named({}), True)

    def _begin(self, x: Any, y: Any, labels: list[str] | None = None) -> list[str]:
        """Makes the bandit for rows `x` of the labels `y`, as `noregret run --feedback bandit` does for a file; returns remarks on the
        columns of a table and on the labels."""
        with self._first:
            if self._held is not None:
                return []  # Another thread has made it.
            notes: list[str] = []
            facts, playing, params = self._asked["facts"], self._asked["playing"], self._asked["params"]
            asked = {**facts, "labels": facts["labels"] or labels, "ahead": False, "bandit": True}
            _one_axis(np.asarray(y))
            values, places = _arrays.distinct(y)
            _targets.check_types(values, self._given)
            names = [_targets.text_of(value) for value in values]
            _targets.need_classes(labels or values, int((places >= 0).sum()), facts, self._asked["roles"], labels is not None)
            x = _tables.texts(_tables.given(_tables.by_name(_tables.whole(x))))
            free = _tables.bare(x) is not None
            if free or self._reads_tables(x):
                table = _tables.Table([], [], []) if free else _tables.table(x)
                target = _tables.free("label", table.names)
                texts = [None if at < 0 else values[at] for at in places.tolist()]
                given, reading = table.given(target, texts), {"label": target, **_tables.roles(self._asked["roles"], table)}
                core, notes = _core.bandit_for_table(asked, playing, params, given, reading)
            else:
                places = _arrays.labelled(places, names, asked["labels"] or ())
                core = _core.bandit_for_array(asked, playing, params, _full(_arrays.rows(x)), places, names)
            self._given = dict(zip(names, values, strict=True)) | self._given
            self._take(core, params)
            return notes + _targets.remarks(values, int((places >= 0).sum()))

    def _take(self, core: _core.Bandit, params: dict[str, Any]) -> None:
        self._held, self._index, self._asked = core, None, {}
        if warning := core.warning():
            warnings.warn(warning, stacklevel=4)
        caution(self.name, params, 4, bandit=True)

    def _reads_tables(self, x: Any) -> bool:
        """Whether first rows are those of a table: they have names, texts or missing numbers."""
        if _tables.said(self._asked["roles"]) or _tables.is_table(x) or _tables.has_texts(x):
            return True
        return _tables.has_holes(x)

    # Rows

    def _of_texts(self, x: Any) -> Any:
        """Texts as rows of the one column that the bandit has; anything else as it is."""
        roles = self._core.roles if self._core.block is None else []
        return _tables.texts(x) if [name for name, role in roles if role != "label"] == ["text"] else x

    def _one(self, x: Any, learns: bool) -> Rows:
        """A row, as rows of the compiled part; with `learns`, new names get columns."""
        if not self._core.named and not isinstance(x, Mapping):
            if x is None:
                x = []
            self._in_order(x)
            return _arrays.row(x)[None, :]
        x = {} if x is None else _tables.single(_tables.by_name(x))
        if not _tables.is_table(x):
            x = self._in_places([x])
            if isinstance(x, np.ndarray):
                return x
        if not _tables.is_row(x) and _tables.table(x).rows != 1:
            raise ValueError(f"x has {_tables.table(x).rows} rows; one was needed")
        return self._read(x, learns, 4)

    def _read(self, x: Any, learns: bool, stacklevel: int, notes: list[str] | None = None) -> Rows:
        """Rows that have names; remarks on them join `notes`. Without such a list, those on cells that do not fit their columns are warned
        of: features that are new may come in every row."""
        rows, (misfits, others) = _core.rows_of(self._core, self._named(x), learns)
        if notes is None:
            _tables.tell(misfits, stacklevel + 1)
        else:
            notes += misfits + others
        return rows

    def _many(self, x: Any, learns: bool, notes: list[str] | None = None) -> Rows:
        """The rows of `x`; with `learns`, new names get columns. Remarks on their cells join `notes`, if there is such a list."""
        x = _tables.given(_tables.by_name(_tables.whole(x)) if self._core.named else x)
        rows = _tables.bare(x)
        if rows is not None:
            columns = self._core.columns
            # Features by name that are not given are 0.
            if columns and not (self._core.named and not self._core.roles):
                raise ValueError(f"x has {rows} rows without columns; the {len(columns)} of the bandit were needed: {', '.join(columns[:10])}")
            return np.zeros((rows, self._core.features))
        x = _tables.texts(x) if self._core.named else x
        _tables.check_names(x, _tables.roles_of(self._core))
        by_name = isinstance(x, Mapping) or (isinstance(x, list | tuple) and bool(x) and isinstance(x[0], Mapping))
        if not self._core.named and not by_name:
            self._in_order(x)
            return _arrays.rows(x)
        if not _tables.is_table(x):
            x = self._in_places(x)
            if isinstance(x, np.ndarray):
                return x
        return self._read(x, learns, 4, notes)

    def _learnt(self, x: Any, notes: list[str] | None = None) -> Rows:
        """The rows of `x`, which are learnt next; warns where the learner is slow for so many."""
        rows = self._many(x, learns=True, notes=notes)
        caution(self.name, self.params, 3, bandit=True, rows=len(rows) if isinstance(rows, np.ndarray) else len(rows[2]) - 1)
        return rows

    def _in_places(self, x: Any) -> Any:
        """Rows of numbers for columns with names: those of the table in their order, or the features in theirs; otherwise they
        are called by their places."""
        cells = np.asarray(x, dtype=None if isinstance(x, np.ndarray) else object)
        if cells.ndim != 2:
            raise ValueError(f"x has {cells.ndim} axes; rows and columns were needed")
        named = [name for name in self._core.columns if not name.isdecimal()] if self._core.named and not self._core.roles else []
        if named:
            raise ValueError(f"x has {cells.shape[1]} numbers without names, and the bandit knows features by name: {', '.join(named[:10])}")
        width, roles = cells.shape[1], dict(self._core.roles)
        given = [role for role in roles.values() if role not in ("label", "weight")]
        if width == self._core.features and width not in (len(given), len(given) - given.count("drop")):
            return np.ascontiguousarray(_arrays.numbers(cells.tolist(), "x"), dtype=np.float64)
        names = _tables.in_places(roles, width, "table") if given else [str(at) for at in range(width)]
        return [dict(zip(names, row, strict=True)) for row in cells.tolist()]

    def _named(self, x: Any) -> _core.Table:
        """Rows for their reader."""
        if isinstance(x, Mapping) and not x:
            return _core.Table.of_lines(b'{"x": {}}\n')
        table = _tables.table(x)
        if self._core.roles:
            return _written.as_known(table, self._core).given()
        if isinstance(x, list | tuple):
            # A feature that a row does not have is 0, and not missing.
            lines = (_tables.table([row]).lines(times=True) if row else b'{"x": {}}\n' for row in x)
            return _core.Table.of_lines(b"".join(lines))
        return _core.Table.of_lines(table.lines(times=True))

    # Labels

    def _classes(self, y: Any) -> Ints:
        """Labels as indices: by what they are called, or numbers of classes where labels have other names."""
        array = np.asarray(y)
        _one_axis(array)
        by_name = any(not isinstance(value, str) for value in self._given.values())
        if array.dtype.kind == "f" and not self._given:
            return np.asarray(_arrays.targets(y, False, self._names()), dtype=np.int64)
        # A column of whole numbers in which one is missing is real.
        whole = array.dtype.kind in "iu" or (array.dtype.kind == "f" and bool((np.isnan(array) | (array == np.rint(array))).all()))
        if whole and not by_name and self._given:
            # A text of digits is what a number would be called, and no place.
            by_name = any(str(int(number)) in self._names() for number in np.unique(array[~np.isnan(array)] if array.dtype.kind == "f" else array).tolist())
        if whole and not by_name:
            return np.asarray(_arrays.targets(y, False, self._names()), dtype=np.int64)
        values, places = _arrays.distinct(y)
        values = _targets.known_as(values, self._given.values())
        _targets.check_types(values, self._given)
        index = self._names()
        names = _targets.names_as(values, self._given)
        absent = _arrays.absent(names, index, *self._core.missing)
        found = [_arrays.UNLABELLED if name in absent else _arrays.name_of(name, index) for name in names]
        return _arrays.placed(found, places)

    def _labels_out(self) -> Any:
        """The label of each class as it was named: by the bandit's `labels`, by the data, or else its number."""
        names = self._core.labels
        if not self._given and names == [str(at) for at in range(len(names))]:
            return np.arange(len(names))
        return as_array([self._given.get(name, name) for name in names])

    # Loading

    @classmethod
    def _wrap(cls: type[_R], core: Any) -> _R:
        bandit = super()._wrap(core)
        bandit._given, bandit._asked = {}, {}
        if core is not None and core.block is None:
            bandit._given = dict(core.given) or ({} if are_numbers(core) else {name: name for name in core.labels})
        return bandit


def _one_axis(y: Any) -> None:
    """Refuses anything but one label for each row."""
    if y.ndim != 1:
        raise ValueError(f"y has {y.ndim} axes; one was needed, with a label for each row: bandits take no probability vectors")


def _full(rows: Rows) -> Rows:
    """Rows that determine a bandit: missing numbers of a wide sparse matrix are 0, like all that is absent."""
    if isinstance(rows, np.ndarray):
        return np.nan_to_num(rows, nan=0.0, posinf=np.inf, neginf=-np.inf) if np.isnan(rows).any() else rows
    values: Floats = rows[0]
    return (np.where(np.isnan(values), 0.0, values), *rows[1:]) if np.isnan(values).any() else rows


def apart(x: Any, name: str) -> tuple[Any, Any]:
    """A table without the column called `name`, and this column, which has the labels."""
    x, name = _tables.by_name(_tables.whole(x)), _tables.trimmed(name)
    columns = _tables.table(x) if _tables.is_table(x) else None
    names = columns.names if columns is not None else []
    if columns is None or name not in names:
        known = f"; the columns are {', '.join(map(repr, names[:10]))}" if names else ""
        raise TypeError(f"y is {name!r}; labels, one for each row, were needed, or the column of a table that has them{known}")
    at = names.index(name)
    if _tables.is_pandas(x):
        return x.drop(columns=[x.columns[at]]), x.iloc[:, at]
    if _tables.is_polars(x):
        return x.drop(x.columns[at]), x[x.columns[at]]
    if hasattr(x, "drop_columns"):
        return x.drop_columns([x.column_names[at]]), x.column(at)
    rest = columns.without(name)
    return dict(zip(rest.names, rest.cells, strict=True)), columns.cells[at]
