"""Tiny worlds whose best schedule is known, and a loop that learns in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from hpcsim import Cluster
from hpcsim.policies.learning.sequences import JobSequence
from hpcsim.policies.ppo_gtrxl.checkpoint import View
from hpcsim.policies.ppo_gtrxl.gathering import Network, gather, play_all
from hpcsim.policies.ppo_gtrxl.network import SchedulingNetwork
from hpcsim.policies.ppo_gtrxl.rollout import Task
from hpcsim.policies.ppo_gtrxl.sources import Drawn
from hpcsim.policies.ppo_gtrxl.trainer import weights_of
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig
from hpcsim.policies.ppo_gtrxl.untrained import network_config
from hpcsim.policies.ppo_gtrxl.update import Rates, learn
from hpcsim.workload import Workload

VIEW = View(window=2)


def drawn(workload: Workload, unit: float = 1.0) -> Drawn:
    return Drawn(JobSequence(workload, 0, 0, len(workload)), Cluster.of_nodes(1), "none", unit)


def learned(worlds: list[Drawn], updates: int, learning_rate: float, **network: Any) -> list[float]:
    """Train from scratch on all *worlds* at each update; return what the arg-max policy then costs in each."""
    config = network_config(width=16, memory=4, segment=4, **network)
    training = TrainingConfig(group=8, epochs=4, minibatch=16, target_kl=0.1, surrogate="clip", trace=1.0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        trained = SchedulingNetwork(config)
    optimiser = torch.optim.Adam(trained.parameters(), eps=1e-5)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for update in range(updates):
        mine = Network(config, weights_of(trained.state_dict()), VIEW)
        gathered = gather(mine, worlds, training, np.random.SeedSequence([0, update]))
        learn(
            trained, optimiser, gathered.experience, training, Rates(learning_rate, 0.01), np.random.default_rng(update)
        )
    torch.set_num_threads(threads)
    tasks = [Task(one.sequence, one.cluster, one.backfill, one.unit) for one in worlds]
    mine = Network(config, weights_of(trained.state_dict()), VIEW)
    return [float(cost) for played in play_all(mine, tasks, training) for cost in played.costs]


def shown(worlds: list[Drawn]) -> list[list[tuple[Any, ...]]]:
    """Return all that a network is shown at each decision of each world, whatever it decides."""
    config = network_config(width=8, core="mlp")
    weights = weights_of(SchedulingNetwork(config).state_dict())
    tasks = [Task(one.sequence, one.cluster, one.backfill, one.unit) for one in worlds]
    [played] = play_all(Network(config, weights, VIEW), tasks, TrainingConfig(group=len(worlds)))
    seen = played.record.moments
    parts = (seen.jobs, seen.nodes, seen.globals_, seen.mask, seen.prior)
    return [
        [tuple(part[row, at].tolist() for part in parts) for at in range(length)]
        for row, length in enumerate(played.record.lengths.tolist())
    ]


def short_or_long() -> Workload:
    """One node. 100 s block it, behind which jobs of 1,000 s and of 10 s arrive at once."""
    run = [100, 1000, 10]
    return Workload.of(submit_s=[0, 1, 1], run_s=run, nodes=[1, 1, 1], limit_s=run)


def told_before(cue: int) -> Workload:
    """One node; a cue, and much later two jobs that ask for the same and are not the same.

    The cue: behind 10 s that block the node, two jobs wait that ask for 100 s each if *cue* is 0, for
    5,000 s each if it is 1. Later, behind 10 s again, two jobs ask for 1,000 s. One runs for 10 s, the other
    for 1,000 s: after cue 0 the first of them is the short one, after cue 1 the second.
    """
    asked = (100, 5000)[cue]
    runs = (10, 1000) if cue == 0 else (1000, 10)
    return Workload.of(
        submit_s=[0, 1, 1, 20_000, 20_001, 20_001],
        run_s=[10, asked, asked, 10, *runs],
        nodes=[1] * 6,
        limit_s=[10, asked, asked, 10, 1000, 1000],
    )
