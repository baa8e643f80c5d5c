"""Lists of power samples, one list a job, as energy, mean and peak; without a Python object a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]


@dataclass(frozen=True, slots=True)
class ListStatistics:
    """Of each list: the sum, mean and greatest of its valid entries (NaN without any), entries, faulty ones."""

    total: Column
    mean: Column
    largest: Column
    entries: Column
    faulty: Column


def statistics(array: Any) -> ListStatistics:
    """Return the statistics of an Arrow list column; null, NaN and negative entries are faulty and left out."""
    import pyarrow as pa

    if not _holds_numbers(array.type):
        nothing = np.full(len(array), np.nan)
        return ListStatistics(nothing, nothing, nothing, np.zeros(len(array), int), np.zeros(len(array), int))
    lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    flat = array.flatten().cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    is_valid = flat >= 0
    values = np.where(is_valid, flat, 0.0)
    starts = np.cumsum(lengths) - lengths
    valid = _of_each(np.add, is_valid.astype(np.int64), starts, lengths)
    total = _of_each(np.add, values, starts, lengths)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(valid > 0, total / np.maximum(valid, 1), np.nan)
    return ListStatistics(
        total=np.where(valid > 0, total, np.nan),
        mean=mean,
        largest=np.where(valid > 0, _of_each(np.maximum, values, starts, lengths), np.nan),
        entries=lengths,
        faulty=lengths - valid,
    )


def samples(array: Any, means: Column) -> Column:
    """Return each list as a tuple of watts, faulty entries as the list's mean; empty where all are faulty.

    Args:
        array: Arrow list column.
        means: of the valid entries of each list, NaN without any.
    """
    found = np.empty(len(array), dtype=object)
    is_numbers = _holds_numbers(array.type)
    for row, mean in enumerate(means.tolist()):
        listed = array[row].as_py() if is_numbers and mean == mean else None  # noqa: PLR0124 - NaN alone differs
        found[row] = tuple(float(w) if w is not None and w >= 0 else mean for w in listed or ())
    return found


def _holds_numbers(kind: Any) -> bool:
    """Tell whether *kind* is an Arrow type of lists of numbers; a list that is always empty may have any."""
    import pyarrow as pa

    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return False
    entry = kind.value_type
    return bool(pa.types.is_integer(entry) or pa.types.is_floating(entry) or pa.types.is_null(entry))


def _of_each(reduction: np.ufunc, values: Column, starts: Column, lengths: Column) -> Column:
    """Return the reduction of each list, 0 where it is empty; what one holds does not reach the others."""
    result = np.zeros(len(starts), dtype=values.dtype)
    filled = np.flatnonzero(lengths)
    if len(filled):
        with np.errstate(over="ignore"):
            result[filled] = reduction.reduceat(values, starts[filled])
    return result
