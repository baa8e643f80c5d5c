"""Make a scenario that breaks a rule small: fewer jobs first, then a smaller machine, then smaller numbers.

Hypothesis shrinks what it draws, number by number. Taking out whole jobs first is quicker, and
needs nothing of the search but the finished scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.testing.trial import Scenario
from hpcsim.testing.violation import Violation
from hpcsim.workload import Workload

SHRINKING_S = 5.0
"""Seconds after which the smallest find so far is good enough."""

_LEAST = {"submit_s": 0, "run_s": 0, "limit_s": 1, "nodes": 1, "user_id": 1}
"""Columns that are made smaller, and the smallest value of each."""


def smaller(violation: Violation, judge: Callable[[Scenario], Violation | None]) -> Violation:
    """Return the smallest violation that *judge* finds on scenarios made from that of *violation*."""
    ends_at_s = perf_counter() + SHRINKING_S
    is_done = False
    while not is_done:
        is_done = True
        assert violation.scenario is not None
        for candidate in _candidates(violation.scenario):
            if perf_counter() > ends_at_s:
                return violation
            found = judge(candidate)
            if found is not None:
                violation, is_done = found, False
                break
    return violation


def _candidates(scenario: Scenario) -> Iterator[Scenario]:
    """Yield smaller scenarios, those first that take away most."""
    workload, cluster = scenario
    yield from (Scenario(fewer, cluster) for fewer in _with_fewer_jobs(workload))
    for nodes in range(1, cluster.nodes):
        narrower = workload.columns | {"nodes": workload.columns["nodes"].clip(max=nodes)}
        yield Scenario(Workload(narrower), Cluster.of_nodes(nodes))
    yield from (Scenario(Workload(columns), cluster) for columns in _with_smaller_numbers(workload))


def _with_fewer_jobs(workload: Workload) -> Iterator[Workload]:
    """Yield the workload without some of its jobs, which are numbered anew."""
    rows = np.arange(len(workload))
    size = len(rows) // 2
    while size:
        for first in range(0, len(rows), size):
            kept = np.delete(rows, rows[first : first + size])
            columns = {name: column[kept] for name, column in workload.columns.items()}
            yield Workload(columns | {"job_id": np.arange(1, len(kept) + 1)})
        size //= 2


def _with_smaller_numbers(workload: Workload) -> Iterator[dict[str, np.ndarray]]:
    for name, least in _LEAST.items():
        column = workload.columns[name]
        for row in np.flatnonzero(column > least).tolist():
            value = column[row].item()
            for less in dict.fromkeys((least, (least + int(value)) // 2, int(value) - 1)):
                if least <= less < value:
                    yield workload.columns | {name: np.where(np.arange(len(column)) == row, less, column)}
