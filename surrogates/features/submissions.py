"""What was known of jobs when they were submitted, as plain arrays, from a workload or from `Job` objects."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.job import Job
from hpcsim.workload import Workload

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

DAY_S = 86_400
TOTALS = {
    "cores_per_node": "cores_requested",
    "tasks_per_node": "tasks",
    "gpus_per_node": "gpus_requested",
    "memory_per_node_bytes": "memory_requested_bytes",
}
"""What a node is asked for, and the column of a workload that holds it times the nodes."""

OWN_NAMES = {"memory_per_node_bytes": "memory_bytes_per_node"}
"""Where a field of `Job` has another name than the feature."""

STEM = re.compile(r"[a-z]+")


def submissions(source: Workload | Sequence[Job], rows: Rows | None = None) -> dict[str, Floats]:
    """Return one array an attribute for the jobs of *source* (for a workload: of its *rows*, default all)."""
    if isinstance(source, Workload):
        return _of_workload(source, np.arange(len(source)) if rows is None else np.asarray(rows, dtype=np.int64))
    return _of_jobs(source)


def _of_workload(workload: Workload, rows: Rows) -> dict[str, Floats]:
    columns = workload.columns
    nodes = columns["nodes"][rows].astype(float)
    submit_s = columns["submit_s"][rows].astype(float)
    start_s = float(workload.provenance.get("unix_start_s") or 0.0)
    result = {
        "row": rows.astype(float),
        "submit_s": submit_s,
        "nodes": nodes,
        "limit_s": _floats(columns["limit_s"][rows]),
    }
    result |= _clock(submit_s + start_s)
    if workload.limits_are_run_times:  # nobody asked for them, and they would give the run time away
        result["limit_s"] = np.full(len(rows), np.nan)
    for feature, total in TOTALS.items():
        own = OWN_NAMES.get(feature, feature)
        if total in columns:
            result[feature] = _floats(columns[total][rows]) / nodes
        else:
            result[feature] = _floats(columns[own][rows]) if own in columns else np.full(len(rows), np.nan)
    for name in ("user_id", "group_id"):
        result[name] = numbers(columns[name][rows]) if name in columns else np.full(len(rows), -1.0)
    result["app_id"] = _apps(columns, rows, result)
    allowed = columns["allowed_nodes"][rows].tolist() if "allowed_nodes" in columns else [()] * len(rows)
    return result | _ends(allowed, nodes)


def _of_jobs(jobs: Sequence[Job]) -> dict[str, Floats]:
    asked = [job.requested or job for job in jobs]
    result = {name: _floats([getattr(job, name) for job in asked]) for name in ("row", "submit_s", "nodes", "limit_s")}
    result |= _clock(result["submit_s"])
    for feature in TOTALS:
        own = OWN_NAMES.get(feature, feature)
        result[feature] = _floats([getattr(job, own, np.nan) for job in asked])
    for name in ("user_id", "group_id"):
        result[name] = numbers([getattr(job, name) for job in asked])
    names = {name: np.array([getattr(job, name) for job in asked], dtype=object) for name in ("app_id", "name")}
    result["app_id"] = _apps(names, np.arange(len(asked)), result)
    return result | _ends([job.allowed_nodes for job in asked], result["nodes"])


def _clock(time_s: Floats) -> dict[str, Floats]:
    return {"submit_hour": time_s % DAY_S / 3600, "submit_weekday": time_s // DAY_S % 7}


def _ends(allowed: Iterable[tuple[int, ...]], nodes: Floats) -> dict[str, Floats]:
    ends = [
        (min(counts), max(counts)) if counts else (asked, asked) for counts, asked in zip(allowed, nodes, strict=True)
    ]
    pairs = np.array(ends, dtype=float).reshape(-1, 2)
    return {"least_nodes": pairs[:, 0], "most_nodes": pairs[:, 1]}


def _apps(columns: Any, rows: Rows, known: dict[str, Floats]) -> Floats:
    """Return the application of each job: as logged, else by the stem of its name, else by who asks for what a node."""
    if "app_id" in columns:
        app = numbers(columns["app_id"][rows])
        if np.any(app >= 0):
            return app
    if "name" in columns:
        stems = [stem(name) for name in columns["name"][rows].tolist()]
        if any(stem is not None for stem in stems):
            return numbers(stems)
    request = zip(*(np.nan_to_num(known[name], nan=-1.0).tolist() for name in ("user_id", *TOTALS)), strict=True)
    return numbers([repr(what) for what in request])


def stem(name: Any) -> str | None:
    """Return the first run of letters of a job's *name*: ``run_042.sh`` and ``run_043.sh`` are one application."""
    found = STEM.search(str(name).lower()) if name is not None else None
    return found.group() if found else None


def numbers(values: Any) -> Floats:
    """Return identifiers as numbers: numbers as they are, text by its CRC-32, what is not known as -1."""
    column = np.asarray(values)
    if column.dtype.kind in "iuf":
        return np.asarray(np.nan_to_num(column.astype(float), nan=-1.0))
    return np.array([number(value) for value in column.tolist()], dtype=float)


def number(value: Any) -> float:
    """Return one identifier as a number, see `numbers`."""
    if value is None or value != value:  # noqa: PLR0124 - NaN alone differs
        return -1.0
    return float(value) if isinstance(value, int | float) else float(zlib.crc32(str(value).encode()))


def _floats(values: Any) -> Floats:
    return np.asarray(values, dtype=np.float64)
