"""When and where a generated log's jobs ran, for tables that have to say so: first come, first served."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from hpcsim.workload import Workload

Ints = NDArray[np.int64]


def recorded_run_s(workload: Workload) -> Ints:
    """Return run times in seconds as a log records them: cut at the limit."""
    return np.asarray(np.minimum(workload.columns["run_s"], workload.columns["limit_s"]).astype(np.int64))


def schedule(workload: Workload, nodes: int) -> tuple[Ints, list[list[int]]]:
    """Return start times [J] and the node ids of each job, ascending; no node serves two jobs at once.

    In order of arrival each job takes the nodes that have been free the longest, and starts when the
    last of them is free. That is no scheduler's policy; it only makes a consistent record, quickly.
    """
    free = [(0, node) for node in range(nodes)]
    heapify(free)
    start_s = np.zeros(len(workload), dtype=np.int64)
    held: list[list[int]] = [[]] * len(workload)
    runs, submits = recorded_run_s(workload).tolist(), workload.columns["submit_s"].tolist()
    widths = workload.columns["nodes"].tolist()
    for row in workload.arrival_order().tolist():
        taken = [heappop(free) for _ in range(widths[row])]
        start = max(submits[row], taken[-1][0])
        for _, node in taken:
            heappush(free, (start + runs[row], node))
        start_s[row] = start
        held[row] = sorted(node for _, node in taken)
    return start_s, held
