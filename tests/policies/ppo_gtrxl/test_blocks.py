"""Gates, causality and windows of the blocks, and mask and kernel arithmetic beside them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from hpcsim.policies.ppo_gtrxl.gates import GRUGate, make_gate
from hpcsim.policies.ppo_gtrxl.network_config import GATES, kernel_width
from hpcsim.policies.ppo_gtrxl.recalibration import Recalibration, neighbours
from tests.policies.ppo_gtrxl.networks import by_segments, forward_of, observations, shaken, small_config, step_of


def streams(width: int = 8) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(5, width, generator=generator), torch.randn(5, width, generator=generator)


def test_gru_gate_is_the_published_formula() -> None:
    """One channel, all matrices 1, b = 2, x = 1, y = 0.5, by hand.

    r = s(0.5 + 1) = 0.817574, z = s(0.5 + 1 - 2) = 0.377541, h = tanh(0.5 + 0.817574) = 0.866179,
    g = 0.622459 x 1 + 0.377541 x 0.866179 = 0.949477.
    """
    gate = GRUGate(1, 2.0)
    for linear in (gate.from_y, gate.from_x, gate.candidate):
        torch.nn.init.ones_(linear.weight)
    assert gate(torch.tensor([1.0]), torch.tensor([0.5])).item() == pytest.approx(0.949477, abs=1e-6)


@pytest.mark.parametrize("kind", ["gru", "output", "highway"])
def test_gate_with_a_huge_bias_is_the_identity(kind: str) -> None:
    x, y = streams()
    assert torch.allclose(make_gate(kind, 8, 50.0)(x, y), x, atol=1e-6)


def test_gru_gate_begins_near_the_identity() -> None:
    x, y = streams()
    far = (make_gate("gru", 8, 0.0)(x, y) - x).abs().mean()
    near = (make_gate("gru", 8, 2.0)(x, y) - x).abs().mean()
    assert near < 0.4 * far


def test_residual_gate_adds() -> None:
    x, y = streams()
    assert torch.equal(make_gate("residual", 8, 2.0)(x, y), x + y)


@pytest.mark.parametrize("kind", GATES)
def test_gradient_of_a_gate_is_that_of_its_formula(kind: str) -> None:
    gate = make_gate(kind, 3, 2.0).double()
    x = torch.randn(2, 3, dtype=torch.double, requires_grad=True)
    y = torch.randn(2, 3, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(gate, (x, y))


@pytest.mark.parametrize("core", ["gtrxl", "trxl", "gru", "mlp"])
def test_later_decisions_do_not_reach_earlier_ones(core: str) -> None:
    network = shaken(small_config(core=core))
    inputs = observations(network.config, 1, 4)
    changed = inputs._replace(jobs=inputs.jobs.clone())
    changed.jobs[:, 2, :, 1:] += 1
    carried = network.nothing_carried(1)
    with torch.no_grad():
        before, after = network(inputs, carried).logits, network(changed, carried).logits
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.allclose(before[:, 2], after[:, 2])
    assert torch.allclose(before[:, 3], after[:, 3]) is (core == "mlp")


def test_decisions_older_than_the_window_are_forgotten() -> None:
    """M = L = 4 and one block: decision 8 begins the third segment and sees 4 to 8."""
    network = shaken(small_config())
    forward = forward_of(network)
    inputs = observations(network.config, 1, 9)

    def last_logits(changed: int | None) -> np.ndarray:
        jobs = inputs.jobs.clone()
        if changed is not None:
            jobs[:, changed, :, 1:] += 1
        memory = forward.begin()
        return [forward.step(memory, step_of(inputs._replace(jobs=jobs), at)).logits for at in range(9)][-1]

    reference = last_logits(None)
    assert np.array_equal(last_logits(3), reference)
    assert not np.allclose(last_logits(4), reference)


@pytest.mark.parametrize("core", ["gtrxl", "trxl", "gru"])
def test_no_gradient_flows_into_memory(core: str) -> None:
    network = shaken(small_config(core=core))
    inputs = observations(network.config, 1, 4)
    carried = network.nothing_carried(1)
    memory = torch.ones_like(carried.states[0], requires_grad=True)
    seen = carried._replace(states=(memory,), is_kept=torch.ones_like(carried.is_kept))
    network(inputs, seen).logits.sum().backward()
    assert memory.grad is None


def test_places_before_the_first_decision_are_not_seen() -> None:
    network = shaken(small_config())
    inputs = observations(network.config, 1, 4)
    nothing = network.nothing_carried(1)
    garbage = nothing._replace(states=(torch.full_like(nothing.states[0], 1e3),))
    with torch.no_grad():
        assert torch.equal(network(inputs, nothing).logits, network(inputs, garbage).logits)


@pytest.mark.parametrize(("width", "neighbours"), [(8, 1), (16, 3), (24, 3), (64, 3), (256, 5)])
def test_kernel_of_eca_is_the_nearest_odd_width(width: int, neighbours: int) -> None:
    """log2(C)/2 + 1/2 is 2, 2.5, 2.79, 3.5 and 4.5; 8 lies half-way and takes the smaller."""
    assert kernel_width(width) == neighbours


def test_neighbours_of_a_channel() -> None:
    assert neighbours(torch.tensor([[1.0, 2.0, 3.0]]), 3).tolist() == [[[0, 1, 2], [1, 2, 3], [2, 3, 0]]]


@pytest.mark.parametrize("kind", ["sect", "se", "eca", "cbam"])
def test_new_recalibration_changes_nothing(kind: str) -> None:
    from hpcsim.policies.ppo_gtrxl.network import SchedulingNetwork

    network = SchedulingNetwork(small_config(recalibration=kind))
    assert isinstance(network.recalibrate_jobs, Recalibration)
    tokens, valid = torch.randn(3, 6, 8), torch.ones(3, 6, dtype=torch.bool)
    assert torch.allclose(network.recalibrate_jobs(tokens, valid, torch.randn(3, 4)), tokens)


def test_long_episode_gives_the_same_by_any_cut_when_nothing_is_forgotten() -> None:
    """7 decisions in one segment, or in segments of 4 with a memory of 4: the second sees all 7 either way."""
    weights = shaken(small_config(segment=7, memory=1)).state_dict()
    outputs = []
    for segment, memory in ((7, 1), (4, 4)):
        network = shaken(small_config(segment=segment, memory=memory))
        network.load_state_dict(weights)
        with torch.no_grad():
            outputs.append(by_segments(network, observations(network.config, 1, 7)).logits)
    assert torch.allclose(*outputs, atol=1e-6)
