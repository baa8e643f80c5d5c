"""What does backfilling buy? And a network? Four policies on a generated workload that needs no file."""

from __future__ import annotations

from dataclasses import dataclass

from hpcsim import registry
from hpcsim.cluster import Cluster
from hpcsim.experiments.side_by_side import Watch, run_policies, unwatched
from hpcsim.results.result import Result
from hpcsim.workload import Workload

POLICIES = ("fcfs", "easy", "conservative", "ppo-gtrxl")
NODES = 128
LOAD = 0.6
"""Offered load: high enough for a queue, and low enough for FCFS to keep up with the arrivals."""


@dataclass(frozen=True, slots=True)
class Demo:
    """What was run, and what came out, by policy name in the order of `POLICIES`."""

    workload: Workload
    cluster: Cluster
    results: dict[str, Result]


def run_demo(*, jobs: int = 5_000, seed: int = 0, watch: Watch = unwatched) -> Demo:
    """Run FCFS, EASY, conservative backfilling and PPO-GTrXL on *jobs* generated jobs and `NODES` nodes."""
    workload = registry.make("models", "poisson", jobs=jobs, nodes=NODES, load=LOAD, seed=seed)
    cluster = Cluster.of_nodes(NODES, name="demo")
    policies = {name: registry.make("policies", name) for name in POLICIES}
    return Demo(workload, cluster, dict(run_policies(workload, cluster, policies, watch=watch, seed=seed)))
