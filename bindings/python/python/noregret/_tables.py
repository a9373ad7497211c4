"""Converts tables of pandas, polars, Arrow and dictionaries to CSV text, or NDJSON for nested cells, for the command
line's reader."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

ROLES = ("text", "categorical", "numeric", "time", "drop")
"""The roles that columns can be given, named as in the command line."""

_PLAIN = frozenset({str, int, bool})


class Table(NamedTuple):
    """A table: names of columns, their cells (None for missing ones), and which columns have a categorical type."""

    names: list[str]
    cells: list[list[Any]]
    categorical: list[str]

    @property
    def rows(self) -> int:
        return len(self.cells[0]) if self.cells else 0

    def without(self, name: str) -> Table:
        """The table without a column."""
        kept = [at for at, other in enumerate(self.names) if other != name]
        categorical = [other for other in self.categorical if other != name]
        return Table([self.names[at] for at in kept], [self.cells[at] for at in kept], categorical)

    def csv(self, label: str | None = None, targets: list[Any] | None = None) -> bytes:
        """The text of a CSV file, with the label's column at the end; of an NDJSON file, if cells are lists or dictionaries."""
        if any(isinstance(cell, list | dict) for column in self.cells for cell in column):
            return self._json(label, targets)
        names, cells = self.names, self.cells
        if label is not None and targets is not None:
            names, cells = [*names, label], [*cells, targets]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        if len(cells) == 1:
            # A line with a single empty cell would not be a row.
            out.writelines((_quoted(cell) + "\n") for cell in cells[0])
        else:
            writer.writerows(zip(*cells, strict=True))
        return out.getvalue().encode()

    def _json(self, label: str | None, targets: list[Any] | None) -> bytes:
        """NDJSON, with objects such as `{"x": {"colour": "red"}, "label": "a"}`, which the reader recognises by the
        first character."""
        lines = []
        for at, row in enumerate(zip(*self.cells, strict=True)):
            line: dict[str, Any] = {"x": dict(zip(self.names, map(_plain, row), strict=True))}
            if label is not None and targets is not None:
                line[label] = _plain(targets[at])
            lines.append(json.dumps(line) + "\n")
        return "".join(lines).encode()


def is_table(x: Any) -> bool:
    """Whether `x` has columns with names: a data frame, an Arrow table, a dictionary, or a list of dictionaries."""
    if isinstance(x, np.ndarray) or hasattr(x, "tocsr"):
        return False
    if isinstance(x, Mapping):
        return True
    if isinstance(x, list | tuple):
        return bool(x) and isinstance(x[0], Mapping)
    return _is_pandas(x) or _is_polars(x) or _is_series(x) or hasattr(x, "__arrow_c_stream__")


def has_texts(x: Any) -> bool:
    """Whether `x` is an array of rows with texts among its cells, as a ColumnTransformer of scikit-learn passes them on: a table whose
    columns are called by their places."""
    if not isinstance(x, np.ndarray) or x.ndim != 2 or x.dtype.kind not in "OU":
        return False
    return x.dtype.kind == "U" or any(isinstance(cell, str) for cell in x.flat)


def is_row(x: Any) -> bool:
    """Whether a table is one row: a row of a DataFrame, or a dictionary whose values are not all lists."""
    return _is_series(x) or isinstance(x, Mapping) and not (x and all(_is_column(value) for value in x.values()))


def table(x: Any) -> Table:
    """The table in `x`."""
    if _is_series(x):
        x = x.to_dict()
    if isinstance(x, np.ndarray):
        return _checked([str(at) for at in range(x.shape[1])], [x[:, at] for at in range(x.shape[1])], [])
    if isinstance(x, Mapping):
        if is_row(x):
            return _checked([str(name) for name in x], [[value] for value in x.values()], [])
        return _checked([str(name) for name in x], list(x.values()), [])
    if isinstance(x, list | tuple):
        names = list(dict.fromkeys(name for row in x for name in row))
        return _checked([str(name) for name in names], [[row.get(name) for row in x] for name in names], [])
    if _is_pandas(x):
        names = ["_".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in x.columns]
        columns = [x.iloc[:, at] for at in range(x.shape[1])]
        categorical = [str(column.dtype) == "category" for column in columns]
        return _checked(names, columns, _where(names, categorical))
    if _is_polars(x):
        columns = x.get_columns()
        categorical = [str(column.dtype).startswith(("Categorical", "Enum")) for column in columns]
        return _checked(list(x.columns), [column.to_list() for column in columns], _where(x.columns, categorical))
    return _of_arrow(x)


