"""Columns in the narrowest type that holds them, so that millions of jobs fit into memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]

_NARROW = (np.int8, np.int16, np.int32, np.int64)
_FIRST_TOO_LARGE = 2.0**63


def narrow(column: Column) -> Column:
    """Return whole numbers in the narrowest integer type that holds them, others, and infinite ones, as float64."""
    if column.dtype.kind == "f":
        if not np.all((column == np.floor(column)) & (np.abs(column) < _FIRST_TOO_LARGE)):
            return column
        column = column.astype(np.int64)
    if not len(column):
        return column.astype(np.int8)
    low, high = int(column.min()), int(column.max())
    for dtype in _NARROW:
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return column.astype(dtype, copy=False)
    return column


def exact(times: Column) -> Column:
    """Return times as int64 where all are whole, else float64."""
    if times.dtype.kind == "f" and not np.isfinite(times).all():
        return times
    column = narrow(times)
    return column if column.dtype.kind == "f" else column.astype(np.int64)
