"""Placements by hand, through the engine, and one that knows a topology."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hpcsim.cluster import Cluster
from hpcsim.job import Job
from hpcsim.placement import Placement
from hpcsim.registry import make, names
from tests.schedules import gantt, jobs, outcomes

FREE = [(0, 1), (4, 9), (12, 14), (16, 16)]


@pytest.mark.parametrize(
    ("name", "nodes", "expected"),
    [
        ("first-fit", 3, [(0, 1), (4, 4)]),
        ("best-fit", 3, [(12, 14)]),  # the tightest block
        ("contiguous", 3, [(4, 6)]),  # the first block
        ("best-fit", 1, [(16, 16)]),
        ("contiguous", 1, [(0, 0)]),
        ("best-fit", 7, [(16, 16), (0, 1), (12, 14), (4, 4)]),  # no block: the small ones are used up
        ("contiguous", 7, [(4, 9), (12, 12)]),  # no block: as few as possible
        ("first-fit", 12, FREE),
    ],
)
def test_choice(name: str, nodes: int, expected: list[Any]) -> None:
    job = Job(row=0, job_id=1, submit_s=0, nodes=nodes)
    assert make("placements", name).place(job, FREE, Cluster.of_nodes(20)) == expected


def test_first_fit_is_what_a_run_without_placement_does() -> None:
    workload = jobs("a 0 5 5 2\n b 0 9 9 3\n c 1 9 9 1\n d 6 9 9 3\n e 10 9 9 4")
    assert gantt(workload, 8, "easy", placement=make("placements", "first-fit")) == gantt(workload, 8, "easy")


@pytest.mark.parametrize("name", names("placements"))
def test_placement_serves_whole_runs(name: str) -> None:
    """Whatever it chooses, the schedule is the same, for nodes are alike; the checker watches the ids."""
    lines = [f"j{i} {i} {5 + 7 * i % 11} 20 {1 + 5 * i % 8}" for i in range(60)]
    workload = jobs("\n".join(lines))
    placed = outcomes(workload, 8, "easy", placement=make("placements", name))
    plain = outcomes(workload, 8, "easy")
    assert {key: job.start_s for key, job in placed.items()} == {key: job.start_s for key, job in plain.items()}


def test_random_nodes_are_the_seeds_and_evenly_spread() -> None:
    workload = jobs("\n".join(f"j{i} {2 * i} 1 1 1" for i in range(800)))
    first = gantt(workload, 8, "fcfs", placement=make("placements", "random"), seed=1)
    assert first == gantt(workload, 8, "fcfs", placement=make("placements", "random"), seed=1)
    assert first != gantt(workload, 8, "fcfs", placement=make("placements", "random"), seed=2)
    counts = np.bincount([int(node_ids) for _, _, node_ids in first], minlength=8)
    assert counts.min() > 60  # 100 expected, standard deviation 9
    assert counts.max() < 140


class OneSwitch(Placement):
    """All nodes under one switch if any has enough free, else as they come: the interface of topology-aware ones."""

    nodes_per_switch: int = 4

    def reset(self, cluster: Any, rng: Any) -> None:
        """Look up the topology once, here that of equal switches."""
        self.switch_of = [node // self.nodes_per_switch for node in range(cluster.nodes)]

    def place(self, job: Any, free: Any, cluster: Any) -> Any:
        """Take the switch with the fewest free nodes that still suffice."""
        ids = [node for low, high in free for node in range(low, high + 1)]
        under: dict[int, list[int]] = {}
        for node in ids:
            under.setdefault(self.switch_of[node], []).append(node)
        enough = [nodes for nodes in under.values() if len(nodes) >= job.nodes]
        chosen = min(enough, key=len) if enough else ids
        return [(node, node) for node in chosen[: job.nodes]]


def test_a_placement_can_know_the_topology() -> None:
    """a takes switch 0 but for node 3; b, of 2 nodes, goes under switch 1 instead of across; c takes the node left."""
    workload = jobs("a 0 9 9 3\n b 0 9 9 2\n c 0 9 9 1")
    placed = gantt(workload, 8, "fcfs", placement=OneSwitch())
    assert placed == [("a", 0, "0,1,2"), ("b", 0, "4,5"), ("c", 0, "3")]
