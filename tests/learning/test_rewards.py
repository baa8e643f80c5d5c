"""Rewards against the simulator's own report, closed forms and hand-worked schedules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hpcsim.cluster import Cluster, NodeGroup
from hpcsim.errors import InvalidArgument
from hpcsim.power import NodePower
from hpcsim.registry import make
from hpcsim.results.run import simulate
from hpcsim.workload import Workload
from tests.schedules import jobs

pytest.importorskip("gymnasium")

from hpcsim.policies.learning.environment import SchedulingEnv
from hpcsim.policies.learning.heads import BACKFILLS, OrderedHeads
from hpcsim.policies.learning.objectives import OBJECTIVES, BoundedSlowdown, MaxWait, WaitBeyondCap
from hpcsim.policies.learning.rule_agents import RuleAgent, play

POWER = NodePower(idle_w=100, busy_w=300)


def busy(count: int = 120, seed: int = 0) -> Workload:
    """Return jobs for 16 nodes, more than they can do at once; some end before, some after their limits."""
    rng = np.random.default_rng(seed)
    run = rng.integers(1, 400, count)
    return Workload.of(
        submit_s=np.sort(rng.integers(0, 4_000, count)),
        run_s=run,
        limit_s=np.maximum(1, (run * rng.choice([0.5, 1, 3], count)).astype(int)),
        nodes=rng.integers(1, 13, count),
        user_id=rng.integers(0, 5, count),
    )


def machine(*, has_power: bool = True) -> Cluster:
    power = POWER if has_power else None
    return Cluster(groups=(NodeGroup(nodes=16, power=power),))


def identities(jobs_table: Any, summary: dict[str, Any]) -> dict[str, float]:
    """Return what each objective must have cost by the simulator's report."""
    wait, run = jobs_table["wait_s"].to_numpy(), jobs_table["run_s"].to_numpy()
    makespan = summary["makespan_s"]
    return {
        "bounded-slowdown": float((wait / np.maximum(run, 10)).sum()),
        "wait": float(wait.sum()),
        "turnaround": summary["mean_turnaround_s"] * len(wait),
        "utilisation": makespan * (1 - summary["utilisation"]),
        "makespan": makespan,
        "max-wait": summary["max_wait_s"],
        "wait-beyond-cap": float(np.maximum(wait - 172_800, 0).sum()),
    }


@pytest.mark.parametrize("backfill", BACKFILLS)
def test_summed_rewards_and_metrics_are_the_simulators(backfill: str) -> None:
    """One rule, played by an agent and as a policy: equal reports, and rewards that sum to them."""
    workload, cluster = busy(), machine(has_power=False)
    result = simulate(workload, cluster, OrderedHeads(order=make("orders", "saf"), backfill=backfill))
    expected = identities(result.jobs, result.summary())
    for name, cost in expected.items():
        env = SchedulingEnv(workload, cluster, objective=name, backfill=backfill, length=None, window=256)
        total, info = play(env, RuleAgent("saf").act)
        assert info["metrics"] == result.summary()
        assert -total == pytest.approx(cost, rel=1e-12, abs=1e-9), name
        assert info["costs"] == {name: pytest.approx(cost, rel=1e-12, abs=1e-9)}


def test_jobs_of_ten_seconds_and_more_sum_to_the_slowdown() -> None:
    workload, cluster = busy(), machine(has_power=False)
    workload = workload.select(np.minimum(workload.run_s, workload.limit_s) >= 10, "no short ones")
    total, info = play(SchedulingEnv(workload, cluster, length=None), RuleAgent("sjf").act)
    assert -total / len(workload) == pytest.approx(info["metrics"]["mean_bounded_slowdown"] - 1, rel=1e-12)


def test_energy_is_the_reports() -> None:
    env = SchedulingEnv(busy(), machine(), objective="energy", length=None)
    total, info = play(env, RuleAgent("fcfs").act)
    assert -total == pytest.approx(info["metrics"]["energy_j"] / 3.6e6, rel=1e-12)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_start_or_wait_sums_to_the_report(name: str) -> None:
    """An agent that waits at random: rewards sum to the report all the same."""
    rng = np.random.default_rng(1)
    env = SchedulingEnv(busy(), machine(), objective=name, semantics="start-or-wait", length=None)
    total, info = play(env, lambda env: int(rng.choice(np.flatnonzero(env.action_masks()))))
    report, count = info["metrics"], info["metrics"]["jobs_started"]
    assert count == 120
    expected = {
        "wait": report["mean_wait_s"] * count,
        "turnaround": report["mean_turnaround_s"] * count,
        "utilisation": report["makespan_s"] * (1 - report["utilisation"]),
        "makespan": report["makespan_s"],
        "energy": report["energy_j"] / 3.6e6,
        "max-wait": report["max_wait_s"],
    }
    assert -total == pytest.approx(info["cost"], rel=1e-9, abs=1e-9)
    if name in expected:
        assert -total == pytest.approx(expected[name], rel=1e-9, abs=1e-9)


WAITS = "a 0 10 10 2\n b 0 20 20 2\n c 0 5 5 2"
"""On 2 nodes one after the other."""


def played(table: str, order: tuple[int, ...], **options: Any) -> tuple[list[float], dict[str, Any]]:
    """Play actions *order*; return each reward and the last info."""
    env = SchedulingEnv(jobs(table), Cluster.of_nodes(2), length=None, backfill="none", **options)
    env.reset()
    rewards, info = [], {}
    for action in order:
        _, reward, _, _, info = env.step(action)
        rewards.append(reward)
    return rewards, info


