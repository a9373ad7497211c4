"""Mini-batches of other libraries than pandas, as River's own models take them and give them back."""

from __future__ import annotations

from typing import Any

from .. import _tables


def taken(X: Any) -> Any:
    """A frame of pandas as it is; one of polars or a table of Arrow as pandas' if it has only numbers, none of them missing, and otherwise as
    columns by name, with a name for each."""
    if _tables.is_pandas(X):
        return X
    if not (_tables.is_polars(X) or hasattr(X, "column_names")):
        raise TypeError(f"X is of type {type(X).__name__}; a frame of pandas or polars, or a table of Arrow, was needed")
    import pandas

    table = _tables.table(X)
    plain = all(type(cell) in (int, float, bool) for column in table.cells for cell in column)
    types = None if plain and not table.categorical else object
    frame = pandas.DataFrame(dict(zip(table.names, table.cells, strict=True)), dtype=types)
    return frame.astype(dict.fromkeys(table.categorical, "category"))


def given_back(found: Any, X: Any) -> Any:
    """A frame or a Series of pandas as one of the library of `X`, whose columns are called by texts."""
    if _tables.is_pandas(X):
        return found
    names = list(map(str, found.columns)) if hasattr(found, "columns") else None
    cells = [found.tolist()] if names is None else [found.iloc[:, at].tolist() for at in range(len(names))]
    if _tables.is_polars(X):
        import polars

        return polars.Series(cells[0]) if names is None else polars.DataFrame(dict(zip(names, cells, strict=True)))
    import pyarrow

    return pyarrow.array(cells[0]) if names is None else pyarrow.table(dict(zip(names, cells, strict=True)))
