"""Writes workloads, and finished runs, in the Standard Workload Format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.job import JobState
from hpcsim.workload import Workload
from hpcsim.workloads.swf_fields import BYTES_PER_KB, CANCELLED, COMPLETED, FAILED, FIELDS, MISSING
from hpcsim.workloads.swf_header import Header, header_lines, machine_size
from hpcsim.workloads.writers.atomic import replacing

if TYPE_CHECKING:
    import pandas as pd

Column = NDArray[Any]

VERSION = "2.2"
ROWS_AT_ONCE = 200_000

STATUS_OF_STATE = {
    JobState.COMPLETED: COMPLETED,
    JobState.FAILED: FAILED,
    JobState.TIMEOUT: FAILED,
    JobState.NODE_FAIL: FAILED,
    JobState.CANCELLED: CANCELLED,
    JobState.REJECTED: CANCELLED,
    JobState.UNFINISHED: MISSING,
}
"""The status code for each state of a simulated job; SWF has none for a kill at the limit: it counts as failed."""

_STATUS_OF_END_STATE = np.array([COMPLETED, FAILED, CANCELLED], dtype=np.int8)
_SAME_NAME = frozenset(
    {"submit_s", "run_s", "cpu_s", "status", "queue_id", "partition_id", "preceding_job_id", "think_s"}
)


def write_swf(workload: Workload, path: str | os.PathLike[str], *, result_jobs: pd.DataFrame | None = None) -> None:
    """Write *workload* to *path*, gzipped where the name ends in ``.gz``; the file is there whole or not at all.

    What was read by ``read_swf`` comes out so that reading it again gives equal columns and header.
    Job numbers and ids that are no integers become numbers from 1; no limit becomes -1.

    Args:
        workload: the jobs.
        path: the file to make or replace.
        result_jobs: the jobs of a finished run, columns ``row start_s end_s wait_s run_s state``.
            Then each of its rows is written with its simulated wait, run time, processors and
            status (killed at the limit counts as failed; a job that never started has wait and run
            -1, and the reader will refuse it as one that never ran).

    Raises:
        WorkloadError: the file cannot be written.
    """
    import pandas as pd

    header = _header(workload)
    if result_jobs is not None:
        workload = workload.select(result_jobs["row"].to_numpy(), "rows of a finished run")
    fields = _fields(workload)
    if result_jobs is not None:
        fields |= _simulated(workload, result_jobs)
        header["Note"] = [*header.get("Note", []), "waits, run times and statuses as simulated by hpcsim"]
    with replacing(Path(path)) as file:
        file.writelines(f"{line}\n".encode() for line in header_lines(header))
        for first in range(0, len(workload), ROWS_AT_ONCE):
            part = {name: fields[name][first : first + ROWS_AT_ONCE] for name in FIELDS}
            file.write(pd.DataFrame(part).to_csv(sep=" ", header=False, index=False, lineterminator="\n").encode())


def _fields(workload: Workload) -> dict[str, Column]:
    """Return the 18 fields of every job."""
    columns = workload.columns
    fields = {name: np.full(len(workload), MISSING, dtype=np.int8) for name in FIELDS}
    fields |= {name: _known(columns[name]) for name in _SAME_NAME if name in columns}
    fields |= {
        name: _numbered(columns[name]) for name in ("job_id", "user_id", "group_id", "app_id") if name in columns
    }
    renamed = {"recorded_wait_s": "wait_s", "recorded_nodes": "allocated"}
    fields |= {field: _known(columns[name]) for name, field in renamed.items() if name in columns}
    memory = {"used_memory_bytes": "used_memory_kb", "requested_memory_bytes": "requested_memory_kb"}
    fields |= {field: _kilobytes(columns[name]) for name, field in memory.items() if name in columns}
    if "status" not in columns and "end_state" in columns:
        fields["status"] = _STATUS_OF_END_STATE[columns["end_state"]]
    fields["requested"] = _where_not(columns, "nodes_are_allocated", columns["nodes"])
    if not workload.limits_are_run_times:
        fields["requested_s"] = _where_not(columns, "limit_is_run_time", _known(columns["limit_s"]))
    return fields


def _simulated(workload: Workload, jobs: pd.DataFrame) -> dict[str, Column]:
    """Return the fields that a run decides, in the order of *jobs*."""
    started = jobs["start_s"].notna().to_numpy()
    return {
        "wait_s": _known(np.where(started, jobs["wait_s"].to_numpy(), MISSING)),
        "run_s": _known(np.where(started, jobs["run_s"].to_numpy(), MISSING)),
        "allocated": np.where(started, workload.columns["nodes"], MISSING),
        "status": np.array([STATUS_OF_STATE[JobState(state)] for state in jobs["state"]], dtype=np.int8),
    }


def _known(column: Column) -> Column:
    """Return numbers with -1 for NaN and infinity, as integers where all are whole."""
    if column.dtype.kind != "f":
        return column
    known = np.where(np.isfinite(column), column, MISSING)
    return known.astype(np.int64) if np.array_equal(known, np.floor(known)) else known


def _kilobytes(column: Column) -> Column:
    return _known(np.where(column < 0, MISSING, column / BYTES_PER_KB))


def _numbered(column: Column) -> Column:
    """Return ids as integers: as they are, or numbered from 1 in order of appearance; unknown ones are -1."""
    import pandas as pd

    if column.dtype.kind in "iu":
        return column
    codes, _ = pd.factorize(column)
    return np.where(codes < 0, MISSING, codes + 1)


def _where_not(columns: Mapping[str, Column], mark: str, column: Column) -> Column:
    """Return *column* with -1 where the log had nothing and the reader put something else there."""
    return np.where(columns[mark], MISSING, column) if mark in columns else column


def _header(workload: Workload) -> Header:
    """Return the log's own header; a workload of another origin, or on another machine, gets what a reader needs.

    Transformations become a note, the only place that SWF has for them.
    """
    header = {key: list(values) for key, values in workload.header.items()}
    steps = workload.provenance.get("transformations", [])
    if not header and workload.provenance.get("reader") != "swf":
        count = str(len(workload))
        header = {"Version": [VERSION], "MaxJobs": [count], "MaxRecords": [count]}
        if workload.machine_nodes is not None:  # or a reader could only guess it, by the widest job
            header["MaxProcs"] = [str(workload.machine_nodes)]
    nodes = workload.columns["nodes"]
    widest = int(nodes.max()) if len(nodes) else None
    machine = workload.machine_nodes
    if machine is not None and machine != (machine_size(header) or widest):
        header["MaxProcs"] = [str(machine)]
    if steps:
        header["Note"] = [*header.get("Note", []), f"changed by hpcsim: {'; '.join(steps)}"]
    return header
