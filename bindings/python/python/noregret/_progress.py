"""Progress of long calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_LONG = 20_000
"""Least number of rows for a progress bar."""


@contextmanager
def bar(x: Any, wanted: bool | None) -> Iterator[Callable[[int], object] | None]:
    """A progress bar of tqdm, shown on terminals and in notebooks after a delay."""
    rows = x.shape[0] if hasattr(x, "shape") else len(x) if hasattr(x, "__len__") else 0
    if wanted is False or (wanted is None and rows < _LONG):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if wanted:
            raise
        yield None
        return
    with tqdm(total=rows, unit="row", leave=False, disable=False if wanted else None, delay=0 if wanted else 1) as bar:
        yield bar.update
        bar.update(rows - bar.n)
