"""How fast a network decides: alone, as a policy with 128 jobs waiting, and in the rollouts of training.

CPU time, one core (set OMP_NUM_THREADS=1). Jobs are generated: Lublin and Feitelson's model on 256
processors at 1.5 times what they can do. Targets stand beside the figures; none is ever a failure.

python bench/networks.py
"""

from __future__ import annotations

import time

import numpy as np

from hpcsim import Cluster, Job, Simulation, System, Workload, make_policy, registry
from hpcsim.policies.learning.heads import Ask
from hpcsim.policies.learning.sequences import Windows
from hpcsim.policies.ppo_gtrxl.checkpoint import load_checkpoint
from hpcsim.policies.ppo_gtrxl.forward import Forward
from hpcsim.policies.ppo_gtrxl.gathering import rules_of
from hpcsim.policies.ppo_gtrxl.policy import PPOGTrXL, find_checkpoint
from hpcsim.policies.ppo_gtrxl.rollout import Task, play
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig

PROCESSORS = 256
WAITING = 128
DECISIONS = 3_000
MOST_MS = 1.0
WANTED_PER_S = 1_500


class Timed(PPOGTrXL):
    """The policy, each of whose choices is timed with its job still in the queue."""

    def choose(self, ask: Ask, system: System) -> Job:
        """Choose many times over; the queue stays as it is."""
        self.took_s = []
        for _ in range(DECISIONS):
            began = time.process_time()
            job = super().choose(ask, system)
            self.took_s.append(time.process_time() - began)
        return job


def latency_ms() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the CPU time of each of many decisions with `WAITING` jobs in the queue."""
    rng = np.random.default_rng(0)
    nodes = np.concatenate([[PROCESSORS], rng.integers(1, PROCESSORS, WAITING)])
    run_s = rng.integers(60, 50_000, WAITING + 1)
    submit_s = np.concatenate([[0], np.ones(WAITING)])
    workload = Workload.of(submit_s=submit_s, run_s=run_s, nodes=nodes, user_id=rng.integers(0, 20, WAITING + 1))
    policy = Timed()
    simulation = Simulation(workload, Cluster.of_processors(PROCESSORS), policy)
    simulation.run(until=2)
    return np.array(policy.took_s) * 1e3


def rollout_decisions_per_s(episodes: int = 24) -> float:
    """Return decisions a CPU second of rollouts, simulation and observations included."""
    jobs = registry.make("models", "lublin", jobs=4_000, nodes=PROCESSORS, load=1.5, seed=0)
    windows, rng = Windows(jobs, 384), np.random.default_rng(0)
    trained = load_checkpoint(find_checkpoint("slowdown"))
    cluster = Cluster.of_processors(PROCESSORS)
    seeds = np.random.SeedSequence(0).spawn(episodes)
    tasks = [Task(windows.draw(rng), cluster, "easy", 1.0, seed) for seed in seeds]
    began = time.process_time()
    played = play(Forward(trained.config, trained.weights), tasks, rules_of(TrainingConfig()), trained.view)
    return float(played.record.lengths.sum() / (time.process_time() - began))


def easy_jobs_per_s() -> float:
    """Return jobs a CPU second of plain EASY on the same log: what this machine does now."""
    jobs = registry.make("models", "lublin", jobs=4_000, nodes=PROCESSORS, load=1.5, seed=0)
    began = time.process_time()
    Simulation(jobs, Cluster.of_processors(PROCESSORS), make_policy("easy")).run()
    return len(jobs) / (time.process_time() - began)


def main() -> None:
    """Print the figures."""
    took_ms = latency_ms()
    print(f"EASY: {easy_jobs_per_s():,.0f} jobs/s")
    print(f"a decision with {WAITING} jobs waiting: median {np.median(took_ms):.3f} ms, ", end="")
    print(f"p99 {np.quantile(took_ms, 0.99):.3f} ms (at most {MOST_MS} ms wanted)")
    print(f"rollouts: {rollout_decisions_per_s():,.0f} decisions/s ({WANTED_PER_S:,} wanted)")


if __name__ == "__main__":
    main()
