"""Conversion of inputs to the arrays that the compiled part accepts. Copies are made only if the layout requires it."""

from __future__ import annotations

import dataclasses
import decimal
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Sparse = tuple[Floats, npt.NDArray[np.uint32], Ints, int]
Rows = Floats | Sparse

UNLABELLED = int(np.iinfo(np.int64).min)
"""The class of a row without a label, which is not learnt."""


def rows(x: Any) -> Rows:
    """Rows of a matrix: an array of two axes, a nested list, a SciPy matrix, or a table of pandas, polars or Arrow."""
    if type(x) is np.ndarray and x.ndim == 2 and x.dtype == np.float64 and x.flags.c_contiguous and x.flags.aligned:
        return x
    if hasattr(x, "tocsr"):
        return _sparse(x.tocsr())
    array = np.require(numbers(x, "x"), np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    if array.ndim != 2:
        way_out = "" if array.ndim != 1 else "; x.to_frame() makes a table of a column" if hasattr(x, "to_frame") else "; x.reshape(-1, 1) has rows of one number"
        raise ValueError(f"x has {array.ndim} axes; rows and columns were needed{way_out}")
    return array


def row(x: Any) -> Floats:
    """One row: an array of one axis, or a list of numbers."""
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype == np.float64 and x.flags.c_contiguous and x.flags.aligned:
        return x
    array = np.require(numbers(x, "x"), np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    if array.ndim != 1:
        raise ValueError(f"x has {array.ndim} axes; the numbers of one row were needed")
    return array


def is_row(x: Any) -> bool:
    """Whether `x` is one row rather than several."""
    if isinstance(x, np.ndarray):
        return x.ndim == 1
    return isinstance(x, list | tuple) and (not x or (np.ndim(x[0]) == 0 and not isinstance(x[0], Mapping)))


def targets(y: Any, real: bool, index: Mapping[str, int]) -> Floats | Ints:
    """Targets: numbers if `real`, else classes from 0, names of classes, or probability vectors. A copy, which no other thread changes."""
    array = np.asarray(y) if hasattr(y, "__array__") or not hasattr(y, "__arrow_c_stream__") else numbers(y, "y")
    if real:
        return np.array(_numeric(array, "y"), dtype=np.float64, order="C")
    if array.ndim == 2:
        return np.array(_numeric(array, "y"), dtype=np.float64, order="C")
    if array.ndim != 1:
        raise ValueError(f"y has {array.ndim} axes; one was needed, or two for probability vectors")
    if array.dtype.kind in "OUST":
        names = array.tolist()
        return np.array([UNLABELLED if is_missing(name) else name_of(name, index) for name in names], dtype=np.int64)
    whole = _numeric(array, "y")
    if whole.dtype.kind == "f":
        missing = np.isnan(whole)
        _whole((whole != np.rint(whole)) | (np.abs(whole) > 2**53), whole, ~missing)
        return np.where(missing, UNLABELLED, np.where(missing, 0.0, whole).astype(np.int64))
    # Beyond 64 bits, or the mark of a row without a label; truth values are neither.
    if whole.dtype.kind != "b":
        _whole((whole >= 2**63) | (whole == UNLABELLED), whole, True)
    return np.array(whole, dtype=np.int64, order="C")


def _whole(wrong: Any, y: Any, there: Any) -> None:
    """Refuses what is no class."""
    if (places := np.flatnonzero(wrong & there)).size:
        raise ValueError(f"y[{places[0]}] = {y[places[0]]}: must be a class, a whole number from 0")


def distinct(y: Any) -> tuple[list[Any], Ints]:
    """The distinct labels in `y`, as Python objects, and the index of each element; `UNLABELLED` where it is missing."""
    array = np.asarray(y)
    if array.ndim != 1:
        raise ValueError(f"y has {array.ndim} axes; one was needed, or two for probability vectors")
    if array.dtype.kind in "iubU":
        values, places = np.unique(array, return_inverse=True)
        return values.tolist(), places.astype(np.int64)
    # True equals 1, and is another label.
    at: dict[tuple[bool, Any], int] = {}
    places = np.empty(len(array), dtype=np.int64)
    for row, label in enumerate(objects(array)):
        if isinstance(label, float) and math.isinf(label):
            raise ValueError(f"y[{row}] = {label}: a finite number was needed")
        places[row] = UNLABELLED if is_missing(label) else at.setdefault((isinstance(label, bool), label), len(at))
    # -0.0 equals 0.0, and is written so.
    return [label + 0.0 if isinstance(label, float) else label for _, label in at], places


def objects(array: npt.NDArray[Any]) -> Sequence[Any]:
    """The elements as objects of Python: each time as one of the standard library, unless it has nanoseconds."""
    if array.dtype.kind not in "mM":
        return list(array.tolist())
    unit = np.datetime_data(array.dtype)[0]
    if unit in ("ps", "fs", "as") or (array.dtype.kind == "m" and unit in ("Y", "M", "generic")):
        return list(array)  # NumPy would make whole numbers of them.
    exact = array if unit != "ns" else array.astype(f"{array.dtype.kind}8[us]")
    fits = (exact == array) | np.isnat(array)
    return [plain if fit else given for plain, fit, given in zip(exact.tolist(), fits.tolist(), array, strict=True)]


def times(array: Any) -> Any:
    """The texts of NumPy's times, in units that are read as times."""
    unit = {"Y": "D", "M": "D", "W": "D", "h": "m", "ps": "ns", "fs": "ns", "as": "ns"}.get(np.datetime_data(array.dtype)[0])
    return np.datetime_as_string(array if unit is None else array.astype(f"M8[{unit}]"))


def absent(names: Sequence[str], known: Collection[str], missing: Sequence[str] = (), not_missing: Sequence[str] = ()) -> set[str]:
    """Those of the new labels `names` that are words for a missing label, by the list of the readers."""
    if all(name in known for name in names):
        return set()
    return set(_core.missing_labels([*known, *names], list(missing), list(not_missing))).difference(known)


def labelled(places: Ints, names: Sequence[str], known: Collection[str]) -> Ints:
    """The places of `distinct`, of labels called `names`: `UNLABELLED` where such a name is a word for a missing one, and not `known`."""
    words = absent(names, known)
    missing = [at for at, name in enumerate(names) if name in words]
    return np.where(np.isin(places, missing), UNLABELLED, places)


def placed(classes: list[int], places: Ints) -> Ints:
    """The classes of rows, from those of the distinct labels and the places of `distinct`."""
    return np.array([*classes, UNLABELLED], dtype=np.int64)[np.where(places < 0, len(classes), places)]


def is_missing(value: Any) -> bool:
    """Whether `value` is None, NaN, NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating | np.datetime64 | np.timedelta64) and bool(value != value)


def fields(row: Any) -> Mapping[str, Any] | None:
    """The fields of a named tuple, of a data class, or of a row of a database (sqlite3, asyncpg, Spark) by name; None for anything else."""
    for name in ("_asdict", "asDict"):
        if hasattr(row, name):
            return dict(getattr(row, name)())
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
    if callable(getattr(row, "keys", None)) and not isinstance(row, Mapping) and not hasattr(row, "shape"):
        return {name: row[name] for name in row.keys()}
    return None


def one_by_one(rows: Rows) -> Iterator[Rows]:
    """Every row, as rows of one."""
    if isinstance(rows, np.ndarray):
        yield from (rows[at : at + 1] for at in range(len(rows)))
        return
    values, indices, starts, width = rows
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        yield values[begin:end], indices[begin:end], np.array([0, end - begin], dtype=np.int64), width


def name_of(name: Any, index: Mapping[str, int]) -> int:
    """The class called `name`."""
    try:
        return index[str(name)]
    except KeyError:
        known = ", ".join(list(index)[:10])
        raise ValueError(f"the label {name!r} is none of the {len(index)} known classes: {known}") from None


def weights(weight: Any) -> Floats | None:
    """Importance weights."""
    return None if weight is None else one_axis(list(weight) if isinstance(weight, Iterator) else weight, "weight")


def one_axis(x: Any, name: str) -> Floats:
    """A number for each row: a copy, which no other thread changes."""
    array = np.array(numbers(x, name), dtype=np.float64, order="C")
    if array.ndim == 2 and array.shape[1] == 1:
        array = np.ascontiguousarray(array[:, 0])
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} axes; one was needed")
    return array


def numbers(x: Any, name: str) -> npt.NDArray[Any]:
    """An array of real numbers."""
    if not hasattr(x, "__array__") and hasattr(x, "__arrow_c_stream__"):
        x = _from_arrow(x, name)
    try:
        array = np.asarray(x)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths; a rectangle of numbers was needed") from None
    return _numeric(array, name)


def _numeric(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    if array.dtype.kind == "O":
        numbers = [np.nan if is_missing(value) else real(value) if isinstance(value, int) else value for value in array.flat]
        kinds = int | float | np.number | np.bool_ | decimal.Decimal
        wrong = next((at for at, value in enumerate(numbers) if not isinstance(value, kinds)), None)
        if wrong is not None:
            place = np.unravel_index(wrong, array.shape)
            where = f", in row {place[0]}, column {place[1]}" if len(place) == 2 else f", at {place[0]}" if len(place) == 1 else ""
            raise TypeError(f"{name} has dtype object; real numbers were needed, and it has {numbers[wrong]!r}{where}")
        return np.array(numbers, dtype=np.float64).reshape(array.shape)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {array.dtype}; real numbers were needed")
    return array


def real(number: Any) -> float:
    """A number as a float; infinity for a whole number that is larger than any."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def streamed(x: Any, name: str) -> Any:
    """Data with the Arrow stream interface: a table of pyarrow, or, without that, a frame of polars."""
    try:
        import pyarrow
    except ImportError:
        try:
            import polars
        except ImportError:
            raise TypeError(f"{name} is an Arrow stream; pyarrow or polars is needed to read it") from None
        return polars.DataFrame(x)
    return pyarrow.table(x)


def _from_arrow(x: Any, name: str) -> Any:
    """Reads numbers with only the Arrow stream interface."""
    table = streamed(x, name)
    if hasattr(table, "get_columns"):
        return table.to_numpy() if name == "x" else table.to_series().to_numpy()
    columns = [column.to_numpy() for column in table.columns]
    return np.column_stack(columns) if name == "x" else columns[0]


def _sparse(x: Any) -> Sparse:
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    values = np.ascontiguousarray(_numeric(x.data, "x"), dtype=np.float64)
    if x.indices.dtype == np.int32:
        indices = np.ascontiguousarray(x.indices).view(np.uint32)
    elif x.shape[1] <= 2**32:
        indices = np.ascontiguousarray(x.indices, dtype=np.uint32)
    else:
        raise ValueError(f"x has {x.shape[1]} columns; at most {2**32} were needed")
    return values, indices, np.ascontiguousarray(x.indptr, dtype=np.int64), int(x.shape[1])
