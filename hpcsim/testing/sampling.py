"""Scenarios that every examination shares: the edges of what a policy meets, and a few dozen ordinary ones."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from types import MappingProxyType

from hpcsim.cluster import Cluster
from hpcsim.testing.trial import Scenario
from hpcsim.workload import Workload

SAMPLES = 24

Row = tuple[int, int, int, int]
"""(submit, run time, limit, nodes), times in seconds."""

EDGES = MappingProxyType(
    {
        "one-job": ((2, [(0, 1, 1, 1)]), (4, [(7, 5, 9, 3)]), (3, [(2, 9, 4, 2)]), (2, [(0, 0, 5, 1)])),
        "widest-job": (
            (1, [(0, 1, 1, 1)]),
            (4, [(0, 3, 5, 4)]),
            (4, [(0, 3, 5, 1), (1, 2, 2, 4), (2, 1, 1, 1)]),
            (3, [(0, 5, 5, 3), (1, 4, 6, 3)]),
        ),
        "equal-submits": (
            (4, [(0, 1, 1, 1), (0, 1, 1, 1)]),
            (4, [(3, 5, 5, 2)] * 4),
            (5, [(4, 4, 6, 1), (4, 2, 3, 4)]),
        ),
    }
)
"""Name of the check -> (nodes of the machine, jobs), the smallest first."""


@cache
def edges(name: str) -> tuple[Scenario, ...]:
    """Return the scenarios of one edge."""
    return tuple(scenario_of(nodes, rows) for nodes, rows in EDGES[name])


@cache
def samples() -> tuple[Scenario, ...]:
    """Return ordinary scenarios, the same ones each time, the smallest first."""
    rng = random.Random(1)  # noqa: S311 - nothing secret about it
    return tuple(sorted((_sample(rng, 2 + number // 2) for number in range(SAMPLES)), key=lambda each: each.size))


def scenario_of(nodes: int, rows: Sequence[Row]) -> Scenario:
    """Return the scenario of jobs on a machine of *nodes* nodes."""
    submit_s, run_s, limit_s, widths = zip(*rows, strict=True) if rows else ((),) * 4
    users = [1 + place % 3 for place in range(len(rows))]
    workload = Workload.of(submit_s=submit_s, run_s=run_s, limit_s=limit_s, nodes=widths, user_id=users)
    return Scenario(workload, Cluster.of_nodes(nodes))


def _sample(rng: random.Random, jobs: int) -> Scenario:
    nodes = rng.randint(2, 8)
    return scenario_of(
        nodes,
        [(rng.randint(0, 20), rng.randint(0, 12), rng.randint(1, 12), rng.randint(1, nodes)) for _ in range(jobs)],
    )
