"""Columns that stand in for the node count: change the count and they have to change with it.

A log says how many cores, tasks, GPUs and bytes a job got in all: multiples of its nodes. To a model
they *are* the node count. Left as recorded while the count is varied, they tell it the old count, and
its prediction is the same at every count. So whoever asks "what if this job had n nodes?" moves them.

What else misleads about other counts, and what to do about it:

* Users choose the count by the size of the job and by habit, so a log's counts are confounded with
  work. A fit of run time on count answers "how long do jobs of people who ask for n take?", not "how
  long would this job take on n?". Fit shapes within an application, or on jobs whose count was drawn.
* The limit is a proxy of the run time *at the user's count*. It may say how long the job takes there;
  it must not help to fit how that changes with the count.
* Requested node-seconds (count x limit) hold both.
* Run time, end, state, power series and whatever is derived from them are unknown at submission. They
  may serve only as history of jobs that had ended by then.
* Limits have to be moved with the count too: kept while a job is narrowed they kill it.
* Jobs that were killed or failed say little about the work: look at states before fitting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Columns = Mapping[str, NDArray[Any]]

PROXIES = (
    "cores_requested",
    "cores_allocated",
    "tasks",
    "gpus_requested",
    "gpus_allocated",
    "memory_requested_bytes",
    "memory_allocated_bytes",
)
"""Columns of a `Workload` that are a job's totals over its nodes."""

TABLE_PROXIES = (
    "num_nodes_req",
    "num_nodes_alloc",
    "num_cores_req",
    "num_cores_alloc",
    "num_tasks",
    "num_gpus_req",
    "num_gpus_alloc",
    "mem_req",
    "mem_alloc",
)
"""The same in a job table as PM100's and Adastra's, by its own names."""


def moved(columns: Columns, nodes: ArrayLike, *, asked: str = "nodes") -> dict[str, NDArray[Any]]:
    """Return the columns of J jobs as they would stand had the jobs *nodes* [J] nodes each.

    Every proxy present is scaled by new over old count and rounded to a whole number where it was
    one; *asked* (the count itself) becomes *nodes*. Other columns are returned as they are.

    Args:
        columns: name -> array [J]; *asked* among them.
        nodes: the new counts, 1 or more each.
        asked: column with the old counts, ``num_nodes_alloc`` in a job table.
    """
    old = columns[asked]
    new = np.broadcast_to(np.asarray(nodes), old.shape)
    result = dict(columns)
    for name in (*PROXIES, *TABLE_PROXIES):
        if name in columns and name != asked:
            result[name] = _scaled(columns[name], new / old)
    result[asked] = new.astype(old.dtype)
    return result


def _scaled(column: NDArray[Any], ratio: NDArray[np.float64]) -> NDArray[Any]:
    scaled = column * ratio
    return scaled if column.dtype.kind == "f" else np.maximum(np.rint(scaled), column > 0).astype(column.dtype)
