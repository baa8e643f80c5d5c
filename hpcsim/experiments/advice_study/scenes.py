"""The jobs and machines of the study, and advisors that have learned from the jobs before."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from hpcsim import registry
from hpcsim.advisor import Advisor
from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.experiments.advice_study.plan import USERS, Arm, Scenario
from hpcsim.power import NodePower, Tariff
from hpcsim.workload import Workload

IDLE_W, BUSY_W = 400.0, 1_700.0
DAY_S = 86_400.0
DEAR_HOURS = range(8, 20)
TARIFF = Tariff(
    price_per_kwh=tuple(0.30 if hour in DEAR_HOURS else 0.18 for hour in range(24)),
    co2_kg_per_kwh=tuple(0.42 if hour in DEAR_HOURS else 0.30 for hour in range(24)),
)
"""Money and carbon of a kilowatt-hour: dear and dirty by day, cheaper and cleaner by night."""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """The jobs of one scenario and seed: *before* has finished when *jobs* begin to arrive."""

    before: Workload
    jobs: Workload
    machine: Cluster


@lru_cache(maxsize=2)
def scene(scenario: Scenario, seed: int, jobs: int, history: int) -> Scene:
    """Return the jobs and the machine of *scenario*; policies and caps share the jobs of the same seed."""
    whole = registry.make(
        "models",
        "synth-pm100",
        jobs=jobs + history,
        nodes=scenario.nodes,
        load=scenario.load,
        preset=scenario.users,
        family=scenario.family,
        seed=seed,
    )
    order = whole.arrival_order()
    before, later = order[:history], order[history:]
    parts = whole.select(np.sort(before), "the jobs to learn from"), whole.select(np.sort(later), "the jobs to run")
    scaled = registry.find("transformations", "scale-load")(parts[1], load=scenario.load, nodes=scenario.nodes)
    return Scene(parts[0], scaled, machine_of(scenario))


def machine_of(scenario: Scenario) -> Cluster:
    """Return the machine: like nodes, jobs of up to a day, and a power cap where the scenario has one."""
    power = NodePower(idle_w=IDLE_W, busy_w=BUSY_W, waiting_share=0.5)
    cap_w = BUSY_W * scenario.nodes * scenario.cap_share if scenario.cap_share < 1 else math.inf
    return Cluster(
        groups=(NodeGroup(name="nodes", nodes=scenario.nodes, power=power),),
        partitions=(Partition(name="batch", groups=("nodes",), max_limit_s=DAY_S),),
        tariff=TARIFF,
        power_cap_w=cap_w,
    )


@lru_cache(maxsize=6)
def _learned(surrogate: str, scenario: Scenario, seed: int, jobs: int, history: int) -> Any:
    """Return a front advisor whose surrogate has learned from the jobs before; the policy has no part in it."""
    before = scene(scenario, seed, jobs, history).before
    return registry.make("advisors", "advisor", surrogate=surrogate, history=before).learn()


def advisor_of(arm: Arm, scenario: Scenario, seed: int, jobs: int, history: int) -> Advisor:
    """Return a new advisor for *arm*."""
    if arm.advisor == USERS:
        return registry.make("advisors", "user-choice")  # type: ignore[no-any-return]
    if arm.advisor == "oracle":
        return registry.make("advisors", "oracle", **arm.parameters)  # type: ignore[no-any-return]
    if arm.advisor == "scaling-law-ratio":
        return registry.make("advisors", "scaling-law", **arm.parameters)  # type: ignore[no-any-return]
    jobs_of = replace(scenario, policy=Scenario().policy, cap_share=1.0)
    known = _learned(arm.advisor, jobs_of, seed, jobs, history)
    parameters = {"surrogate": known.surrogate, "history": known.history} | arm.parameters
    return registry.make("advisors", "advisor", **parameters)  # type: ignore[no-any-return]
