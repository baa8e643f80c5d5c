"""Several logs on one machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.ingest import IngestLedger
from hpcsim.workload import Workload
from hpcsim.workloads.transformations.record import call

WHO = ("user_id", "group_id", "app_id")


def merge(*workloads: Workload, nodes: int | None = None) -> Workload:
    """Return the jobs of all *workloads*, by submit time on one clock, as one log.

    Each log's clock begins at its first submit. Columns that not all have are dropped; jobs are
    numbered from 1; whole-number ids of users, groups and applications are kept apart by an offset,
    as two logs' user 7 are two people. Dependencies between jobs are dropped.

    Args:
        workloads: two or more, which all count nodes or all count processors.
        nodes: of the machine; default the largest of theirs.

    Raises:
        WorkloadError: fewer than two, or they count different things.
    """
    if len(workloads) < 2:
        raise WorkloadError("Merging takes two workloads or more.", "Give another one.")
    counted = {workload.counted for workload in workloads}
    if len(counted) > 1:
        raise WorkloadError("Some of the logs count nodes, others processors.", "Merge logs that count the same.")
    columns = _joined(workloads)
    order = np.argsort(columns["submit_s"], kind="stable")
    columns = {name: column[order] for name, column in columns.items()}
    columns["job_id"] = np.arange(1, len(order) + 1)
    sizes = [workload.machine_nodes for workload in workloads if workload.machine_nodes is not None]
    return Workload(
        columns,
        machine_nodes=nodes if nodes is not None else max(sizes, default=None),
        counted=counted.pop(),
        limits_are_run_times=all(workload.limits_are_run_times for workload in workloads),
        provenance={
            "merged": [workload.provenance for workload in workloads],
            "transformations": [call("merge", nodes=nodes)],
        },
        ledger=IngestLedger(source="merged", format="merged", rows=len(order)),
    )


def _joined(workloads: tuple[Workload, ...]) -> dict[str, NDArray[Any]]:
    names = set.intersection(*(set(workload.columns) for workload in workloads))
    names -= {"preceding_job_id", "think_s", "after"}
    columns: dict[str, NDArray[Any]] = {}
    for name in (name for name in workloads[0].columns if name in names):
        parts = [workload.columns[name] for workload in workloads]
        if name == "submit_s":
            parts = [part - part.min() if len(part) else part for part in parts]
        elif name in WHO and all(part.dtype.kind in "iu" for part in parts):
            parts = _apart(parts)
        columns[name] = np.concatenate(parts)
    return columns


def _apart(parts: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return ids of several logs such that no two logs share one; negative ones stay: "not known"."""
    offset = 0
    result = []
    for part in parts:
        result.append(np.where(part < 0, part, part.astype(np.int64) + offset))
        offset += int(part.max(initial=-1)) + 1
    return result
