"""Learning, in worlds small enough to know the best schedule."""

from __future__ import annotations

import pytest

from tests.policies.ppo_gtrxl.toys import drawn, learned, short_or_long, shown, told_before


def test_two_jobs_are_put_in_the_better_order() -> None:
    """Short first: it arrives at 1 s, starts at 100 s and waits 99 s of its 10; the long one 109 s of its 1,000.

    The other way round the short job waits for 1,099 s: 109.999 instead of 10.009.
    """
    costs = learned([drawn(short_or_long(), unit=10.0)] * 4, updates=8, learning_rate=3e-3)
    assert costs[0] == pytest.approx((109 / 1000 + 99 / 10) / 10, rel=1e-6)


def best_costs() -> list[float]:
    """Return the cost of each world with the short job first, in units of 100.

    Of the cue's jobs one waits for 9 s, the other 9 s + its run longer; of the later two the short one waits
    for 9 s of its 10, the long one for 19 s of its 1,000.
    """
    return [((9 + 9 + asked) / asked + 9 / 10 + 19 / 1000) / 100 for asked in (100, 5000)]


def test_only_the_past_tells_the_two_worlds_apart() -> None:
    """At the decision that counts both show the same to the last bit, so that no memory-less network can do better."""
    first, second = shown([drawn(told_before(cue)) for cue in (0, 1)])
    assert len(first) == len(second) == 2
    assert first[0] != second[0]
    assert first[1] == second[1]


@pytest.mark.slow
def test_memory_tells_which_job_is_urgent() -> None:
    worlds = [drawn(told_before(cue), unit=100.0) for cue in (0, 1)] * 8
    assert learned(worlds, updates=40, learning_rate=3e-3, gate_bias=0.0)[:2] == pytest.approx(best_costs(), rel=1e-6)


def test_without_memory_one_of_two_goes_wrong() -> None:
    """The short job waits for 1,009 s in one of the two worlds, whatever is learned."""
    worlds = [drawn(told_before(cue), unit=100.0) for cue in (0, 1)] * 4
    costs = learned(worlds, updates=10, learning_rate=3e-3, core="mlp")[:2]
    lost = [cost - best for cost, best in zip(costs, best_costs(), strict=True)]
    assert sorted(lost) == pytest.approx([0, (1009 / 10 + 9 / 1000 - 9 / 10 - 19 / 1000) / 100], abs=1e-6)
