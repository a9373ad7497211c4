"""Columns of pandas and Arrow by their types."""

from __future__ import annotations

from typing import Any


def is_category(dtype: Any) -> bool:
    """Whether a type of pandas is its own of categories."""
    return str(dtype) == "category"


def is_categorical(dtype: Any) -> bool:
    """Whether a type of pandas is one of categories: its own, or Arrow's dictionary."""
    return is_category(dtype) or (hasattr(dtype, "pyarrow_dtype") and str(dtype).startswith("dictionary<"))


def listed(column: Any) -> Any:
    """The cells of a column of Arrow; those of a map are dictionaries."""
    return column.to_pylist(maps_as_pydicts="lossy") if "map<" in str(column.type) else column.to_pylist()


def with_maps(column: Any) -> Any:
    """A column of pandas, whose cells are dictionaries if they are maps of Arrow."""
    if "map<" not in str(column.dtype):
        return column
    import pyarrow

    return listed(pyarrow.array(column))
