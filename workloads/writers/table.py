"""Writes workloads as tables, CSV or Parquet, that `read_table` reads back without a map."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hpcsim.errors import WorkloadError
from hpcsim.workload import END_STATES, Workload
from hpcsim.workloads.truth_files import truth_of
from hpcsim.workloads.writers.atomic import replacing

if TYPE_CHECKING:
    import pandas as pd

_MARKS = ("limit_is_run_time", "nodes_are_allocated", "end_state", "recorded_state")


def write_table(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write *workload* to *path*: ``.parquet``, ``.csv`` or ``.csv.gz``; it is there whole or not at all.

    Columns keep their names and units. Limits that the log did not have are left blank; column
    ``state`` says how each job ended; several partitions are joined by commas. What is known of other
    node counts (`hpcsim.scaling.TRUTH`) is left out.

    Raises:
        WorkloadError: the name has another ending, or the file cannot be written.
    """
    target = Path(path)
    frame = _frame(workload)
    if target.suffix == ".parquet":
        with replacing(target) as file:
            frame.to_parquet(file, index=False)
    elif target.name.endswith((".csv", ".csv.gz")):
        with replacing(target) as file:
            file.write(frame.to_csv(index=False, lineterminator="\n").encode())
    else:
        raise WorkloadError(
            f"{target.name} names no kind of table.", "End it in .parquet, .csv or .csv.gz.", path=str(target)
        )


def _frame(workload: Workload) -> pd.DataFrame:
    apart = {*_MARKS, *truth_of(workload)}
    columns = {name: column for name, column in workload.columns.items() if name not in apart}
    unknown = workload.columns.get("limit_is_run_time", np.zeros(len(workload), dtype=bool)).astype(bool)
    if workload.limits_are_run_times:
        del columns["limit_s"]
    elif unknown.any():
        columns["limit_s"] = np.where(unknown, np.nan, columns["limit_s"])
    if "recorded_state" in workload.columns:
        columns["state"] = workload.columns["recorded_state"]
    elif "end_state" in workload.columns:
        columns["state"] = np.array([str(state) for state in END_STATES], dtype=object)[workload.columns["end_state"]]
    if "partitions" in columns:
        joined = [",".join(names or ()) or None for names in columns["partitions"].tolist()]
        columns["partitions"] = np.array(joined, dtype=object)
    import pandas as pd

    return pd.DataFrame(columns)
