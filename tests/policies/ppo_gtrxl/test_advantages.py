"""Advantages against sums written out, and a group of two worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from hpcsim.policies.ppo_gtrxl.advantages import (
    discounts,
    generalised_advantages,
    group_advantages,
    returns_to_go,
    standardised,
)


@pytest.mark.parametrize("rate_per_s", [0.0, 0.01])
@pytest.mark.parametrize("trace", [0.0, 0.9, 1.0])
def test_advantages_are_the_sum_of_discounted_surprises(rate_per_s: float, trace: float) -> None:
    rng = np.random.default_rng(3)
    rewards, values, gaps_s = rng.normal(size=6), rng.normal(size=6), rng.uniform(0, 100, size=6)
    discount = discounts(gaps_s, rate_per_s)
    surprise = rewards + discount * np.append(values[1:], 0.7) - values
    expected = [sum(surprise[later] * np.prod(discount[at:later] * trace) for later in range(at, 6)) for at in range(6)]
    np.testing.assert_allclose(generalised_advantages(rewards, values, discount, trace, 0.7), expected)


def test_discount_is_by_time_and_not_by_decision() -> None:
    """Two decisions at once and one gap of 100 s, or two gaps of 50 s: what lies behind counts alike."""
    at_once = generalised_advantages(np.array([0, 0, 1.0]), np.zeros(3), discounts(np.array([0, 100, 0.0]), 0.01), 1.0)
    in_two = generalised_advantages(np.array([0, 0, 1.0]), np.zeros(3), discounts(np.array([50, 50, 0.0]), 0.01), 1.0)
    assert at_once[0] == pytest.approx(in_two[0])
    assert at_once[0] == pytest.approx(np.exp(-1))


def test_returns_to_go() -> None:
    assert returns_to_go(np.array([1.0, 2.0, 4.0])).tolist() == [7, 6, 4]


def test_group_baseline_by_hand() -> None:
    """Rollout a decides at 0, 10, 20 s and has 6, 4, 2 ahead; b at 0 and 20 s and has 4 and 1.

    At 10 s b is read half-way between 4 and 1: 2.5. So a's advantages are 6 - 5, 4 - 3.25, 2 - 1.5,
    and b's 4 - 5 and 1 - 1.5.
    """
    first, second = group_advantages(
        [np.array([0.0, 10, 20]), np.array([0.0, 20])], [np.array([2.0, 2, 2]), np.array([3.0, 1])]
    )
    assert first.tolist() == [1, 0.75, 0.5]
    assert second.tolist() == [-1, -0.5]


def test_group_baseline_is_discounted_by_time() -> None:
    """At ln 2 per 10 s a decision 10 s on counts half: a has 2 + 2/2 = 3 and 2 ahead, b has 1 at both times' mean."""
    first, second = group_advantages(
        [np.array([0.0, 10]), np.array([0.0])], [np.array([2.0, 2]), np.array([1.0])], np.log(2) / 10
    )
    assert first == pytest.approx([3 - 2, 2 - 1])
    assert second == pytest.approx([1 - 2])


def test_rollout_that_has_ended_has_nothing_ahead() -> None:
    first, _ = group_advantages([np.array([0.0, 30]), np.array([0.0])], [np.array([1.0, 2]), np.array([5.0])])
    assert first.tolist() == [-1, 1]


def test_standardised_over_all_together() -> None:
    result = standardised([np.array([1.0, 2]), np.array([3.0])])
    together = np.concatenate(result)
    assert [len(part) for part in result] == [2, 1]
    assert (together.mean(), together.std()) == pytest.approx((0, 1), abs=1e-6)


def test_equal_advantages_are_none() -> None:
    assert np.concatenate(standardised([np.array([2.0, 2.0])])).tolist() == [0, 0]
