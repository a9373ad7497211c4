"""Cells written as the features of a learner: pandas makes 1.0 of 1 where another cell of the column is missing, and True may be 1
elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from . import _core, _tables


def as_known(table: _tables.Table, core: _core.Learner | _core.Bandit) -> _tables.Table:
    """The table with numbers and truth values written as the learner knows them."""
    return alike(table, _tables.roles_of(core), lambda: core.columns)


def alike(table: _tables.Table, roles: Mapping[str, str], features: Callable[[], Collection[str]], *, whole: bool = False) -> _tables.Table:
    """The table with numbers and truth values written as in the known features; with `whole`, new categories that are whole numbers are
    written without a decimal point."""
    known: set[str] | None = None
    columns = list(table.cells)
    for at, name in enumerate(table.names):
        if roles.get(name) == "numeric" and any(type(cell) in (bool, np.bool_) for cell in columns[at]):
            columns[at] = [int(cell) if isinstance(cell, bool | np.bool_) else cell for cell in columns[at]]
        if roles.get(name) == "categorical" and any(type(cell) in (int, float, bool) for cell in columns[at]):
            known = set(features()) if known is None else known
            columns[at] = [_written(cell, name, known, whole) for cell in columns[at]]
    return table._replace(cells=columns)


def _written(cell: Any, name: str, known: Collection[str], whole: bool) -> Any:
    if type(cell) not in (int, float, bool) or cell != cell // 1 or f"{name}={cell}" in known:
        return cell
    others: list[Any] = [int(cell), float(cell), *([bool(cell)] if cell in (0, 1) else [])]
    new = int(cell) if whole and type(cell) is float else cell
    return next((other for other in others if f"{name}={other}" in known), new)
