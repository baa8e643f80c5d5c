"""What was asked, by job row: the workload's columns, with jobs that were submitted during the run behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.engine.columns import RunColumns
from hpcsim.workload import Workload

Column = NDArray[Any]


class Asked:
    """What was asked, by row: the workload's columns with the jobs added during the run behind them.

    Where the run has an advisor, `effective` has what it made of node counts and limits.
    """

    def __init__(self, workload: Workload, columns: RunColumns, rows: int) -> None:
        self._workload = workload
        self._added = columns.added
        self._changed = {} if columns.advice is None else columns.advice.effective
        self._rows = rows

    def column(self, name: str, dtype: Any = None) -> Column:
        """Return a column that every job has."""
        given = self._workload.columns[name]
        if not self._added:
            return given.astype(dtype or given.dtype, copy=False)
        values = [getattr(job, name) for job in self._added]
        if dtype is None and given.dtype.kind in "iu" and not all(isinstance(value, int) for value in values):
            given = given.astype(object)
        if given.dtype == object or given.dtype.kind in "US":
            return np.concatenate([given.astype(object), np.array(values, dtype=object)])
        return np.concatenate([given, np.asarray(values)]).astype(dtype or given.dtype, copy=False)

    def effective(self, name: str, dtype: Any = None) -> Column:
        """Return ``nodes`` or ``limit_s`` as the jobs were queued with."""
        column = self.column(name, dtype)
        if not self._changed:
            return column
        place = ("nodes", "limit_s").index(name)
        values = [pair[place] for pair in self._changed.values()]
        if dtype is None and not all(isinstance(value, int) for value in values):
            column = column.astype(np.float64)
        column = column.copy()
        column[list(self._changed)] = values
        return column

    def users(self, rows: Column) -> Any:
        """Return who submitted: nullable integers, or text where any user is known by name."""
        import pandas as pd

        values, is_known = self._optional("user_id")
        values, is_known = values[rows], is_known[rows]
        if values.dtype.kind in "iu":
            return pd.arrays.IntegerArray(values.astype(np.int64, copy=False), ~is_known)
        names = values.astype(str).astype(object)
        names[~is_known] = None
        return pd.array(names, dtype="str")

    def partitions(self, rows: Column) -> Any:
        """Return the partitions that each job may use, joined by commas; missing where it may use any."""
        import pyarrow as pa

        values, _ = self._optional("partitions")
        if values.dtype.kind in "iu":
            return text_column(pa.nulls(len(rows), pa.large_string()))
        joined = [_joined(value) for value in values[rows].tolist()]
        return text_column(pa.array([name or None for name in joined], pa.large_string()))

    def _optional(self, name: str) -> tuple[Column, Column]:
        """Return a column and where it is known; -1 and None mean "not known"."""
        given = self._workload.columns.get(name)
        if given is None:
            given = np.full(self._rows - len(self._added), -1, dtype=np.int8)
        added = [getattr(job, name) for job in self._added]
        if any(added):
            whole = np.empty(self._rows, dtype=object)
            whole[: len(given)] = given
            whole[len(given) :] = added
            is_number = all(value is None or isinstance(value, int) for value in whole.tolist())
            given = np.array([-1 if v is None else v for v in whole], dtype=np.int64) if is_number else whole
        elif added:
            given = np.concatenate([given, np.full(len(added), -1, dtype=given.dtype)])
        return given, _is_known(given)


def _joined(partitions: Any) -> str:
    """Return names of partitions in one text; -1 and None are none."""
    if isinstance(partitions, str):
        return partitions
    return "" if partitions is None or isinstance(partitions, int) else ",".join(partitions)


def _is_known(values: Column) -> Column:
    import pandas as pd

    if values.dtype.kind in "iu":
        return np.not_equal(values, -1)
    known: Column = ~pd.isna(values) & (values != -1)
    return known


def text_column(values: Any) -> Any:
    """Return an Arrow array of texts as pandas' own text column, without a copy."""
    import pandas as pd

    return pd.array(values, dtype="str")
