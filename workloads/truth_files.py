"""The truth of a generated log, in a file of its own: whoever reads the log does not see it."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

from hpcsim.errors import SuspiciousWorkload, WorkloadError
from hpcsim.scaling import SCALING_TABLE, TRUTH, has_truth
from hpcsim.workload import Workload
from hpcsim.workloads.writers.atomic import replacing

FILE_COLUMNS = ("job_id", "nodes", "run_s", "end_state", *TRUTH, SCALING_TABLE)


def truth_path(path: str | os.PathLike[str]) -> Path:
    """Return where the truth of the log *path* stands: ``jobs.parquet`` has ``jobs.truth.parquet``."""
    return Path(path).with_suffix(".truth.parquet")


def truth_of(workload: Workload) -> set[str]:
    """Return the names of the columns that a log's own file leaves out; power that was measured is not among them."""
    return {*TRUTH, SCALING_TABLE} - (set() if has_truth(workload) else {"mean_power_w"})


def write_truth(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write job ids, counts asked for, uncut run times and the hidden truth of *workload* as Parquet.

    Raises:
        WorkloadError: there is no truth in it, or the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not has_truth(workload):
        raise WorkloadError("This workload has no truth to write.", "Generate one with synth-pm100, for example.")
    columns = {name: workload.columns[name] for name in FILE_COLUMNS if name in workload.columns}
    table = pa.table(
        {name: pa.array(column.tolist() if column.dtype == object else column) for name, column in columns.items()}
    )
    with replacing(Path(path)) as file:
        pq.write_table(table, file, compression="zstd")


def tell_old_truth(path: str | os.PathLike[str]) -> None:
    """Warn where a truth from before stands beside the log *path*, just written without one of its own."""
    old = truth_path(path)
    if old.exists():
        warnings.warn(
            f"{old} was there before: it may be the truth of another log than the new {Path(path).name}. "
            "Take it away unless it belongs to it.",
            SuspiciousWorkload,
            stacklevel=3,
        )


def read_truth(workload: Workload, path: str | os.PathLike[str]) -> Workload:
    """Return *workload* with the truth of the file *path*, matched by job id.

    Raises:
        WorkloadError: the file is missing or no truth, or some job is not in it once and with its node count.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path).select(["job_id", "nodes", *TRUTH, *_tables(pq.read_schema(path).names)])
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise WorkloadError(
            f"{path} cannot be read as the truth of a log: {error}", "Give the .truth.parquet beside the log."
        ) from error
    ids = table["job_id"].to_numpy()
    order = np.argsort(ids, kind="stable")
    wanted = workload.columns["job_id"]
    places = np.minimum(np.searchsorted(ids[order], wanted), len(ids) - 1)
    if len(np.unique(ids)) < len(ids) or not np.array_equal(ids[order][places], wanted):
        raise WorkloadError(f"{path} does not hold each job of the log once.", "Give the file written beside the log.")
    if not np.array_equal(table["nodes"].to_numpy()[order][places], workload.columns["nodes"]):
        raise WorkloadError(
            f"{path} has other node counts than the log: it is the truth of another one.",
            "Give the file written beside the log.",
        )
    result = workload.select(np.arange(len(workload)), f"truth of {Path(path).name}")
    result.columns.update({name: table[name].to_numpy()[order][places] for name in TRUTH})
    for name in _tables(table.column_names):
        values = table[name].to_pylist()
        column = np.empty(len(wanted), dtype=object)
        column[:] = [values[row] and tuple(map(tuple, values[row])) for row in order[places].tolist()]
        result.columns[name] = column
    return result


def _tables(names: list[str]) -> list[str]:
    """Return the name of the column of tables, if it is among *names*."""
    return [name for name in names if name == SCALING_TABLE]
