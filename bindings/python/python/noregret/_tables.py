"""Tables of pandas, polars, Arrow and dictionaries as columns of cells, or NDJSON for nested cells, for the command line's
readers."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import os
import warnings
from collections import deque
from collections.abc import Collection, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import Any, NamedTuple

import numpy as np

from . import _arrays, _core, _frames

ROLES = ("text", "categorical", "numeric", "time", "drop")
"""The roles that columns can be given, named as in the command line."""

MISSING = ("missing", "not_missing")
"""The words that say what counts as missing, named as in the command line."""

_PLAIN = frozenset({str, int, bool})

LABELS = (str, int, float, np.bool_, np.integer, np.floating, decimal.Decimal, datetime.date, np.datetime64)
"""The types of labels."""

_SMALL = 2**62


class Seconds(float):
    """A duration."""


class Moment(str):
    """The text of a time of NumPy."""


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

    def only(self, names: Sequence[str]) -> Table:
        """The table with these columns only, in this order."""
        names = list(map(trimmed, names))
        unknown = next((name for name in names if name not in self.names), None)
        if unknown is not None:
            raise ValueError(f"column {unknown!r}: the columns are {', '.join(self.names)}")
        cells = [self.cells[self.names.index(name)] for name in names]
        return Table(names, cells, [name for name in self.categorical if name in names])

    def part(self, low: int, high: int) -> Table:
        """The rows from `low` to before `high`."""
        return self._replace(cells=[column[low:high] for column in self.cells])

    def given(self, label: str | None = None, targets: list[Any] | None = None) -> _core.Table:
        """The table for the readers, with the label's column at the end."""
        if self.nests:
            return _core.Table.of_lines(self.lines(label, targets))
        names, cells = self.names, self.cells
        if label is not None and targets is not None:
            names, cells = [*names, label], [*cells, [one if isinstance(one, (*LABELS, type(None))) else str(one) for one in targets]]
        return _core.Table(names, cells, [at for at, column in enumerate(cells) if _lasts(column)])

    @property
    def nests(self) -> bool:
        """Whether there are cells that are lists or dictionaries."""
        return any(issubclass(kind, list | dict) for column in self.cells for kind in set(map(type, column)))

    def lines(self, label: str | None = None, targets: list[Any] | None = None, *, times: bool = False) -> bytes:
        """NDJSON, with objects such as `{"x": {"colour": "red"}, "label": "a"}`, one for each
        row; with `times`, dates and times are written as their features."""
        lines = []
        for at, row in enumerate(zip(*self.cells, strict=True)):
            cells = zip(self.names, row, strict=True)
            line: dict[str, Any] = {"x": dict(pair for name, cell in cells for pair in _members(name, cell, times))}
            if label is not None and targets is not None:
                line[label] = _plain(targets[at])
            lines.append(json.dumps(line) + "\n")
        return "".join(lines).encode()


def one(x: Any) -> Any:
    """A row: that of an array or a sparse matrix of one row, too."""
    x = sparse(x, dense=True)
    if isinstance(x, str | int | float | np.number):
        raise TypeError(f"x is {x!r}; a list of numbers, or features by name, was needed")
    nested = isinstance(x, list | tuple) and bool(x) and all(isinstance(row, list | tuple | np.ndarray) for row in x)
    if nested or (isinstance(x, np.ndarray) and x.ndim == 2):
        if len(x) != 1:
            raise ValueError(f"x has 2 axes; the numbers of one row were needed, and it has {len(x)} rows")
        return x[0]
    return x


def is_table(x: Any) -> bool:
    """Whether `x` has columns with names: a data frame, an Arrow table, a dictionary, or a list of dictionaries."""
    if isinstance(x, np.ndarray) or hasattr(x, "tocsr"):
        return False
    if isinstance(x, Mapping):
        return True
    if isinstance(x, list | tuple):
        return bool(x) and isinstance(x[0], Mapping)
    # A Series is a row if its cells have names, otherwise a column.
    return is_pandas(x) or is_polars(x) or is_series(x) or hasattr(x, "__arrow_c_stream__")


