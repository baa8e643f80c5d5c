"""How a transformation writes itself down: as a call that a person can read and repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.workload import Workload
from hpcsim.workloads.models.arguments import check_whole


def call(name: str, /, **parameters: Any) -> str:
    """Return ``name(key=value, ...)``."""
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in parameters.items())})"


def changed(workload: Workload, columns: dict[str, NDArray[Any]], note: str) -> Workload:
    """Return the same jobs with some *columns* replaced or added; *note* goes into the provenance."""
    result = workload.select(np.arange(len(workload)), note)
    return Workload(
        result.columns | columns,
        machine_nodes=result.machine_nodes,
        counted=result.counted,
        limits_are_run_times=result.limits_are_run_times,
        header=result.header,
        provenance=result.provenance,
        ledger=result.ledger,
    )


def machine_size(workload: Workload, nodes: int | None) -> int:
    """Return *nodes*, else the size of the log's own machine.

    Raises:
        WorkloadError: neither is known.
    """
    if nodes is not None:
        check_whole("nodes", nodes)
    size = nodes if nodes is not None else workload.machine_nodes
    if size is None:
        raise WorkloadError("It takes the size of the machine, which the log does not say.", "Give nodes of 1 or more.")
    return size


def check_jobs(workload: Workload, what: str) -> None:
    """Refuse a workload without jobs.

    Raises:
        WorkloadError: there is none.
    """
    if not len(workload):
        raise WorkloadError(f"There are no jobs to {what}.", "Check the file, or the transformation before this one.")


def needs(workload: Workload, column: str, why: str) -> NDArray[Any]:
    """Return a column that a transformation cannot do without.

    Raises:
        WorkloadError: the workload has none.
    """
    if column not in workload.columns:
        raise WorkloadError(f"This workload has no column '{column}', which {why}.", "Use a log that has it.")
    return workload.columns[column]
