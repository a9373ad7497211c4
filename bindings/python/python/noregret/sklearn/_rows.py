"""Rows and labels of scikit-learn's users: tables as numbers, and what is no row or label refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse

from .. import _arrays, _core, _tables, _targets
from .._arrays import Floats


def numbers(table: _tables.Table, y: Any, kept: list[int], reading: dict[str, list[str]]) -> tuple[Any, str]:
    """The `kept` rows of a table as numbers, NaN for missing ones of up to `_core.DENSE` columns, and what its columns hold, which depends on the
    order of the rows only where a column that counts them is left out."""
    if not kept:
        raise ValueError("all sample weights are zero; at least one positive weight was needed")
    labels = _targets.column(np.asarray(y)[kept], "y")
    table = table._replace(cells=[[column[at] for at in kept] for column in table.cells])
    name = _tables.free("label", table.names)
    written, notes = _core.table_schema(table.given(name, labels), {"label": name, **_tables.roles(reading, table)})
    _tables.tell(notes, 4)
    found = json.loads(written)
    roles = {role: [one["name"] for one in found["csv"]["fields"] if one["role"] == role] for role in _tables.ROLES}
    # Features are in the order of their first rows.
    order = sorted(range(table.rows), key=[repr(row) for row in zip(*table.cells, strict=True)].__getitem__)
    ordered = table._replace(cells=[[column[at] for at in order] for column in table.cells])
    schema, _ = _core.table_schema(ordered.given(name, [labels[at] for at in order]), {**reading, "label": name, **roles})
    (values, indices, starts, width), _, _ = _core.table_rows(table.given(), schema, True)
    rows = scipy.sparse.csr_matrix((values, indices.astype(np.int64), starts), shape=(len(starts) - 1, width))
    if width <= _core.DENSE:
        return rows.toarray(), schema
    rows.data[np.isnan(rows.data)] = 0.0
    rows.eliminate_zeros()
    return rows, schema


def whole(X: Any, weights: Floats | None, scale: str) -> Any:
    """Rows with what stands for missing numbers, as everywhere: 0, or the mean of a column to be standardised whose numbers are far from 0."""
    if not isinstance(X, np.ndarray) or not np.isnan(X).any():
        return X
    if scale != "standard":
        return np.where(np.isnan(X), 0.0, X)
    rows, first, second, _, there = _core.survey(X, weights, scale, False)
    return np.where(np.isnan(X), np.asarray(_core.settled(rows, there, first, second)[2]), X)


def indicated(schema: str) -> int:
    """The number of numeric features of a table, which come first and are followed by as many indicators of missing ones; 0 for a table
    without indicators."""
    return int(json.loads(schema)["csv"].get("numbers") or 0)


def rows(X: Any, dense: bool) -> Any:
    """Rows in memory: a list of texts as a table of one column, nested lists of numbers and texts as an array of them."""
    return _tables.sparse(_tables.texts(_tables.given(X)), dense=dense)


def places(X: Any) -> list[Any] | None:
    """The names of the columns of a DataFrame, in their order."""
    return list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else None


def framed(X: Any, names: Any) -> Any:
    """Dictionaries, of a row each or of columns, as a frame, in which the columns `names` of fit come first, in their order."""
    if not isinstance(X, Mapping) and not (isinstance(X, list | tuple) and X and isinstance(X[0], Mapping)):
        return X
    if names is None:
        raise ValueError("X has names of columns, and the rows of fit had none; an array was needed, as in fit")
    try:
        import pandas
    except ImportError:
        raise TypeError("X has dictionaries; a frame was needed, as in fit, or pandas, which makes one of them") from None
    table = _tables.table(X)
    cells = dict(zip(table.names, table.cells, strict=True))
    known = list(names)
    order = [name for name in known if name in cells] + [name for name in table.names if name not in known]
    return pandas.DataFrame({name: cells[name] for name in order})


def as_fitted(X: Any, names: Any) -> Floats | None:
    """The numbers of a DataFrame whose columns are those of fit, in their order, with a number in each cell; None for anything else, which
    scikit-learn looks at. It takes milliseconds, of a row alone, too."""
    if names is None or not _tables.is_pandas(X) or X.shape[0] == 0 or X.columns.tolist() != names.tolist():
        return None
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in X.dtypes):
        return None
    numbers = X.to_numpy(dtype=np.float64)
    return numbers if np.isfinite(numbers).all() else None


def filled(X: Any, core: _core.Learner) -> Any:
    """Rows for a classifier of numbers, with what stands for missing ones of a table, as in a table that had some before."""
    if _tables.has_holes(X):
        raise ValueError("X has missing numbers (NaN), and the rows of fit had none: fit with some of them, or give tables, where they are taken")
    if not (hasattr(X, "fillna") and hasattr(X, "dtypes")) or is_mixed(X.fillna(0.0)):
        return X
    stand_ins = core.stand_ins()
    if len(stand_ins) != X.shape[1] or not bool(X.isna().to_numpy().any()):
        return X.fillna(0.0)
    numbers = X.to_numpy(dtype=np.float64)
    return type(X)(np.where(np.isnan(numbers), stand_ins, numbers), columns=X.columns, index=X.index)


def with_columns(X: Any) -> Any:
    """`X`, which has columns: scikit-learn demands some of every classifier, in these words."""
    rows = _tables.bare(X)
    if rows is not None:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required by scikit-learn; noregret.Learner takes rows "
            "without columns"
        )
    return X


def is_mixed(X: Any) -> bool:
    """Whether `X` is a table with texts, categories, times, or missing values."""
    if hasattr(X, "to_frame") and hasattr(X, "name") and not hasattr(X, "columns"):
        raise ValueError("X is a Series; X.to_frame() makes a table of it (Reshape your data: rows and columns were needed)")
    if not _tables.is_table(X):
        return _tables.has_texts(X)
    return not (hasattr(X, "dtypes") and hasattr(X, "isna") and _tables.has_only_numbers(X))


def plain(y: Any) -> Any:
    """Labels of pandas' nullable types as those of NumPy. Refuses objects that scikit-learn takes for no labels."""
    y = _tables.whole(y)
    if isinstance(y, np.ndarray) and y.dtype.kind == "T":
        y = y.astype(object)  # Texts of a type that scikit-learn does not know.
    if hasattr(y, "__arrow_c_stream__") and not hasattr(y, "__array__"):
        y = _targets.labels(y)
    objects = getattr(y, "dtype", None) == object and np.ndim(y) == 1
    if objects or (isinstance(y, list | tuple) and any(isinstance(label, str) for label in y)):
        # NumPy would make texts of what stands beside texts.
        y = np.asarray(_targets.labels(y))
        there = [label for label in y if not _arrays.is_missing(label)] if y.dtype == object else []
        other = next((label for label in there if not isinstance(label, str)), None)
        if other is not None and any(isinstance(label, str) for label in there):
            raise ValueError(f"y has texts and {other!r}; labels of one kind were needed (noregret.Learner takes several)")
        kind = np.array(there).dtype if len(there) == len(y) else y.dtype
        if kind.kind in "bi":
            raise ValueError(f"Unknown label type: y has labels like {other!r} as objects; y.astype({str(kind)!r}) makes them what scikit-learn takes")
    dtype = getattr(y, "dtype", None)
    nullable = not isinstance(dtype, np.dtype) and getattr(dtype, "kind", "") in ("i", "u", "b") and hasattr(y, "tolist")
    return np.array(_targets.column(y, "y")) if nullable else y
