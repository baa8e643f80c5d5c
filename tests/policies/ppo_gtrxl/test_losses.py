"""Masked policies, exact divergence, and the two objectives against their formulas."""

from __future__ import annotations

import math

import pytest
import torch

from hpcsim.policies.ppo_gtrxl.losses import (
    Taken,
    clipped_objective,
    divergence,
    entropy,
    loss,
    masked_log_probs,
    truly_objective,
)
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig


def test_masked_actions_have_no_probability_at_all() -> None:
    mask = torch.tensor([True, False, True])
    probabilities = masked_log_probs(torch.tensor([1.0, 99.0, 1.0]), mask).exp()
    assert probabilities.tolist() == [0.5, 0.0, 0.5]


def test_entropy_is_that_of_what_may_be_chosen() -> None:
    mask = torch.tensor([[True, True, False, False], [True, False, False, False]])
    assert entropy(masked_log_probs(torch.zeros(2, 4), mask)).tolist() == pytest.approx([math.log(2), 0.0])


def test_gradient_is_finite_with_one_valid_action() -> None:
    logits = torch.zeros(3, requires_grad=True)
    spread = entropy(masked_log_probs(logits, torch.tensor([True, False, False])))
    spread.backward()
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()


def test_divergence_is_exact() -> None:
    """Of (1/2, 1/2) from (1/4, 3/4): ln 2 / 2 + ln(2/3) / 2."""
    old = torch.tensor([0.5, 0.5, 0.0]).log().clamp(min=-1e9)
    new = torch.tensor([0.25, 0.75, 0.0]).log().clamp(min=-1e9)
    assert divergence(old, new).item() == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3), abs=1e-6)


@pytest.mark.parametrize(
    ("ratio", "advantage", "expected"), [(1.1, 1.0, 1.1), (1.5, 1.0, 1.2), (0.5, -1.0, -0.8), (1.5, -1.0, -1.5)]
)
def test_clipped_objective(ratio: float, advantage: float, expected: float) -> None:
    value = clipped_objective(torch.tensor(ratio), torch.tensor(advantage), 0.2)
    assert value.item() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("ratio", "advantage", "kl", "expected"),
    [
        (1.5, 2.0, 0.019, 3.0),  # inside the region: r A
        (1.5, 2.0, 0.02, 3.0 - 5 * 0.02),  # outside and pushing outward: r A - alpha d
        (0.5, 2.0, 0.5, 1.0),  # outside and coming back: r A
        (0.5, -2.0, 0.5, -1.0 - 5 * 0.5),  # a bad action made rarer still: outward too
    ],
)
def test_truly_objective(ratio: float, advantage: float, kl: float, expected: float) -> None:
    value = truly_objective(
        torch.tensor(ratio), torch.tensor(advantage), torch.tensor(kl), delta=0.02, rollback=5.0, slope=1.0
    )
    assert value.item() == pytest.approx(expected)


def test_triggered_slopes_are_those_of_the_source() -> None:
    """With eta = 0.3 and alpha = 5 the derivatives by r and by d are 0.3 A and -5."""
    ratio, kl = torch.tensor(1.5, requires_grad=True), torch.tensor(0.5, requires_grad=True)
    truly_objective(ratio, torch.tensor(2.0), kl, delta=0.02, rollback=5.0, slope=0.3).backward()
    assert ratio.grad is not None
    assert kl.grad is not None
    assert (ratio.grad.item(), kl.grad.item()) == pytest.approx((0.6, -5.0))


@pytest.mark.parametrize("surrogate", ["truly", "clip"])
def test_padding_counts_for_nothing(surrogate: str) -> None:
    logits, values = torch.randn(1, 2, 3), torch.randn(1, 2)
    mask = torch.ones(1, 2, 3, dtype=torch.bool)

    def total(garbage: float) -> float:
        taken = Taken(
            actions=torch.tensor([[1, 2]]),
            log_probs=masked_log_probs(torch.zeros(1, 2, 3), mask),
            advantages=torch.tensor([[1.0, garbage]]),
            returns=torch.tensor([[0.5, garbage]]),
            weight=torch.tensor([[1.0, 0.0]]),
        )
        return loss(logits, values, mask, taken, TrainingConfig(surrogate=surrogate), 0.01).total.item()

    assert total(0.0) == total(100.0)
