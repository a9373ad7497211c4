"""Names and types of keys. The files of a store have names of keys, and a text may have the name of a key that is none."""

from __future__ import annotations

import datetime
import decimal
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import _arrays, _tables, _targets
from ._store import Store

KEYS = "keys.json"
"""A key of every type that has been learnt and which another type could be mistaken for."""
_AS_NUMBER = re.compile(r"[-+]?[0-9]+([.][0-9]+)?(e-[0-9]+)?|True|False")
"""Keys that are texts and look like another key."""


class Types:
    """The types that the keys of a store have. A store of an earlier version has kept none."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / KEYS
        self._kept: dict[str, str] = json.loads(self._file.read_text()) if self._file.exists() else {}

    def check(self, keys: Sequence[Any]) -> dict[str, str]:
        """The types of the keys of a batch, each with a key.

        Raises ValueError for keys of different types that may have one name, in the batch or in the store.
        """
        found = {
            "text": next((key for key in keys if isinstance(key, str) and _AS_NUMBER.fullmatch(key)), None),
            "other": next((key for key in keys if not isinstance(key, str)), None),
        }
        types = {name: repr(key) for name, key in found.items() if key is not None}
        if "other" in types:
            for key in keys:
                if isinstance(key, datetime.date | np.datetime64):
                    types.setdefault(_time(key), repr(key))
        seen = {**self._kept, **types}
        if "text" in seen and "other" in seen:
            raise ValueError(
                f"keys: {seen['text']} is a text and {seen['other']} is none, so that keys of one name may be two; write all keys of a "
                "store as texts, or none"
            )
        times = [(key, kind) for kind, key in seen.items() if kind not in found]
        if len(times) > 1:
            (one, kind), (other, its) = times[0], times[-1]
            raise ValueError(
                f"keys: {one} is {kind}, and {other} is {its}, so that one moment may be two keys; write all times of a store alike, or as texts"
            )
        return types

    def may_be(self, key: Any) -> bool:
        """Whether a key of its type may be in the store; one of another type with its name is another key."""
        try:
            self.check([key])
        except ValueError:
            return False
        return True

    def keep(self, types: Mapping[str, str]) -> None:
        """Writes the types of keys that are learnt, before they are."""
        if types.keys() - self._kept.keys():
            self._kept = {**types, **self._kept}
            Store.write(self._file, json.dumps(self._kept).encode())


def _time(key: Any) -> str:
    """How a time is written: equal ones that are not written alike have different names."""
    if isinstance(key, np.datetime64):
        return f"a time of NumPy in the unit {np.datetime_data(key.dtype)[0]}"
    if not isinstance(key, datetime.datetime):
        return "a day"
    return "a time without a zone" if key.tzinfo is None else f"a time of the zone {key.tzinfo}"


def listed(keys: Any) -> list[Any]:
    """The keys of all rows."""
    if isinstance(keys, str | bytes):
        raise TypeError(f"keys is {keys!r}; a list with a key for every row was needed: keys=[{keys!r}]")
    return _cells(keys, "keys")


def names_of(keys: Sequence[Any]) -> list[str]:
    """The names of keys, of which none may be missing."""
    for at, key in enumerate(keys):
        if isinstance(key, bytes):
            raise TypeError(f"keys[{at}] is {key!r}, of bytes; a text was needed, which .decode() makes of it")
        if isinstance(key, list | dict | set | frozenset | np.ndarray) or _has_no_text(key):
            raise TypeError(f"keys[{at}] is {key!r}; a text or a number was needed")
        if _arrays.is_missing(key) or key == "":
            raise ValueError(f"keys[{at}] is missing; every row needs a key")
        if isinstance(key, str) and not is_text(key):
            raise ValueError(f"keys[{at}] is {key!r}, half of a character; a whole text was needed")
    return [name_of(key) for key in keys]


def ids_of(ids: Any) -> list[str]:
    """The ids of all rows, as texts."""
    if isinstance(ids, str | bytes):
        raise TypeError(f"ids is {ids!r}; a list with an id for every row was needed: ids=[{ids!r}]")
    found = _cells(ids, "ids")
    for at, id in enumerate(found):
        if isinstance(id, list | dict | set | frozenset | bytes | np.ndarray) or _has_no_text(id):
            raise TypeError(f"ids[{at}] is {id!r}; a text or a number was needed")
        if _arrays.is_missing(id) or id == "" or not is_text(str(id)):
            raise ValueError(f"ids[{at}] is {id!r}; every row needs an id, a text or a number")
    return [name_of(id) for id in found]


def is_text(text: str) -> bool:
    """Whether a text can be written: halves of characters cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def name_of(key: Any) -> str:
    """The name of a key: equal numbers have one."""
    return str(_plain(key))


def _plain(key: Any) -> Any:
    """A key whose numbers are those of Python, and whole ones integers."""
    if isinstance(key, tuple):
        return tuple(_plain(_part(one)) for one in key)
    if isinstance(key, decimal.Decimal) and key.is_finite():
        key = _targets.number_of(key)
    if isinstance(key, float | np.floating) and float(key).is_integer():
        return int(key)
    return key.item() if isinstance(key, np.bool_ | np.integer | np.float64) else key


def _part(one: Any) -> Any:
    """A part of a tuple, which NumPy would write with its type."""
    return str(one) if isinstance(one, np.str_) else float(str(one)) if isinstance(one, np.floating) else one


def _cells(column: Any, name: str) -> list[Any]:
    """The cells of a column; an array of Arrow yields objects of its own, in which nothing is missing."""
    column = _tables.whole(column)
    if isinstance(column, set | frozenset):
        raise TypeError(f"{name} is a {type(column).__name__}, which has no order; a list in the order of the rows was needed")
    columns = None if _tables.is_series(column) else _tables.column_names(column)
    if columns is not None:
        if len(columns) != 1:
            raise TypeError(f"{name} is a table of {len(columns)} columns; one was needed, or a list of tuples: list(zip(table['a'], table['b']))")
        column = column.iloc[:, 0] if _tables.is_pandas(column) else column.get_columns()[0] if _tables.is_polars(column) else column.column(0)
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


def _has_no_text(key: Any) -> bool:
    """Whether the text of an object is its address."""
    return not any(name in vars(kind) for kind in type(key).__mro__[:-1] for name in ("__str__", "__repr__"))