def column_names(x: Any) -> list[str] | None:
    """The names of the columns of a data frame, an Arrow table or a row of a DataFrame; None for anything else."""
    if isinstance(x, np.ndarray | list | tuple):
        return None
    if is_series(x):
        return list(map(name_of, x.index))
    if is_pandas(x) or is_polars(x):
        return list(map(name_of, x.columns))
    return list(x.column_names) if hasattr(x, "column_names") and hasattr(x, "__arrow_c_stream__") else None


def called(names: Sequence[str]) -> list[str]:
    """Names of columns as a model has them: blanks around a name are no part of it, and a column without a name has its number."""
    return [trimmed(name) or str(at) for at, name in enumerate(names, 1)]


def trimmed(name: str) -> str:
    """A name without the blanks around it."""
    return name.strip(" \t\n\f\r")


def has_texts(x: Any) -> bool:
    """Whether `x` is an array of rows with texts, times or missing objects among its cells, as a ColumnTransformer of scikit-learn passes
    them on: a table whose columns are called by their places."""
    if not isinstance(x, np.ndarray) or x.ndim != 2 or x.dtype.kind not in "OUTM":
        return False
    return x.dtype.kind != "O" or any(isinstance(cell, str | datetime.date | np.datetime64) or _arrays.is_missing(cell) for cell in x.flat)


def whole(x: Any) -> Any:
    """`x` in memory: a collection of Dask is computed, a LazyFrame of polars collected, what an iterator, a deque or a view of a dictionary
    yields is listed; what NumPy masks is missing, and its records are rows by name. A sparse row alone is an array."""
    x = x.compute() if hasattr(x, "__dask_graph__") else x
    if hasattr(x, "collect") and hasattr(x, "collect_schema"):
        return x.collect()
    x = x.read_all() if hasattr(x, "read_all") else x
    if isinstance(x, np.ma.MaskedArray):
        if x.dtype.names:
            return {name: whole(x[name]) for name in x.dtype.names}
        rows = x.dtype.kind in "fiub" and x.ndim == 2
        if rows:
            return np.ma.filled(x.astype(np.float64), np.nan)
        cells = x.data.astype(object)
        cells[np.ma.getmaskarray(x)] = None
        return cells
    if isinstance(x, np.ndarray) and x.dtype.names:
        return {name: x[name] for name in x.dtype.names}
    if hasattr(x, "tocsr") and len(x.shape) == 1:
        return x.toarray()
    return list(x) if isinstance(x, Iterator | deque | KeysView | ValuesView) else x


def rows(x: Any) -> Any:
    """Rows in memory that are learnt, of which a path is none."""
    if isinstance(x, os.PathLike) or (isinstance(x, str) and os.path.isfile(x)):
        raise TypeError(
            f"x is {x!r}, a file; rows were needed: pandas.read_csv reads them, and `noregret run --save MODEL` learns from the file itself:"
            " Learner.load or Bandit.load goes on with that model"
        )
    x = whole(x)
    if isinstance(x, list | tuple) and x and (is_pandas(x[0]) or is_polars(x[0]) or hasattr(x[0], "num_rows")):
        raise TypeError(f"x has tables as its rows, the first of type {type(x[0]).__name__}; rows were needed: learn the tables one after the other")
    return x


def given(x: Any) -> Any:
    """Rows in memory: those of nested lists as an array."""
    x = whole(x)
    if isinstance(x, list | tuple) and x and isinstance(x[0], list | tuple | np.ndarray):
        try:
            array = np.asarray(x)
        except ValueError:
            return x  # Of different lengths, which is refused later.
        # An array of texts has lost which cells were numbers.
        mixed = array.ndim == 2 and array.dtype.kind == "U" and not all(isinstance(cell, str) for row in x for cell in row)
        return np.asarray(x, dtype=object) if mixed else array
    return x


def by_name(x: Any) -> Any:
    """Objects with fields, records of NumPy, and rows of a DataFrame in a list, as dictionaries; anything else as it is."""
    if type(x) is dict:
        return x
    if isinstance(x, np.void) and x.dtype.names:
        return dict(zip(x.dtype.names, x.tolist(), strict=True))
    if (fields := _arrays.fields(x)) is not None:
        return fields
    if isinstance(x, list | tuple) and x and _arrays.fields(x[0]) is not None:
        rows = [_arrays.fields(row) for row in x]
        return x if None in rows else rows
    if isinstance(x, list | tuple) and x and all(is_series(row) for row in x):
        return [by_index(row) for row in x]
    return x


