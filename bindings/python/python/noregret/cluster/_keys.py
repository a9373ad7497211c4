"""Types of keys. The files of a store have names of keys, and a text may have the name of a key that is none."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

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
        self._seen = dict(self._kept)

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
        seen = {**self._seen, **types}
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
        self._seen = seen
        return types

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
