"""How much better than expected each decision was: GAE over uneven gaps, and baselines of equal arrivals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def gaps_of(times_s: Floats) -> Floats:
    """Return the seconds from each decision to the next; 0 after the last, behind which nothing is expected."""
    return np.diff(times_s, append=times_s[-1:])


def discounts(gaps_s: Floats, rate_per_s: float) -> Floats:
    """Return the discount over each gap between decisions, exp(-rate x gap); all 1 at rate 0."""
    return np.exp(-rate_per_s * gaps_s)


def generalised_advantages(
    rewards: Floats, values: Floats, discount: Floats, trace: float, last_value: float = 0.0
) -> Floats:
    """Return the generalised advantage estimate of each decision of one episode.

    d_k = R_k + g_k V_{k+1} - V_k and A_k = d_k + g_k trace A_{k+1}, where g_k discounts the gap behind
    decision k. *last_value* is what is expected beyond the last one: 0 where the episode ended there.

    Source: Schulman et al., 2016, with gaps of their own as in Sutton, Precup and Singh, 1999.
    """
    following = np.append(values[1:], last_value)
    steps = (rewards + discount * following - values).tolist()
    decay = (discount * trace).tolist()
    ahead = 0.0
    advantages = np.empty(len(steps))
    for at in range(len(steps) - 1, -1, -1):
        advantages[at] = ahead = steps[at] + decay[at] * ahead
    return advantages


def returns_to_go(rewards: Floats, discount: Floats | None = None) -> Floats:
    """Return the sum of rewards from each decision on; each gap's *discount*, if any, is on what lies behind it."""
    if discount is None or (discount == 1).all():
        sums: Floats = rewards[::-1].cumsum()[::-1]
        return sums
    return generalised_advantages(rewards, np.zeros(len(rewards)), discount, trace=1.0)


def group_advantages(times_s: Sequence[Floats], rewards: Sequence[Floats], rate_per_s: float = 0.0) -> list[Floats]:
    """Return the return-to-go of each decision less the group's mean at its time.

    *times_s* and *rewards* belong to rollouts of one arrival sequence. Each rollout's return-to-go,
    discounted at *rate_per_s*, is read between its decisions by straight lines, and is 0 after its last one.

    Source: Mao et al., "Variance reduction for reinforcement learning in input-driven environments",
    ICLR 2019, as Decima uses it.
    """
    ahead = [
        returns_to_go(mine, discounts(gaps_of(mine_s), rate_per_s))
        for mine_s, mine in zip(times_s, rewards, strict=True)
    ]
    results = []
    for mine_s, mine in zip(times_s, ahead, strict=True):
        others = [
            np.interp(mine_s, its_s, its, right=0.0) if len(its_s) else np.zeros(len(mine_s))
            for its_s, its in zip(times_s, ahead, strict=True)
        ]
        results.append(mine - np.mean(others, axis=0))
    return results


def standardised(advantages: Sequence[Floats]) -> list[Floats]:
    """Return all *advantages* with mean 0 and deviation 1 over all of them together."""
    together = np.concatenate(advantages) if advantages else np.zeros(0)
    mean, deviation = (together.mean(), together.std()) if len(together) else (0.0, 0.0)
    return [(mine - mean) / (deviation + 1e-8) for mine in advantages]