def by_index(x: Any) -> Any:
    """A Series as a row: by the names of its cells, or as an array where these are places."""
    places = getattr(x.index.dtype, "kind", "") == "i" and x.index.tolist() == list(range(len(x)))
    return x.to_numpy() if places else {name_of(name): cell for name, cell in x.items()}


def single(x: Any) -> Any:
    """A dictionary that is one row as a table of that row, also if all of its cells are lists; anything else as it is."""
    return [x] if isinstance(x, Mapping) and not is_row(x) and {len(value) for value in x.values()} != {1} else x


def texts(x: Any) -> Any:
    """A list of texts, one for each row, as a table of the column `text`, and a text as a row of it; anything else as it is."""
    if isinstance(x, str):
        return {"text": x}
    if _is_column_series(x) or (hasattr(x, "to_pylist") and not hasattr(x, "column_names")):
        cells = list(x.to_pylist() if hasattr(x, "to_pylist") else x.to_list())
        return {"text": [None if _arrays.is_missing(text) else text for text in cells]} if _are_texts(cells) else x
    if isinstance(x, np.ndarray):
        found = x.ndim == 1 and x.dtype.kind in "OUT" and len(x) > 0 and all(isinstance(text, str) for text in x)
    else:
        found = isinstance(x, list | tuple) and bool(x) and all(isinstance(text, str) for text in x)
    return {"text": list(x)} if found else x


def _are_texts(cells: list[Any]) -> bool:
    """Whether cells are texts, of which some may be missing."""
    there = [cell for cell in cells if not _arrays.is_missing(cell)]
    return bool(there) and all(isinstance(cell, str) for cell in there)


def bare(x: Any) -> int | None:
    """The number of rows of `x` if they have no columns: empty dictionaries, or a frame or an array without columns. None for others."""
    if isinstance(x, Mapping):
        return None if x else 1
    if isinstance(x, list | tuple):
        return len(x) if x and all(isinstance(row, Mapping) and not row for row in x) else None
    shape: tuple[int, ...] = getattr(x, "shape", ())
    return int(shape[0]) if len(shape) == 2 and shape[1] == 0 else None


def blank(label: str, rows: int) -> Table:
    """A table of so many rows without columns, which a column of missing labels counts."""
    return Table([label], [[None] * rows], [])


def sparse(x: Any, dense: bool = False) -> Any:
    """A sparse matrix with missing numbers as an array, where they are missing, too; the missing numbers of a wide one count as 0, as
    in a file of sparse rows. Any sparse matrix is an array if `dense`; anything else stays as it is."""
    if not hasattr(x, "tocsr"):
        return x
    x = x.tocsr()
    holes = np.isnan(x.data) if x.dtype.kind == "f" else np.zeros(0, dtype=bool)
    if dense or (holes.any() and x.shape[1] <= _core.DENSE):
        return x.toarray()
    if holes.any():
        x = x.copy()
        x.data[holes] = 0.0
    return x


def said(given: Mapping[str, Sequence[str]]) -> list[str]:
    """What was said about columns, or about words that count as missing or do not: rows of numbers are read as a table then."""
    return [name for name in (*ROLES, *MISSING) if given.get(name)]


def words(name: str, given: Sequence[Any] | None) -> list[str]:
    """The words of a list."""
    if isinstance(given, str | bytes):
        raise TypeError(f"{name} is {given!r}; a list was needed: {name}=[{given!r}]")
    return [str(word) for word in given or ()]


def check_index(x: Any, *, of: str = "x", stacklevel: int = 4, **others: Any) -> None:
    """Warns where labels, weights or keys of pandas have the index of the rows in another order: they are matched by their places."""
    ours: Any = getattr(x, "index", None)
    for name, other in others.items():
        theirs: Any = getattr(other, "index", None)
        if hasattr(type(ours), "equals") and hasattr(type(theirs), "equals") and len(ours) == len(theirs) and not ours.equals(theirs):
            if ours.is_unique and theirs.is_unique and theirs.isin(ours).all():
                told = f"{name} has the index of {of} in another order, and rows are matched by their places: {name}.loc[{of}.index] has the order of {of}"
                warnings.warn(told, stacklevel=stacklevel)


