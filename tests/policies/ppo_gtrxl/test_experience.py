"""Rollout and update see the same: episodes shorter than a segment and a memory, as long, and longer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from hpcsim import Cluster
from hpcsim.policies.learning.sequences import JobSequence
from hpcsim.policies.orders import SAF
from hpcsim.policies.ppo_gtrxl.checkpoint import View
from hpcsim.policies.ppo_gtrxl.forward import Forward
from hpcsim.policies.ppo_gtrxl.gathering import Gathered, Network, gather, play_all, rules_of
from hpcsim.policies.ppo_gtrxl.network import SchedulingNetwork
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig
from hpcsim.policies.ppo_gtrxl.rollout import Task, play
from hpcsim.policies.ppo_gtrxl.sources import Drawn, Source, rule_cost
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig
from hpcsim.policies.ppo_gtrxl.untrained import network_config, untrained
from hpcsim.policies.ppo_gtrxl.update import Rates, learn
from hpcsim.workload import Workload
from tests.policies.ppo_gtrxl.networks import forward_of
from tests.policies.ppo_gtrxl.networks import shaken as shaken_much

CONFIG = TrainingConfig(group=2, epochs=1)
CORES: list[dict[str, Any]] = [
    {},
    {"blocks": 2, "positions": "sinusoidal"},
    {"core": "trxl"},
    {"core": "gru"},
    {"core": "mlp"},
    {"memory": 0},
    {"memory": 6},
]


def shaken(config: NetworkConfig) -> SchedulingNetwork:
    """Return a random network that is not sure of what it does, so that all it sees shows in its probabilities."""
    network = shaken_much(config)
    last = network.policy[-1]
    assert isinstance(last, torch.nn.Linear)
    last.weight.data.mul_(0.1)
    return network


def crowded(jobs: int) -> list[Drawn]:
    """Return two sequences of jobs that come faster than 64 nodes can serve them: most decisions are asked."""
    rng = np.random.default_rng(3)
    sequences = []
    for source in range(2):
        run_s = rng.integers(10, 2000, size=jobs)
        submit_s, nodes = np.sort(rng.integers(0, 20 * jobs, size=jobs)), rng.integers(1, 65, size=jobs)
        workload = Workload.of(submit_s=submit_s, run_s=run_s, nodes=nodes, limit_s=run_s)
        sequence = JobSequence(workload, source, 0, jobs)
        sequences.append(Drawn(sequence, Cluster.of_processors(64), "none", 1000.0))
    return sequences


def gathered(network: Any, jobs: int = 23) -> Gathered:
    weights = {name: value.detach().numpy() for name, value in network.state_dict().items()}
    return gather(Network(network.config, weights, View(window=6)), crowded(jobs), CONFIG, np.random.SeedSequence(1))


@pytest.mark.parametrize("changes", CORES, ids=str)
def test_ratio_is_one_before_the_first_step(changes: dict[str, Any]) -> None:
    """With L = M = 4 there are episodes of more than two segments, and segments that are not full."""
    network = shaken(network_config(**({"width": 8, "memory": 4, "segment": 4} | changes)))
    experience = gathered(network).experience
    assert (experience.mask.sum(axis=-1) > 1).sum() > 40
    assert (experience.weight.sum(axis=1) < 4).any()
    report = learn(
        network, torch.optim.Adam(network.parameters()), experience, CONFIG, Rates(1e-3, 0), np.random.default_rng(0)
    )
    assert report.ratio_error <= 1e-5


@pytest.mark.parametrize("segment", [3, 7, 8, 9, 64])
def test_ratio_is_one_however_long_the_episode(segment: int) -> None:
    network = shaken(network_config(width=8, memory=segment, segment=segment))
    experience = gathered(network, jobs=14).experience
    report = learn(
        network, torch.optim.Adam(network.parameters()), experience, CONFIG, Rates(1e-3, 0), np.random.default_rng(0)
    )
    assert report.ratio_error <= 1e-5


def test_wrong_memory_breaks_the_ratio() -> None:
    """What the test above would miss without this: memory does matter to these networks."""
    network = shaken(network_config(width=8, memory=4, segment=4))
    experience = gathered(network).experience
    experience.carried[:] = np.roll(experience.carried, 1, axis=1)
    report = learn(
        network, torch.optim.Adam(network.parameters()), experience, CONFIG, Rates(1e-3, 0), np.random.default_rng(0)
    )
    assert report.ratio_error > 1e-4


def test_rewards_sum_to_the_cost() -> None:
    """An episode's rewards, in its unit, are minus the simulator's own sum of wait / max(run, 10 s)."""
    network = shaken(network_config(width=8))
    one = crowded(24)[0]
    task = Task(one.sequence, one.cluster, "none", 7.0, np.random.SeedSequence(4))
    played = play(forward_of(network), [task], rules_of(CONFIG), View(window=6))
    assert -played.record.rewards.sum() == pytest.approx(played.costs[0], rel=1e-9)


@pytest.mark.parametrize(("backfill", "is_asked_more"), [("easy", True), ("rlscheduler", False)])
def test_asked_anew_a_network_plays_as_its_prior_does(backfill: str, is_asked_more: bool) -> None:
    """Without training it is SAF, asked anew at each pass but where the protocol keeps heads."""
    network = untrained(network_config(prior="saf"))
    drawn = [one._replace(backfill=backfill) for one in crowded(200)]
    config = replace(CONFIG, keeps_heads=False)
    source = Source("crowded", drawn[0].sequence.workload, drawn[0].cluster, backfill)
    tasks = [Task(one.sequence, one.cluster, backfill, 1.0) for one in drawn[:1]]
    anew, kept = (
        play_all(Network(network.config, dict(network.weights), network.view), tasks, which)[0]
        for which in (config, CONFIG)
    )
    assert anew.costs[0] == pytest.approx(rule_cost(source, config, (SAF,))(drawn[0].sequence))
    assert (anew.costs[0] != kept.costs[0]) == is_asked_more
    assert (anew.record.lengths[0] > kept.record.lengths[0]) == is_asked_more


def test_equal_seeds_play_equal_episodes_and_others_do_not() -> None:
    network = shaken(network_config(width=8))
    first, second = gathered(network).experience, gathered(network).experience
    assert np.array_equal(first.actions, second.actions)
    assert np.array_equal(first.log_probs, second.log_probs)
    rollouts = first.actions[: len(first) // 2]
    assert len({row.tobytes() for row in rollouts}) > 1


def test_likeliest_action_is_taken_without_a_seed() -> None:
    network = shaken(network_config(width=8))
    weights = {name: value.detach().numpy() for name, value in network.state_dict().items()}
    one = crowded(24)[0]
    tasks = [Task(one.sequence, one.cluster, "none", 1.0)] * 2
    costs = play_all(Network(network.config, weights, View()), tasks, CONFIG)[0].costs
    assert costs[0] == costs[1]


def test_actions_are_drawn_as_likely_as_the_network_says() -> None:
    """The first decision of 200 rollouts: frequencies within five deviations of the probabilities."""
    network = shaken(network_config(width=8))
    one = crowded(12)[0]
    seeds = np.random.SeedSequence(5).spawn(200)
    tasks = [Task(one.sequence, one.cluster, "none", 1.0, seed) for seed in seeds]
    forward = Forward(network.config, {name: value.detach().numpy() for name, value in network.state_dict().items()})
    moments = play(forward, tasks, rules_of(CONFIG), View(window=4)).record.moments
    probabilities = np.exp(moments.log_probs[0, 0].astype(np.float64))
    shares = np.bincount(moments.actions[:, 0], minlength=4) / 200
    deviation = np.sqrt(probabilities * (1 - probabilities) / 200)
    assert (np.abs(shares - probabilities) <= 5 * deviation + 1e-9).all()


def test_first_decisions_are_cut_to_the_one() -> None:
    experience = gathered(shaken(network_config(width=8, memory=4, segment=4))).experience
    every = experience.decisions
    for wanted in (1, 6, every - 1, every, every + 5):
        part = experience.first(wanted)
        assert part.decisions == min(wanted, every)
        assert np.flatnonzero(part.weight).tolist() == np.flatnonzero(experience.weight)[:wanted].tolist()
        assert len(part.jobs) == len(part.carried) == len(part)
    assert experience.decisions == every
