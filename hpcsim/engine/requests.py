"""What jobs of a workload may ask for and draw: a wrong value is one sentence before the run, not an error in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.workload import Workload

Column = NDArray[Any]

_SETS = {
    "partitions": (tuple, list),
    "features": (frozenset, set),
    "allowed_nodes": (tuple, list, range, np.ndarray),
}
_WATTS = ("power_w", "mean_power_w", "max_power_w")
_LEAST_OF_A_SHARE = {"cores_per_node": math.ulp(0.0), "gpus_per_node": 0, "memory_bytes_per_node": 0}


def check_requests(workload: Workload) -> None:
    """Refuse requests that no ledger could book.

    Raises:
        WorkloadError: names of partitions or features, or allowed node counts, are no collection; a job that may
            share nodes asks for no cores, or for GPUs or memory below 0.
    """
    columns = workload.columns
    for name, kinds in _SETS.items():
        if name in columns:
            is_wrong = [not isinstance(entry, kinds) for entry in columns[name].tolist()]
            _refuse(workload, name, is_wrong, f"Give each job a {kinds[0].__name__}, an empty one for any.")
    shares = columns.get("exclusive")
    if shares is None:
        return
    if shares.dtype.kind not in "biu":
        raise WorkloadError("The column 'exclusive' holds no booleans.", "Give True or False.", field="exclusive")
    for name, least in _LEAST_OF_A_SHARE.items():
        if name in columns:
            has_too_little = ~(_numbers(name, columns[name]) >= least) & ~shares.astype(bool)
            what = "cores above 0" if name == "cores_per_node" else "0 or more"
            _refuse(workload, name, has_too_little, f"A job that may share nodes needs {what}.")


def check_watts(workload: Workload) -> None:
    """Refuse watts that are infinite or below 0, but for -1: not known; and samples that are no such watts.

    Raises:
        WorkloadError: there are such watts, or samples that are not taken at steady steps.
    """
    columns = workload.columns
    for name in _WATTS:
        if name in columns:
            watts = _numbers(name, columns[name])
            is_wrong = np.isinf(watts) | ((watts < 0) & (watts != -1))
            _refuse(workload, name, is_wrong, "Give watts from 0, -1 or NaN where they are not known.")
    if "power_series_w" in columns:
        is_wrong = [not _is_series(entry) for entry in columns["power_series_w"].tolist()]
        _refuse(workload, "power_series_w", is_wrong, "Give each job a tuple of watts from 0, an empty one for none.")
        if "power_step_s" in columns:
            steps_s = _numbers("power_step_s", columns["power_step_s"])
            is_wrong = ~((steps_s > 0) & np.isfinite(steps_s)) & _is_filled(columns["power_series_w"])
            _refuse(workload, "power_step_s", is_wrong, "Give seconds above 0 between samples.")


def _numbers(name: str, column: Column) -> Column:
    if column.dtype.kind in "biuf":
        return column
    if all(isinstance(value, Real) for value in column.tolist()):
        return column.astype(np.float64)
    raise WorkloadError(f"The workload's column '{name}' holds no numbers.", "Give numbers.", field=name)


def _is_series(entry: Any) -> bool:
    if entry is None:
        return True
    if isinstance(entry, str) or not isinstance(entry, Sequence | np.ndarray):
        return False
    samples = np.asarray(entry)
    return not samples.size or (samples.dtype.kind in "iuf" and bool(np.all((samples >= 0) & (samples < math.inf))))


def _is_filled(series: Column) -> Column:
    return np.array([entry is not None and len(entry) > 0 for entry in series.tolist()], dtype=bool)


def _refuse(workload: Workload, name: str, is_wrong: Any, remedy: str) -> None:
    wrong = np.flatnonzero(is_wrong)
    if len(wrong):
        job_id, value = workload.columns["job_id"][wrong[0]], workload.columns[name].tolist()[wrong[0]]
        text = " ".join(repr(value).split())
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        raise WorkloadError(f"Job {job_id} has {name} = {shown}.", remedy, field=name)