def check_names(x: Any, roles: Mapping[str, str]) -> None:
    """Warns where a frame lacks some of the columns that were learnt."""
    names = None if is_series(x) else called(column_names(x) or ()) or None
    lacking = [] if names is None else [name for name, role in roles.items() if role not in ("label", "weight", "drop") and name not in names]
    # Columns of lists have their elements' names.
    lacking = [name for name in lacking if not any(name.startswith((f"{other}[", f"{other}.")) for other in names or ())]
    if lacking and len(lacking) < len(roles):
        warnings.warn(f"x lacks the column{'s' * (len(lacking) > 1)} {', '.join(lacking[:10])}, missing in every row", stacklevel=5)


def has_holes(x: Any) -> bool:
    """Whether `x` is an array of rows with missing numbers, which only tables may have."""
    return isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype.kind == "f" and bool(np.isnan(x).any())


def has_only_numbers(frame: Any) -> bool:
    """Whether all columns of a DataFrame are plain numbers, none of them missing."""
    plain = all(isinstance(dtype, np.dtype) and dtype.kind in "iufb" for dtype in frame.dtypes)
    return plain and not bool(frame.isna().to_numpy().any())


def is_row(x: Any) -> bool:
    """Whether a table is one row: a row of a DataFrame, or a dictionary whose values are not all lists."""
    return is_series(x) or isinstance(x, Mapping) and not (x and all(_is_column(value) for value in x.values()))


def table(x: Any) -> Table:
    """The table in `x`."""
    if is_series(x):
        x = by_index(x)
    if _is_column_series(x):
        x = x.to_frame(x.name or "x")
    if isinstance(x, np.ndarray):
        return _checked([str(at) for at in range(x.shape[1])], [x[:, at] for at in range(x.shape[1])], [])
    if isinstance(x, Mapping):
        if is_row(x):
            return _checked([str(name) for name in x], [[value] for value in x.values()], [])
        return _checked([str(name) for name in x], list(x.values()), [])
    if isinstance(x, list | tuple):
        wrong = next((at for at, row in enumerate(x) if not isinstance(row, Mapping)), None)
        if wrong is not None:
            raise TypeError(f"x[{wrong}] is {x[wrong]!r}; a dictionary was needed, as the rows before it")
        names = list(dict.fromkeys(name for row in x for name in row))
        return _checked([str(name) for name in names], [[row.get(name) for row in x] for name in names], [])
    if is_pandas(x):
        names = list(map(name_of, x.columns))
        columns = [x.iloc[:, at] for at in range(x.shape[1])]
        categorical = [_frames.is_categorical(column.dtype) for column in columns]
        columns = [_named(column) if _frames.is_category(column.dtype) else _frames.with_maps(column) for column in columns]
        return _checked(names, columns, _where(names, categorical))
    if is_polars(x):
        columns = x.get_columns()
        categorical = [str(column.dtype).startswith(("Categorical", "Enum")) for column in columns]
        return _checked(list(x.columns), [column.to_list() for column in columns], _where(x.columns, categorical))
    return of_arrow(x)


def reading(**given: Sequence[Any] | None) -> dict[str, list[str]]:
    """How a table is read: the columns of every role, and the words that count as missing or do not."""
    named = {role: list(map(trimmed, words(role, given.get(role)))) for role in ROLES}
    return named | {name: words(name, given.get(name)) for name in MISSING}


def without_tables(reading: Mapping[str, Sequence[str]]) -> None:
    """Refuses what is said about tables where there are none."""
    if names := said(reading):
        raise TypeError(f"{', '.join(names)}: for tables only, which determine their features; leave out features")


def roles(given: Mapping[str, Sequence[str]], table: Table) -> dict[str, Sequence[str]]:
    """How the table is read, with columns of a categorical type among the categories."""
    known = {column for role in ROLES for column in given[role]}
    categories = [*given["categorical"], *(column for column in table.categorical if column not in known)]
    return {**given, "categorical": categories}


