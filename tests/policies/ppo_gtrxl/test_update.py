"""Gradient steps: where they stop, how long they are, and what the bonus and the average do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from hpcsim.policies.ppo_gtrxl.experience import Experience
from hpcsim.policies.ppo_gtrxl.losses import entropy, masked_log_probs
from hpcsim.policies.ppo_gtrxl.network import SchedulingNetwork
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig
from hpcsim.policies.ppo_gtrxl.training_state import begin
from hpcsim.policies.ppo_gtrxl.untrained import network_config
from hpcsim.policies.ppo_gtrxl.update import Rates, Report, batch_of, explained_variance, learn
from tests.policies.ppo_gtrxl.test_experience import gathered, shaken

CONFIG = TrainingConfig(group=2, epochs=3, minibatch=4, target_kl=1e9)


@pytest.fixture(scope="module")
def start() -> tuple[SchedulingNetwork, Experience]:
    network = shaken(network_config(width=8, memory=4, segment=4))
    return network, gathered(network).experience


def learned(
    start: tuple[SchedulingNetwork, Experience],
    config: TrainingConfig,
    bonus: float = 0.0,
    learning_rate: float = 1e-2,
    **changes: Any,
) -> tuple[SchedulingNetwork, Report]:
    network = SchedulingNetwork(start[0].config)
    network.load_state_dict(start[0].state_dict())
    optimiser = torch.optim.Adam(network.parameters())
    experience = replace(start[1], **changes)
    return network, learn(network, optimiser, experience, config, Rates(learning_rate, bonus), np.random.default_rng(0))


def test_an_update_stops_where_it_has_moved_too_far(start: tuple[SchedulingNetwork, Experience]) -> None:
    segments = len(start[1])
    _, free = learned(start, CONFIG)
    assert free.steps == 3 * -(-segments // 4)
    _, stopped = learned(start, replace(CONFIG, target_kl=1e-6))
    assert stopped.steps < free.steps
    assert stopped.kl > 1e-6


def test_a_step_is_as_long_as_the_gradient_may_be(start: tuple[SchedulingNetwork, Experience]) -> None:
    """Of a gradient of length 0 nothing moves."""
    network, _ = learned(start, replace(CONFIG, gradient_norm=0.0))
    assert all(torch.equal(mine, its) for mine, its in zip(network.parameters(), start[0].parameters(), strict=True))


def test_the_learning_rate_is_that_of_the_update(start: tuple[SchedulingNetwork, Experience]) -> None:
    """Adam's first step moves a weight by the learning rate, or hardly."""
    once = replace(CONFIG, epochs=1, minibatch=10_000)
    for rate in (0.0, 1e-4, 1e-2):
        network, _ = learned(start, once, learning_rate=rate)
        moved = [(a - b).abs().max().item() for a, b in zip(network.parameters(), start[0].parameters(), strict=True)]
        assert max(moved) == pytest.approx(rate, rel=0.05)


def test_the_bonus_is_for_entropy(start: tuple[SchedulingNetwork, Experience]) -> None:
    """With no advantage to gain, policies become more random with a bonus."""
    nothing = np.zeros_like(start[1].advantages)
    batch = batch_of(start[1], slice(None), torch.device("cpu"))

    def spread(network: SchedulingNetwork) -> float:
        with torch.no_grad():
            each = entropy(masked_log_probs(network(batch.inputs, batch.carried).logits, batch.mask))
        return float((each * batch.taken.weight).sum() / batch.taken.weight.sum())

    sure = SchedulingNetwork(start[0].config)
    sure.load_state_dict(start[0].state_dict())
    last = sure.policy[-1]
    assert isinstance(last, torch.nn.Linear)
    last.weight.data.mul_(300)
    network, _ = learned((sure, start[1]), replace(CONFIG, value_weight=0.0), bonus=1.0, advantages=nothing)
    assert spread(network) > spread(sure) + 0.01


def test_values_move_towards_the_returns(start: tuple[SchedulingNetwork, Experience]) -> None:
    batch = batch_of(start[1], slice(None), torch.device("cpu"))

    def error(network: SchedulingNetwork) -> float:
        with torch.no_grad():
            values = network(batch.inputs, batch.carried).values
        return float((((values - batch.taken.returns) ** 2) * batch.taken.weight).sum())

    network, _ = learned(start, CONFIG, advantages=np.zeros_like(start[1].advantages))
    assert error(network) < 0.9 * error(start[0])


def test_explained_variance_by_hand(start: tuple[SchedulingNetwork, Experience]) -> None:
    experience = start[1]
    asked = experience.weight > 0
    returns = np.where(asked, experience.returns, 0)
    half = np.where(asked, returns / 2, 99).astype(np.float32)
    assert explained_variance(replace(experience, values=experience.returns)) == pytest.approx(1)
    assert explained_variance(replace(experience, values=np.zeros_like(returns))) == pytest.approx(0)
    assert explained_variance(replace(experience, values=half)) == pytest.approx(0.75, abs=1e-5)


def test_the_average_moves_slowly() -> None:
    state = begin(network_config(width=8), 0, torch.device("cpu"))
    name = "pool.bias"
    state.average[name].fill_(1.0)
    state.network.pool.bias.data.fill_(2.0)
    state.average_in(0.9)
    assert state.average[name].tolist() == pytest.approx([1.1] * 8)
