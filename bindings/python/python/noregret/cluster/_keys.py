"""Types of keys. The files of a store have names of keys, and a text may have the name of a key that is none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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
        seen = {**self._seen, **types}
        if "text" in seen and "other" in seen:
            raise ValueError(
                f"keys: {seen['text']} is a text and {seen['other']} is none, so that keys of one name may be two; write all keys of a "
                "store as texts, or none"
            )
        self._seen = seen
        return types

    def keep(self, types: Mapping[str, str]) -> None:
        """Writes the types of keys that are learnt, before they are."""
        if types.keys() - self._kept.keys():
            self._kept = {**types, **self._kept}
            Store.write(self._file, json.dumps(self._kept).encode())
