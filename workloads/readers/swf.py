"""Reads the Standard Workload Format: one job a line, 18 fields, ``;`` for comments, often gzipped.

Source: the format's definition at the Parallel Workloads Archive, version 2.2. Where real logs
depart from it, the rules are in `hpcsim.workloads.readers.swf_rules`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.ingest import GUESSED_MACHINE, Mode
from hpcsim.job import JobState
from hpcsim.workload import END_STATES, Workload
from hpcsim.workloads.readers.assessment import Assessment
from hpcsim.workloads.readers.findings import Rule
from hpcsim.workloads.readers.narrowing import exact, narrow
from hpcsim.workloads.readers.options import check_choice, check_machine, check_options
from hpcsim.workloads.readers.quarantine import write_quarantine
from hpcsim.workloads.readers.swf_dialects import DIALECTS, Dialect, dialect_columns
from hpcsim.workloads.readers.swf_profiles import Profile, apply_profile
from hpcsim.workloads.readers.swf_rules import JobColumns, assess, job_columns, note_too_wide
from hpcsim.workloads.readers.swf_table import Column, SwfTable, read_table
from hpcsim.workloads.readers.verdict import file_sha256, warn_of
from hpcsim.workloads.swf_fields import BYTES_PER_KB, CANCELLED, FAILED, MISSING
from hpcsim.workloads.swf_header import MOST_LINES, count_of, machine_size

_PASSED_OVER = Rule("comments-passed-over", "noted", "line", f"comments beyond the first {MOST_LINES:,}: not read")
_FROM_MAX_NODES = Rule(
    "machine-from-max-nodes", "noted", "MaxProcs", "none usable in the header: MaxNodes stands in for it"
)
_FROM_WIDEST = Rule(GUESSED_MACHINE, "noted", "MaxProcs", "none usable in the header: the widest job stands in for it")

_OPTIONAL = {
    "wait_s": "recorded_wait_s",
    "allocated": "recorded_nodes",
    "cpu_s": "cpu_s",
    "status": "status",
    "queue_id": "queue_id",
    "partition_id": "partition_id",
    "preceding_job_id": "preceding_job_id",
    "think_s": "think_s",
}
_MEMORY = {"used_memory_kb": "used_memory_bytes", "requested_memory_kb": "requested_memory_bytes"}
_WHO = ("user_id", "group_id", "app_id")


def read_swf(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    processors: int | None = None,
    limit_rows: int | None = None,
    profile: Profile = "archive",
    dialect: Dialect | None = None,
) -> Workload:
    """Read an SWF file, plain or gzipped whatever its name, as a processor-counted workload.

    Columns beside the required ones, each only where the log has it: ``user_id group_id app_id
    queue_id partition_id status end_state preceding_job_id think_s requested_memory_bytes`` and
    the recorded ``recorded_wait_s recorded_nodes cpu_s used_memory_bytes`` (memory and CPU seconds
    per processor). In them -1 is "not known". ``limit_is_run_time`` and ``nodes_are_allocated``
    mark jobs whose limit or processors the log did not ask for. Rows keep the log's order. A file
    without jobs is a workload of none, with a warning.

    Args:
        path: the log.
        mode: ``"repair"`` keeps what can be kept and counts it in ``ledger``; ``"strict"`` raises at
            the first line that would be changed or refused; ``"quarantine"`` repairs, and writes
            refused lines to *quarantine_path* (``.gz`` compresses).
        quarantine_path: where they go; needed in that mode and only there.
        processors: of the machine; default MaxProcs of the header, else MaxNodes, else the widest job.
        limit_rows: read this many job lines only, refused ones counted.
        profile: ``"archive"``, the rules of this reader; ``"rlscheduler"``, what RLScheduler makes of
            a log, for comparisons with its figures: see `hpcsim.workloads.readers.swf_profiles`.
        dialect: ``"alea"`` or ``"frontier"``: read the fields behind the 18th as `swf_dialects` says, and
            count nodes. Without it they are noted, and not read.

    Raises:
        WorkloadError: the file cannot be read, is no SWF, or (strict) has a fault; with path, line, field.

    Warns:
        WorkloadRepaired: rows were changed or refused.
        SuspiciousWorkload: the numbers are unlikely, as those of a wrong machine size are.
    """
    check_options(mode, quarantine_path, limit_rows)
    check_machine(processors, "processors")
    path = Path(path)
    table = read_table(path, limit_rows=limit_rows)
    changes = apply_profile(table, profile)
    jobs = job_columns(table)
    extra: dict[str, Column] = {}
    if dialect is not None:
        check_choice("dialect", dialect, DIALECTS)
        extra = dialect_columns(path, dialect, table.lines)
        jobs = replace(jobs, nodes=extra.pop("nodes"))
    assessment = assess(table, jobs, changes)
    if table.passed_over:
        assessment.note(_PASSED_OVER, f"{table.passed_over:,} comments", "not read", rows=table.passed_over)
    if mode == "strict":
        assessment.raise_first_fault(str(path))
    _refuse_foreign(table, path)
    size_key = "MaxProcs" if dialect is None else "MaxNodes"
    machine = processors or _machine(table, jobs, assessment, size_key)
    if machine is not None:
        note_too_wide(assessment, jobs, machine)
    if quarantine_path is not None:
        write_quarantine(path, Path(quarantine_path), assessment.reasons())
    options: dict[str, Any] = {"mode": mode, "processors": processors, "limit_rows": limit_rows}
    options |= {} if dialect is None else {"dialect": dialect}
    options |= {} if profile == "archive" else {"profile": profile}
    workload = Workload(
        _columns(table, jobs, ~assessment.refused, extra),
        machine_nodes=machine,
        counted="processors" if dialect is None else "nodes",
        limits_are_run_times=_all(jobs.is_from_run, ~assessment.refused),
        header=table.header,
        provenance={"source": str(path), "sha256": file_sha256(path), "reader": "swf", "options": options},
        ledger=assessment.ledger(str(path), "swf", mode),
    )
    warn_of(workload, path)
    return workload


def _refuse_foreign(table: SwfTable, path: Path) -> None:
    """Raise where not one line could be read: whatever the file is, it is no SWF."""
    if len(table):
        return
    refused = table.findings.refused_lines()
    if refused:
        cause = f"{path} is no SWF file: no line holds a job ({len(refused)} tried, from line {min(refused)} on)."
        raise WorkloadError(cause, "Check the format.", path=str(path), line=min(refused))


def _machine(table: SwfTable, jobs: JobColumns, assessment: Assessment, key: str) -> int | None:
    size = machine_size(table.header) if key == "MaxProcs" else count_of(table.header, key)
    if size is None:
        nodes = jobs.nodes[~assessment.refused]
        size = int(nodes.max()) if len(nodes) else None
        if size is not None:
            assessment.note(_FROM_WIDEST, "not given", str(size))
    elif count_of(table.header, key) is None:
        assessment.note(_FROM_MAX_NODES, "not given", str(size))
    return size


def _columns(table: SwfTable, jobs: JobColumns, kept: NDArray[np.bool_], extra: dict[str, Column]) -> dict[str, Column]:
    """Return the workload's columns, *extra* ones of a dialect among them.

    *table* is emptied on the way, to hold each column only once.
    """
    fields = table.columns
    rows = slice(None) if kept.all() else kept
    columns = {
        "job_id": narrow(fields.pop("job_id")[rows]),
        "submit_s": exact(fields.pop("submit_s")[rows]),
        "run_s": exact(fields.pop("run_s")[rows]),
        "limit_s": exact(jobs.limit_s[rows]),
        "nodes": narrow(jobs.nodes[rows]),
    }
    columns |= _who({name: fields.pop(name)[rows] for name in _WHO})
    columns |= _present({ours: fields.pop(name)[rows] for name, ours in _OPTIONAL.items()})
    columns |= _present({ours: _bytes(fields.pop(name)[rows]) for name, ours in _MEMORY.items()})
    marks = {"limit_is_run_time": jobs.is_from_run[rows], "nodes_are_allocated": jobs.is_from_allocated[rows]}
    columns |= {name: mark for name, mark in marks.items() if mark.any()}
    columns |= {name: column[rows] for name, column in extra.items() if _says_something(column[rows])}
    if "status" in columns:
        columns |= _end_state(columns["status"], columns["run_s"])
    return columns


def _says_something(column: Column) -> bool:
    """Tell whether a dialect's column holds more than 0, "not known" and empty texts."""
    return bool(column.any() if column.dtype == object else (column > 0).any())