def in_places(roles: Mapping[str, str], width: int, whose: str) -> list[str]:
    """The names of the columns of an array, which are those of the first table in their order: all of them, or all that are used."""
    every = [name for name, role in roles.items() if role not in ("label", "weight")]
    used = [name for name in every if roles[name] != "drop"]
    # The columns of a first array are called by their places, and so are those of each later one.
    names = every if width == len(every) or every == [str(at) for at in range(len(every))] else used
    if width != len(names):
        raise ValueError(f"x has {width} columns; the {len(names)} of the {whose} were needed: {', '.join(names[:10])}")
    return names


def roles_of(core: _core.Learner | _core.Bandit) -> dict[str, str]:
    """The roles of the columns of a table, by name; none for rows of numbers."""
    return dict(core.roles if isinstance(core, _core.Bandit) else _core.roles(core))


def free(name: str, others: Sequence[str]) -> str:
    """`name`, or a name like it that no column has."""
    while name in others:
        name += "_"
    return name


def numbers_of(x: Any) -> Any:
    """The numbers of a row that is a list of them or None; None for a row by name or with texts."""
    if x is None:
        return []
    if is_table(x) or not isinstance(x, list | tuple | np.ndarray) or np.ndim(x) != 1:
        return None
    if isinstance(x, np.ndarray) and x.dtype.kind in "fiub":
        return x
    row = [float("nan") if _arrays.is_missing(value) else value for value in x]
    return row if all(isinstance(value, int | float | np.number | np.bool_) for value in row) else None


def tell(notes: Collection[str], stacklevel: int) -> None:
    """Warns of remarks on the columns, cells and labels of a call that returns none: once, a line for each."""
    if notes:
        warnings.warn("\n".join(notes), stacklevel=stacklevel + 1)


def of_arrow(x: Any) -> Table:
    arrow = _arrays.streamed(x, "x")
    if is_polars(arrow):
        return table(arrow)
    import pyarrow

    names = [str(name) for name in arrow.column_names]
    categorical = [pyarrow.types.is_dictionary(field.type) for field in arrow.schema]
    return _checked(names, list(map(_frames.listed, arrow.columns)), _where(names, categorical))


def _named(column: Any) -> Any:
    """A column of categories of pandas; other ones than texts and numbers, such as intervals, are called by their texts."""
    plain = all(isinstance(category, LABELS) for category in column.cat.categories)
    return column if plain else column.cat.rename_categories([str(category) for category in column.cat.categories])


def name_of(name: Any) -> str:
    """The name of a column, which may have several levels."""
    return "_".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _where(names: Iterable[str], flags: Iterable[bool]) -> list[str]:
    return [name for name, flag in zip(names, flags, strict=True) if flag]


def _checked(given: list[str], columns: Sequence[Any], categorical: list[str]) -> Table:
    names = called(given)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        why = "" if given.count(twice) > 1 else ": blanks around them are no part of them, and a column without a name has its number"
        raise ValueError(f"column {twice!r} appears twice; columns are told apart by their names{why}")
    cells = [_cells(column, name) for name, column in zip(names, columns, strict=True)]
    for name, column in zip(names, cells, strict=True):
        if len(column) != len(cells[0]):
            raise ValueError(f"column {name!r} has {len(column)} rows; the first column has {len(cells[0])}")
    return Table(names, cells, _where(names, [name in categorical for name in given]))


def _cells(values: Any, name: str) -> list[Any]:
    """Cells as text and numbers, None where one is missing."""
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if isinstance(values, np.ndarray) and kind == "M":
        values = _arrays.times(values).tolist()
        return [None if value == "NaT" else value for value in values]
    if isinstance(values, np.ndarray) and kind == "m":
        values = _arrays.objects(values)
    if kind in "iub" and kind:
        return list(values.tolist()) if _is_full(values) else [_cell(value, name, at) for at, value in enumerate(values)]
    if kind == "f" and _is_full(values) and _is_usual(values):
        return [None if value != value else value for value in values.tolist()]
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    return [
        value
        if (type(value) in _PLAIN and (type(value) is not int or -_SMALL < value < _SMALL)) or (type(value) is float and -_SMALL < value < _SMALL)
        else _cell(value, name, at)
        for at, value in enumerate(values)
    ]


def _is_full(values: Any) -> bool:
    """Whether a column of numbers or booleans is one of NumPy's types, which nullable columns of pandas are not."""
    return isinstance(values, np.ndarray) or isinstance(getattr(values, "dtype", None), np.dtype)