def column(y: Any, name: str) -> list[Any]:
    """The cells of a column: labels, for instance."""
    return _cells(y, name)


def text_of(value: Any) -> str:
    """The text of a label in a table."""
    return "" if value is None else str(value)


def _of_arrow(x: Any) -> Table:
    try:
        import pyarrow
    except ImportError:
        try:
            import polars
        except ImportError:
            raise TypeError("x is an Arrow stream; pyarrow or polars is needed to read it") from None
        return table(polars.DataFrame(x))
    arrow = pyarrow.table(x)
    names = [str(name) for name in arrow.column_names]
    categorical = [pyarrow.types.is_dictionary(field.type) for field in arrow.schema]
    return _checked(names, [column.to_pylist() for column in arrow.columns], _where(names, categorical))


def _where(names: Iterable[str], flags: Iterable[bool]) -> list[str]:
    return [name for name, flag in zip(names, flags, strict=True) if flag]


def _checked(names: list[str], columns: Sequence[Any], categorical: list[str]) -> Table:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"column {twice!r} appears twice; columns are told apart by their names")
    cells = [_cells(column, name) for name, column in zip(names, columns, strict=True)]
    for name, column in zip(names, cells, strict=True):
        if len(column) != len(cells[0]):
            raise ValueError(f"column {name!r} has {len(column)} rows; the first column has {len(cells[0])}")
    return Table(names, cells, categorical)


def _cells(values: Any, name: str) -> list[Any]:
    """Cells as text and numbers, None where one is missing."""
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if isinstance(values, np.ndarray) and kind == "M":
        values = np.datetime_as_string(values).tolist()
        return [None if value == "NaT" else value for value in values]
    if kind in "iub" and kind:
        return list(values.tolist()) if _is_full(values) else [_cell(value, name, at) for at, value in enumerate(values)]
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    return [
        value if type(value) in _PLAIN else _cell(value, name, at) for at, value in enumerate(values)
    ]


def _is_full(values: Any) -> bool:
    """Whether a column of whole numbers or booleans has no missing cells, as nullable columns of pandas may have."""
    return isinstance(values, np.ndarray) or isinstance(getattr(values, "dtype", None), np.dtype)


def _cell(value: Any, name: str, at: int) -> Any:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else float(value)
    if isinstance(value, str | bool | int | np.bool_ | np.integer | decimal.Decimal | datetime.date):
        return value
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _cell(inside, name, at) for key, inside in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple | np.ndarray):
        return [_cell(inside, name, at) for inside in value]
    raise TypeError(
        f"column {name!r}, row {at}: a value of type {type(value).__name__}; numbers, texts, times, booleans, and lists and "
        "dictionaries of them can be learnt from"
    )


def _plain(value: Any) -> Any:
    """A cell as JSON; values other than numbers and texts are written as in CSV."""
    if isinstance(value, dict):
        return {key: _plain(inside) for key, inside in value.items()}
    if isinstance(value, list):
        return [_plain(inside) for inside in value]
    if value is None or (type(value) in _PLAIN and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, np.integer | decimal.Decimal):
        return int(value) if value == int(value) else float(value)
    return str(value)


def _quoted(cell: Any) -> str:
    return '"' + ("" if cell is None else str(cell)).replace('"', '""') + '"'


def _is_column(value: Any) -> bool:
    return not isinstance(value, str | bytes) and hasattr(value, "__len__") and not isinstance(value, Mapping)


def _is_pandas(x: Any) -> bool:
    return hasattr(x, "iloc") and hasattr(x, "columns") and hasattr(x, "dtypes")


def _is_series(x: Any) -> bool:
    """Whether `x` is a row of a pandas DataFrame, `frame.iloc[0]`: cells by the names of columns."""
    names = getattr(getattr(x, "index", None), "dtype", None)
    return hasattr(x, "iloc") and not hasattr(x, "columns") and getattr(names, "kind", None) == "O"


def _is_polars(x: Any) -> bool:
    return hasattr(x, "get_columns") and hasattr(x, "schema")