def _who(columns: dict[str, Column]) -> dict[str, Column]:
    """Return user, group and application all three, where any is known: `Job` is built fastest so."""
    return {name: narrow(column) for name, column in columns.items()} if _present(columns) else {}


def _present(columns: dict[str, Column]) -> dict[str, Column]:
    """Return the columns that hold more than "not known", as narrow as they can be."""
    return {name: narrow(column) for name, column in columns.items() if (column != MISSING).any()}


def _bytes(kilobytes: Column) -> Column:
    wide = kilobytes if kilobytes.dtype.kind == "f" else kilobytes.astype(np.int64)
    return np.where(kilobytes < 0, MISSING, wide * BYTES_PER_KB)


def _end_state(status: Column, run_s: Column) -> dict[str, Column]:
    """Return how each job ends by itself, unless all complete: failed (0), cancelled while running (5)."""
    states = np.full(len(status), END_STATES.index(JobState.COMPLETED), dtype=np.int8)
    states[status == FAILED] = END_STATES.index(JobState.FAILED)
    states[(status == CANCELLED) & (run_s > 0)] = END_STATES.index(JobState.CANCELLED)
    return {"end_state": states} if states.any() else {}


def _all(mask: NDArray[np.bool_], kept: NDArray[np.bool_]) -> bool:
    return bool(kept.any() and mask[kept].all())
