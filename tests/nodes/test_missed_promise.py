"""A promise that a boot or a shutdown keeps from being met does not hold up the run."""

from __future__ import annotations

import math

from hpcsim import Cluster, Workload, simulate
from hpcsim.cluster import NodeGroup
from hpcsim.power import CapStep, NodePower

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
