"""Parts of a workload: what an experiment's windows mean."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hpcsim.errors import WorkloadError
from hpcsim.workload import Workload


def cut(workload: Workload, window: Mapping[str, Any]) -> Workload:
    """Return a window of *workload*, its jobs in their order.

    *window* has ``skip`` and ``jobs`` (positions by order of arrival), or ``from_s`` and ``until_s``
    (submit times, the second one excluded); None stands for no bound.

    Raises:
        WorkloadError: no job is in it.
    """
    from_s, until_s = window.get("from_s"), window.get("until_s")
    submit_s = workload.columns["submit_s"]
    if from_s is not None or until_s is not None:
        low_s, high_s = -math.inf if from_s is None else from_s, math.inf if until_s is None else until_s
        rows = np.flatnonzero((submit_s >= low_s) & (submit_s < high_s))
        note = f"submitted from {low_s:g} s until {high_s:g} s"
    else:
        skip, jobs = window.get("skip", 0), window.get("jobs")
        rows = np.sort(workload.arrival_order()[skip : None if jobs is None else skip + jobs])
        note = f"jobs {skip + 1} to {skip + len(rows)} by arrival"
    if not len(rows):
        raise WorkloadError(f"The workload has no job in the window ({note}).", "Move the window.")
    return workload.select(rows, note)
