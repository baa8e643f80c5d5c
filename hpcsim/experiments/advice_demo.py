"""What does advice on node counts change? Three policies with the users' own counts and with advised ones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hpcsim import registry
from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.experiments.demo import Demo
from hpcsim.experiments.side_by_side import Watch, run_policies, unwatched
from hpcsim.power import NodePower
from hpcsim.results.result import Result

POLICIES = ("fcfs", "easy", "ppo-gtrxl")
ADVISED = ", advised"
"""What follows a policy's name in the label of its run with advice."""

NODES, LOAD, DAY_S = 64, 0.9, 86_400.0
EARLIER = 2_000
"""Finished jobs that the advisor learns from."""

MARGIN = 0.3
"""One law for all jobs knows nothing of its own errors, so that its upper bounds grow away from the request."""


def run_advice_demo(*, jobs: int, seed: int = 0, watch: Watch = unwatched) -> Demo:
    """Run FCFS, EASY and PPO-GTrXL on *jobs* moldable jobs, each without and with advice by a fitted scaling law.

    The law is learned from `EARLIER` jobs that came before; nothing beyond NumPy and pandas is needed.
    """
    log = registry.make(
        "models", "synth-pm100", jobs=jobs + EARLIER, nodes=NODES, load=LOAD, preset="habit-driven", seed=seed
    )
    order = log.arrival_order()
    before = log.select(np.sort(order[:EARLIER]), "the jobs before")
    now = log.select(np.sort(order[EARLIER:]), "moldable jobs")
    cluster = Cluster(
        name="demo",
        groups=(NodeGroup(nodes=NODES, power=NodePower(idle_w=400, busy_w=1_700)),),
        partitions=(Partition(name="batch", groups=("nodes",), max_limit_s=DAY_S),),
    )
    advisor = registry.make("advisors", "advisor", surrogate="scaling-law", history=before, margin=MARGIN).learn()
    results: dict[str, Result] = {}
    for name in POLICIES:
        for label, by in ((name, None), (f"{name}{ADVISED}", advisor)):
            policies = {label: registry.make("policies", name)}
            results |= dict(run_policies(now, cluster, policies, watch=watch, seed=seed, advisor=by))
    return Demo(now, cluster, results)


def by_policy(results: Mapping[str, Result]) -> list[dict[str, Result]]:
    """Return for each policy its result without advice and then that with it: what advice changes, not the policy."""
    return [{label: results[label] for label in (name, f"{name}{ADVISED}")} for name in POLICIES]