def test_a_hand_worked_episode() -> None:
    """a first: b and c wait its 10 s, at 1/20 and 1/10 (c runs 5 s, counted as 10) a second; asked is at 0, twice.

    The first answer starts a at once and c or b is asked for at 0 as well. c is chosen: it heads until
    10, then b waits until 15: b 15/20, c 10/10.
    """
    rewards, info = played(WAITS, (0, 1))
    assert rewards == [0, pytest.approx(-(15 / 20 + 10 / 10))]
    assert info["metrics"]["mean_wait_s"] == pytest.approx(25 / 3)
    assert info["gap_s"] == 35  # to the last end: 10 + 5 + 20


def test_the_longest_wait_is_charged_as_it_grows() -> None:
    rewards, _ = played(WAITS, (0, 1), objective="max-wait")
    assert rewards == [0, -15]


def test_waits_beyond_a_cap() -> None:
    """b waits 15 s and c 10: beyond 8 s these are 7 and 2."""
    rewards, _ = played(WAITS, (0, 1), objective=WaitBeyondCap(cap_s=8))
    assert rewards == [0, -9]


def test_weighted_objectives_add_up() -> None:
    mixed = {"wait": 2, BoundedSlowdown(short_s=5): 0.5, MaxWait(): 1}
    rewards, info = played(WAITS, (0, 1), objective=mixed)
    assert info["costs"] == {"wait": 25, "BoundedSlowdown(short_s=5)": 15 / 20 + 10 / 5, "MaxWait()": 15}
    assert sum(rewards) == pytest.approx(-(50 + 0.5 * 2.75 + 15))
    assert info["cost"] == pytest.approx(-sum(rewards))


@pytest.mark.parametrize("objective", ["bounded-slowdown", "wait", "turnaround", "max-wait"])
def test_discounted_rewards_telescope_to_the_discounted_integral(objective: str) -> None:
    """Rewards, each discounted to its decision, times the product of discounts before: the integral from time 0.

    That integral has a closed form for waits: the sum over jobs of rate x (e^-bs - e^-b start) / b.
    """
    beta, workload = 0.003, busy(60)
    workload.columns["submit_s"][:2] = 0  # the first decision is at the first instant
    env = SchedulingEnv(workload, machine(has_power=False), objective=objective, length=None, beta_per_s=beta)
    env.reset()
    agent, whole, factor, is_over, info = RuleAgent("saf"), 0.0, 1.0, False, {}
    while not is_over:
        _, reward, is_over, _, info = env.step(agent.act(env))
        whole += factor * reward
        assert info["discount"] == math.exp(-beta * info["gap_s"])
        factor *= info["discount"]
    table = simulate(workload, machine(has_power=False), OrderedHeads(order=make("orders", "saf"))).jobs
    submit, start, end = (table[f"{what}_s"].to_numpy() for what in ("submit", "start", "end"))
    gone = lambda since, until: (np.exp(-beta * since) - np.exp(-beta * until)) / beta  # noqa: E731
    if objective == "max-wait":
        grid = np.linspace(0, end.max(), 40_001)
        waits = [np.clip(np.minimum(grid, s1) - s0, 0, None) for s0, s1 in zip(submit, start, strict=True)]
        longest = np.max(waits, axis=0)
        expected = float((np.diff(longest) * np.exp(-beta * (grid[:-1] + grid[1:]) / 2)).sum())
        assert -whole == pytest.approx(expected, rel=1e-3)
        return
    rates = {"wait": 1.0, "turnaround": 1.0, "bounded-slowdown": 1 / np.maximum(end - start, 10)}[objective]
    expected = float((rates * gone(submit, end if objective == "turnaround" else start)).sum())
    assert -whole == pytest.approx(expected, rel=1e-9)


def test_normalised_rewards_are_in_units_of_the_better_rule() -> None:
    workload, cluster = busy(), machine(has_power=False)
    costs = {}
    for rule in ("sjf", "saf"):
        costs[rule], _ = play(SchedulingEnv(workload, cluster, length=None, window=256), RuleAgent(rule).act)
    best = max(costs, key=lambda rule: costs[rule])
    env = SchedulingEnv(workload, cluster, length=None, window=256, normalise=True)
    assert play(env, RuleAgent(best).act)[0] == pytest.approx(-1)
    total, info = play(env, RuleAgent("fcfs").act)
    assert total == pytest.approx(-info["cost"] / -costs[best])


def test_a_sequence_that_costs_nothing_is_not_divided_by() -> None:
    env = SchedulingEnv(jobs("a 0 10 10 1\n b 50 10 10 1"), Cluster.of_nodes(2), length=None, normalise=True)
    assert play(env, RuleAgent("fcfs").act)[0] == 0


@pytest.mark.parametrize(
    ("objective", "fault"),
    [
        ("slowdown", "There is no objective 'slowdown'. Did you mean 'bounded-slowdown'"),
        ({}, "There is no objective"),
        ({"wait": math.nan}, "The weight of 'wait' is nan"),
        ("energy", "the cluster describes no power"),
    ],
)
def test_objectives_that_are_none(objective: Any, fault: str) -> None:
    with pytest.raises(InvalidArgument, match=fault):
        SchedulingEnv(busy(), machine(has_power=False), objective=objective, length=None)
