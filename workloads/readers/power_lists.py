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

    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
        nothing = np.full(len(array), np.nan)
        return ListStatistics(nothing, nothing, nothing, np.zeros(len(array), int), np.zeros(len(array), int))
    lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    flat = array.flatten().cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    is_valid = flat >= 0
    values = np.where(is_valid, flat, 0.0)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    valid = _sums(is_valid.astype(np.int64), starts, ends)
    total = _sums(values, starts, ends)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(valid > 0, total / np.maximum(valid, 1), np.nan)
    return ListStatistics(
        total=np.where(valid > 0, total, np.nan),
        mean=mean,
        largest=np.where(valid > 0, _maxima(values, starts, lengths), np.nan),
        entries=lengths,
        faulty=lengths - valid,
    )


def _sums(values: Column, starts: Column, ends: Column) -> Column:
    """Return the sum of each stretch; whole numbers stay exact."""
    running = np.concatenate(([0], np.cumsum(values)))
    return running[ends] - running[starts]


def _maxima(values: Column, starts: Column, lengths: Column) -> Column:
    largest = np.zeros(len(starts))
    filled = np.flatnonzero(lengths)
    if len(filled):
        largest[filled] = np.maximum.reduceat(values, starts[filled])
    return largest
