"""What boots do to promises: one that is missed does not hold up the run, and no boot delays a reserved job."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hpcsim import Cluster, Workload, simulate
from hpcsim.cluster import NodeGroup
from hpcsim.policies import Backfill
from hpcsim.power import CapStep, NodePower
from tests.schedules import jobs, starts

THIN = NodePower(idle_w=100, busy_w=250, off_w=5, boot_w=180, boot_s=2, shutdown_s=1, idle_timeout_s=0)
GPU = NodePower(idle_w=200, busy_w=900, off_w=10, boot_w=300, boot_s=3, shutdown_s=2, idle_timeout_s=0)


def test_conservative_plans_anew_where_nodes_are_switched_off_under_a_cap() -> None:
    """The job for two GPU nodes is due when the cap is lifted, and its nodes are not what they were planned to be."""
    cluster = Cluster(
        groups=(
            NodeGroup(name="thin", nodes=3, power=THIN),
            NodeGroup(name="fat", nodes=2, power=THIN),
            NodeGroup(name="gpu", nodes=2, gpus=2, power=GPU),
        ),
        power_cap_steps=(CapStep(from_s=1, power_cap_w=1900), CapStep(from_s=7, power_cap_w=math.inf)),
    )
    workload = Workload.of(
        submit_s=[0] * 7,
        run_s=[0] * 7,
        limit_s=[1] * 7,
        nodes=[1, 1, 1, 1, 1, 2, 1],
        gpus_per_node=[0, 0, 0, 0, 0, 1, 0],
    )
    jobs = simulate(workload, cluster, "conservative", check=True).jobs
    assert (jobs["state"] == "COMPLETED").all()
    assert jobs["start_s"].max() <= 10


@pytest.mark.parametrize("reservations", [1, 2, "all"])
@pytest.mark.parametrize("power_cap_w", [math.inf, 5000])
def test_a_job_whose_nodes_boot_is_planned_to_end_that_much_later(reservations: Any, power_cap_w: float) -> None:
    """Nodes 0-1 work until 100; node 2 is off and boots 5 s. h wants all three and gets them at 100, to boot till 105.
    b, of 48 s at 51, would hold node 2 until 104 and waits; c, of 43 s at 52, is gone at 100, so no boot is left."""
    power = NodePower(idle_w=100, busy_w=300, boot_w=200, boot_s=5, shutdown_s=3, idle_timeout_s=10)
    cluster = Cluster(groups=(NodeGroup(nodes=3, power=power),), power_cap_w=power_cap_w)
    policy = Backfill(reservations=reservations)
    common = "a 0 100 100 2\n h 50 10 10 3\n b 51 48 48 1"
    assert starts(jobs(common), cluster, policy) == {"a": 0, "h": 105, "b": 115}
    assert starts(jobs(common + "\n c 52 43 43 1"), cluster, policy) == {"a": 0, "h": 100, "b": 110, "c": 57}
