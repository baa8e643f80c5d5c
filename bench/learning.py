"""How many decisions a second the learning environment takes, with rules in the agent's place.

Workloads are generated, so that nothing has to be at hand: the Lublin-Feitelson model on 256
processors at 1.5 times what they can do. CPU time, the best of three, one core. A decision is one that
was asked for: forced ones are skipped, and the time they take counts all the same. The ratio is to
plain EASY, in jobs a second, on the same jobs in the same minute: a busy machine slows both.

python bench/learning.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hpcsim import Cluster, Recorder, Simulation, Start, Workload, make_policy, registry
from hpcsim.policies.learning.environment import SchedulingEnv
from hpcsim.policies.learning.observation import Observer
from hpcsim.policies.learning.rule_agents import RuleAgent, play

PROCESSORS = 256
WANTED_PER_S = 5_000
WANTED_US = 60
EPISODES = 10
REPEATS = 3

Act = Callable[[SchedulingEnv], int]


def cpu_s(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least CPU seconds of `REPEATS` calls, and what the last returned."""
    best, found = np.inf, None
    for _ in range(REPEATS):
        began = time.process_time()
        found = call()
        best = min(best, time.process_time() - began)
    return float(best), found


def episodes(env: SchedulingEnv, act: Act) -> tuple[int, int]:
    """Return decisions and jobs of some episodes, the same at each call."""
    env.reset(seed=0)
    infos = [play(env, act)[1] for _ in range(EPISODES)]
    return sum(info["decisions"] for info in infos), EPISODES * 256


def easy_jobs_per_s(workload: Workload) -> float:
    """Return jobs a second of plain EASY, without tables of results."""
    cluster = Cluster.of_processors(PROCESSORS)
    took_s, _ = cpu_s(lambda: Simulation(workload, cluster, make_policy("easy")).run())
    return len(workload) / took_s


def observation_us(waiting: int, window: int) -> float:
    """Return the CPU time of an observation of so many waiting jobs, in microseconds."""
    rng = np.random.default_rng(0)
    count = waiting + 100
    workload = Workload.of(
        submit_s=np.zeros(count),
        run_s=rng.integers(1_000, 100_000, count),
        nodes=np.concatenate([np.ones(100, dtype=int), rng.integers(200, 257, waiting)]),
        user_id=rng.integers(0, 20, count),
    )
    cluster, observer = Cluster.of_processors(PROCESSORS), Observer(window)
    observer.reset(cluster)
    recorders: list[Recorder] = [observer]
    simulation = Simulation(workload, cluster, recorders=recorders)
    view = simulation.run_to_decision()
    assert view is not None
    for job in list(view.queue)[:100]:
        simulation.apply(Start(job))
    took_s, _ = cpu_s(lambda: [observer.observe(view) for _ in range(2_000)])
    return took_s / 2_000 * 1e6


def agents() -> dict[str, Act]:
    """Return who acts, by name. Rows of networks belong here."""

    def first(env: SchedulingEnv) -> int:
        return int(env.action_masks().argmax())

    return {"first slot": first, "sjf": RuleAgent("sjf").act, "saf": RuleAgent("saf").act}


def main() -> None:
    workload = registry.make("models", "lublin", jobs=5_000, nodes=PROCESSORS, load=1.5, seed=1)
    for waiting, window in ((128, 32), (128, 128), (5_000, 32)):
        took_us = observation_us(waiting, window)
        print(f"observation, {waiting:5} waiting, window {window:3}: {took_us:6.1f} us   (wanted: {WANTED_US})")
    easy = easy_jobs_per_s(workload)
    print(f"\nEASY alone: {easy:,.0f} jobs/s\n")
    print(f"{'semantics':14} {'backfill':17} {'agent':11} {'decisions/s':>11} {'jobs/s':>8} {'ratio':>6}")
    for semantics, backfill in (
        ("commit", "rlscheduler-none"),
        ("commit", "none"),
        ("commit", "rlscheduler"),
        ("commit", "easy"),
        ("commit", "easy-sjbf"),
        ("start-or-wait", None),
    ):
        env = SchedulingEnv(
            workload,
            Cluster.of_processors(PROCESSORS),
            semantics=semantics,
            backfill=backfill,
            with_metrics=False,
        )
        for name, act in agents().items():
            took_s, (decisions, jobs) = cpu_s(lambda env=env, act=act: episodes(env, act))  # type: ignore[misc]
            speed, ratio = decisions / took_s, jobs / took_s / easy
            print(f"{semantics:14} {backfill or '-':17} {name:11} {speed:11,.0f} {jobs / took_s:8,.0f} {ratio:6.2f}")
    print(f"\nwanted: {WANTED_PER_S:,} decisions/s with rules on one core of an idle machine")


if __name__ == "__main__":
    main()