def _is_usual(numbers: Any) -> bool:
    """Whether numbers are at most `_core.LARGEST` or missing, and become Python's when they are listed."""
    return numbers.dtype.itemsize <= 8 and not bool((np.abs(np.asarray(numbers, dtype=np.float64)) > _core.LARGEST).any())


def _cell(value: Any, name: str, at: int) -> Any:
    value = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if _arrays.is_missing(value):
        return None
    if isinstance(value, np.floating):
        value = float(value)  # A limit that its own type cannot hold would be a warning of NumPy's for each cell.
    if isinstance(value, float | decimal.Decimal) and math.isinf(value):
        raise ValueError(f"column {name!r}, row {at}: {value}; a finite number was needed")
    if isinstance(value, float | int) and not -_core.LARGEST <= value <= _core.LARGEST:
        # Python refuses to write the largest whole numbers.
        shown = f"{value:.6g}" if not isinstance(value, int) or value.bit_length() < 1000 else f"about 1e{int(value.bit_length() * math.log10(2))}"
        raise ValueError(f"column {name!r}, row {at}: {shown}; a number of at most {_core.LARGEST:g} was needed")
    if isinstance(value, float):
        return float(value)
    if isinstance(value, np.timedelta64):
        if np.datetime_data(value.dtype)[0] in ("Y", "M"):
            raise TypeError(f"column {name!r}, row {at}: {value}; a duration in days or shorter units was needed: .astype(int) makes a number of it")
        return Seconds(value / np.timedelta64(1, "s"))
    if isinstance(value, str | bool | int | np.bool_ | np.integer | decimal.Decimal | datetime.date):
        return value
    if isinstance(value, datetime.timedelta):
        return Seconds(value.total_seconds())
    if isinstance(value, np.datetime64):
        return Moment(time_text(value))
    if isinstance(value, datetime.time):
        return value.isoformat()  # Seconds or a category, as in CSV and Parquet.
    if isinstance(value, Mapping):
        return {str(key): _cell(inside, name, at) for key, inside in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple | np.ndarray):
        return [_cell(inside, name, at) for inside in value]
    raise TypeError(
        f"column {name!r}, row {at}: a value of type {type(value).__name__}; numbers, texts, times, booleans, and lists and "
        "dictionaries of them can be learnt from: str(...) makes a text of others"
    )


def _lasts(column: list[Any]) -> bool:
    """Whether a column holds durations."""
    first = next((cell for cell in column if cell is not None), None)
    return type(first) is Seconds and all(cell is None or type(cell) is Seconds for cell in column)


def time_text(value: Any) -> str:
    """The text of a time."""
    return str(_arrays.times(value) if isinstance(value, np.datetime64) else value)


def _members(name: str, cell: Any, times: bool) -> list[tuple[str, Any]]:
    """A cell as members of a JSON object."""
    if times and isinstance(cell, dict):
        return [(name, dict(pair for key, inside in cell.items() for pair in _members(key, inside, times)))]
    if times and isinstance(cell, datetime.date | Moment):
        return _core.time_features(name, str(cell)) or [(name, str(cell))]
    return [(name, _plain(cell))]


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


def _is_column(value: Any) -> bool:
    return not isinstance(value, str | bytes | Mapping) and hasattr(value, "__len__") and getattr(value, "shape", None) != ()


def is_pandas(x: Any) -> bool:
    return hasattr(x, "iloc") and hasattr(x, "columns") and hasattr(x, "dtypes")


def is_series(x: Any) -> bool:
    """Whether `x` is a row of a pandas DataFrame, `frame.iloc[0]`: cells by the names of columns."""
    names = getattr(getattr(x, "index", None), "dtype", None)
    return hasattr(x, "iloc") and not hasattr(x, "columns") and getattr(names, "kind", None) == "O"


def _is_column_series(x: Any) -> bool:
    """Whether `x` is a column of pandas or polars."""
    return hasattr(x, "to_frame") and hasattr(x, "name") and not hasattr(x, "columns") and not is_series(x)


def is_polars(x: Any) -> bool:
    return hasattr(x, "get_columns") and hasattr(x, "schema")
