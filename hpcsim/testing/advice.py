"""Does a result keep to what advice may do? By its tables, the workload and the laws, without the engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.advisor import REASONS
from hpcsim.job import Job
from hpcsim.scaling import has_truth, true_run_s
from hpcsim.speedup import SpeedUp
from hpcsim.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

Column = NDArray[Any]


def requested(jobs: pd.DataFrame, name: str) -> Column:
    """Return ``nodes`` or ``limit_s`` of each job as its user asked for it."""
    column = f"requested_{name}"
    asked: Column = jobs[column if column in jobs else name].to_numpy()
    return asked


def effective_jobs(jobs: pd.DataFrame, workload: Workload) -> Iterator[Job]:
    """Yield the jobs as they were queued."""
    asked = workload.jobs(jobs["row"].to_numpy(dtype=np.int64))
    for job, nodes, limit_s in zip(asked, jobs["nodes"].tolist(), jobs["limit_s"].tolist(), strict=True):
        yield job if (nodes, limit_s) == (job.nodes, job.limit_s) else job.advised(nodes, limit_s)


def effective_run_s(jobs: pd.DataFrame, workload: Workload, scaling: SpeedUp | None) -> Column:
    """Return the run times of the jobs at the node counts at which they ran; NaN where nobody knows them."""
    rows = jobs["row"].to_numpy(dtype=np.int64)
    run_s: Column = workload.columns["run_s"][rows].astype(float)
    nodes, asked = jobs["nodes"].to_numpy(), workload.columns["nodes"][rows]
    moved = np.flatnonzero(nodes != asked)
    if len(moved) and has_truth(workload):
        run_s[moved] = true_run_s(workload, rows[moved], nodes[moved])
    elif len(moved):
        known = scaling is not None
        run_s[moved] *= scaling.speed_up(asked[moved]) / scaling.speed_up(nodes[moved]) if known else np.nan  # type: ignore[union-attr]
    return run_s


def advice_faults(jobs: pd.DataFrame, workload: Workload) -> Iterator[tuple[Column, str]]:
    """Yield which of *jobs*, all of the workload, break a rule of advice, and how."""
    if "advice" not in jobs:
        return
    reason = jobs["advice"].astype(str).to_numpy()
    nodes, asked = jobs["nodes"].to_numpy(), requested(jobs, "nodes")
    changed = (nodes != asked) | (jobs["limit_s"].to_numpy() != requested(jobs, "limit_s"))
    yield ~np.isin(reason, REASONS), "was submitted and has no reason of advice"
    yield changed & (reason != "advised"), "was changed and was not advised"
    allowed = workload.known("allowed_nodes", jobs["row"].to_numpy()) or [()] * len(jobs)
    is_foreign = [n != a and n not in counts for n, a, counts in zip(nodes, asked, allowed, strict=True)]
    yield np.array(is_foreign, dtype=bool), "runs on a node count that it does not allow"
