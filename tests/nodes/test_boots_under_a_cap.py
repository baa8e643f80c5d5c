"""Nodes that boot, or shut down, under a power cap: hand-worked watts, also where a job is cancelled meanwhile."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hpcsim.cluster import Cluster, NodeGroup
from hpcsim.engine.columns import RunColumns
from hpcsim.power import NodePower
from hpcsim.workload import Workload
from tests.nodes.test_any_machine import most_above_the_cap
from tests.nodes.test_energy import energy
from tests.schedules import jobs, outcomes, simulation

NODE = NodePower(idle_w=100, busy_w=300, boot_w=0, boot_s=10, idle_timeout_s=5)


def run_with_a_cancel(at_s: float, workload: Workload, cluster: Cluster, books: Any = None) -> RunColumns:
    """Run, and cancel the first of the jobs that run at *at_s*."""
    sim = simulation(workload, cluster, "easy", books=books)

    def cancel() -> Any:
        yield sim.env.timeout(at_s)
        sim.cancel(next(iter(sim.system.running)).job)

    sim.env.process(cancel())
    sim.run()
    return sim.finish()


def test_nodes_that_boot_for_a_cancelled_job_count_as_idle_ones() -> None:
    """All are off. b wants nodes 0-1 at 20 and is cancelled at 21; they boot on without a watt, idle at 200 W from 30
    and are off at 35. c (500 W) and d (400 W) want the others under 900 W: d must wait for those 200 W, and boots 10 s.
    """
    cluster = Cluster(
        groups=(NodeGroup(name="a", nodes=2, power=NODE), NodeGroup(name="b", nodes=4, gpus=1, power=NODE)),
        power_cap_w=900,
    )
    workload = Workload.of(
        submit_s=[0, 20, 22, 22],
        run_s=[1, 50, 50, 50],
        nodes=[1, 2, 2, 2],
        gpus_per_node=[0, 0, 1, 1],
        power_w=[-1.0, 500.0, 500.0, 400.0],
    )
    for books in ("nodes", "shared"):
        columns = run_with_a_cancel(21, workload, cluster, books)
        assert most_above_the_cap(columns, cluster) <= 0
        assert list(columns.attempt_start_s) == [0, 21, 32, 45]


def test_a_node_that_nobody_wants_any_more_shuts_down_and_stays_off() -> None:
    """It shuts down 6-16, is wanted at 8, and no more from 9 on: off until 30, when c wants it, and on at 40."""
    cluster = Cluster(groups=(NodeGroup(nodes=1, power=replace(NODE, boot_w=150, shutdown_s=10)),))
    columns = run_with_a_cancel(9, jobs("a 0 1 1 1\n b 8 5 5 1\n c 30 1 1 1"), cluster)
    assert list(columns.attempt_start_s) == [0, 9, 40]
    assert energy(columns) == {"jobs": 600, "idle": 1500, "boot": 1500, "off": 0}


def test_a_job_is_not_rejected_for_a_boot_that_the_cap_allows() -> None:
    """Of two nodes of 100 W one boots at 350 W: 450 W beside the other. Under 450 W a job may, under 449 W never."""
    for cap_w, expected in ((450, (30, "")), (449, (math.nan, "needs 450 W with all other nodes idle"))):
        cluster = Cluster(groups=(NodeGroup(nodes=2, power=replace(NODE, boot_w=350)),), power_cap_w=cap_w)
        found = outcomes(jobs("a 0 1 1 1\n b 20 1 1 1"), cluster, "easy")["b"]
        assert found.reason.startswith(expected[1])
        assert found.start_s == pytest.approx(expected[0], nan_ok=True)


def test_a_shared_job_may_boot_a_node_that_the_cap_allows() -> None:
    """A quarter of a node of 100 to 300 W adds 50 W, its boot at 350 W takes 250 W more than idling: 400 W in all."""
    for cap_w, reason in ((400, ""), (399, "needs 400 W with all other nodes idle, the power cap is 399 W")):
        cluster = Cluster(groups=(NodeGroup(nodes=1, cores=4, power=replace(NODE, boot_w=350)),), power_cap_w=cap_w)
        workload = jobs("a 0 1 1 1\n b 20 5 5 1\n c 20 5 5 1")
        shared = Workload(workload.columns | {"exclusive": np.zeros(len(workload), dtype=bool)})
        found = outcomes(shared, cluster, "fcfs")
        assert found["b"].reason == found["c"].reason == reason
        if not reason:
            assert (found["b"].start_s, found["c"].start_s) == (30, 30)
