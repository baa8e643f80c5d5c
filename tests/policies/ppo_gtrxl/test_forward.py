"""NumPy and torch compute one network: decision by decision there, segment by segment here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from hpcsim.policies.ppo_gtrxl.network_config import GATES, RECALIBRATIONS
from tests.policies.ppo_gtrxl.networks import by_segments, forward_of, observations, shaken, small_config, step_of

VARIANTS: list[dict[str, Any]] = [
    *({"gate": gate} for gate in GATES),
    *({"recalibration": kind} for kind in RECALIBRATIONS),
    {"token_attention": True},
    {"positions": "sinusoidal"},
    {"positions": "sinusoidal", "blocks": 2, "memory": 6},
    {"core": "trxl"},
    {"core": "trxl", "blocks": 2},
    {"core": "mlp"},
    {"node_features": 0},
    {"memory": 0},
    {"prior": "saf"},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_torch_and_numpy_agree(variant: dict[str, Any]) -> None:
    """11 decisions are more than a segment of 4 and its memory of 4: all windows occur."""
    network = shaken(small_config(**variant))
    inputs = observations(network.config, 1, 11)
    with torch.no_grad():
        expected = by_segments(network, inputs)
    forward = forward_of(network)
    memory = forward.begin()
    for at in range(11):
        answer = forward.step(memory, step_of(inputs, at))
        np.testing.assert_allclose(answer.logits, expected.logits[:, at], atol=1e-5)
        np.testing.assert_allclose(answer.values, expected.values[:, at], atol=1e-5)
        for mine, theirs in zip(answer.states, expected.states, strict=True):
            np.testing.assert_allclose(mine, theirs[:, at], atol=1e-5)


def test_recurrent_cell_agrees_too() -> None:
    network = shaken(small_config(core="gru"))
    inputs = observations(network.config, 1, 4)
    with torch.no_grad():
        expected = by_segments(network, inputs)
    forward = forward_of(network)
    memory = forward.begin()
    for at in range(4):
        answer = forward.step(memory, step_of(inputs, at))
        np.testing.assert_allclose(answer.logits, expected.logits[:, at], atol=1e-5)


def test_episodes_side_by_side_are_as_alone() -> None:
    """Two of three episodes go on after the sixth decision; none hears of the others."""
    network = shaken(small_config())
    forward = forward_of(network)
    inputs = observations(network.config, 3, 9)
    together = forward.begin(3)
    alone = [forward.begin() for _ in range(3)]
    for at in range(9):
        rows = np.arange(3) if at < 6 else np.array([0, 2])
        step = step_of(inputs, at)
        answer = forward.step(together, type(step)(*(array[rows] for array in step)), rows)
        for place, row in enumerate(rows):
            mine = forward.step(alone[row], type(step)(*(array[row : row + 1] for array in step)))
            np.testing.assert_allclose(answer.logits[place], mine.logits[0], atol=1e-6)


def test_order_of_the_window_permutes_the_logits() -> None:
    network = shaken(small_config(token_attention=True))
    inputs = observations(network.config, 1, 1)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    turned = inputs._replace(jobs=inputs.jobs[:, :, order], prior=inputs.prior[:, :, order])
    carried = network.nothing_carried(1)
    with torch.no_grad():
        logits, permuted = network(inputs, carried).logits, network(turned, carried).logits
    np.testing.assert_allclose(logits[..., order], permuted, atol=1e-6)


def test_new_network_is_its_prior() -> None:
    from hpcsim.policies.ppo_gtrxl.network import SchedulingNetwork

    network = SchedulingNetwork(small_config(prior="saf", prior_weight=2.0))
    inputs = observations(network.config, 2, 4)
    with torch.no_grad():
        assert torch.equal(network(inputs, network.nothing_carried(2)).logits, 2 * inputs.prior)


@pytest.mark.parametrize("variant", [*VARIANTS, {"core": "gru"}], ids=str)
def test_shapes_are_known_without_torch(variant: dict[str, Any]) -> None:
    from hpcsim.policies.ppo_gtrxl.network import SchedulingNetwork
    from hpcsim.policies.ppo_gtrxl.weight_shapes import weight_shapes

    config = small_config(**variant)
    state = SchedulingNetwork(config).state_dict()
    assert {name: tuple(weights.shape) for name, weights in state.items()} == weight_shapes(config)
