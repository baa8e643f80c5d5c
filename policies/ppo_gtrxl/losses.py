"""What an update minimises: clipped PPO or Truly PPO, over masked categorical policies."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig

IMPOSSIBLE = -1e9
"""Logit of a masked action: large and finite, so that its probability is 0 and no arithmetic makes NaN."""


class Taken(NamedTuple):
    """What was decided in the rollouts of a minibatch, all [S, T] but for the mask and log-probabilities, [S, T, K].

    *weight* is 1 where a decision was asked and 0 in the padding behind an episode's end.
    """

    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor
    weight: Tensor


class Loss(NamedTuple):
    """The sum to be minimised and what is worth watching: means over the decisions that were asked."""

    total: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor
    kl: Tensor
    clipped: Tensor


def masked_log_probs(logits: Tensor, mask: Tensor) -> Tensor:
    """Return log-probabilities [..., K]; of masked actions hugely negative, whose probability is exactly 0."""
    return torch.log_softmax(logits.masked_fill(~mask, IMPOSSIBLE), dim=-1)


def entropy(log_probs: Tensor) -> Tensor:
    """Return the entropy of each distribution in nats; masked actions add nothing."""
    probabilities = log_probs.exp()
    return -(probabilities * log_probs.clamp(min=IMPOSSIBLE)).sum(-1)


def divergence(old: Tensor, new: Tensor) -> Tensor:
    """Return KL(old || new) of log-probabilities [..., K], exactly; masked actions add nothing."""
    probabilities = old.exp()
    return (probabilities * (old - new)).sum(-1)


def clipped_objective(ratio: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """Return PPO's: the smaller of r A and clip(r, 1 - clip, 1 + clip) A.

    Source: Schulman et al., "Proximal policy optimization algorithms", 2017.
    """
    return torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)


def truly_objective(
    ratio: Tensor, advantage: Tensor, kl: Tensor, *, delta: float, rollback: float, slope: float
) -> Tensor:
    """Return Truly PPO's: r A, but slope r A - rollback KL where KL >= delta and the step still pushes outward.

    Source: Wang, He and Tan, "Truly proximal policy optimization", UAI 2019, as its authors' code has it.
    """
    is_triggered = (kl >= delta) & (ratio * advantage > advantage)
    return torch.where(is_triggered, slope * ratio * advantage - rollback * kl, ratio * advantage)


def loss(
    logits: Tensor, values: Tensor, mask: Tensor, taken: Taken, config: TrainingConfig, entropy_bonus: float
) -> Loss:
    """Return the loss of a minibatch under *config*."""
    new = masked_log_probs(logits, mask)
    at = taken.actions.unsqueeze(-1)
    ratio = (new.gather(-1, at) - taken.log_probs.gather(-1, at)).squeeze(-1).exp()
    kl = divergence(taken.log_probs, new)
    if config.surrogate == "truly":
        gain = truly_objective(
            ratio, taken.advantages, kl, delta=config.delta, rollback=config.rollback, slope=config.slope
        )
        is_clipped = (kl >= config.delta) & (ratio * taken.advantages > taken.advantages)
    else:
        gain = clipped_objective(ratio, taken.advantages, config.clip)
        is_clipped = (ratio - 1).abs() > config.clip
    policy = -_mean(gain, taken.weight)
    value = _mean((values - taken.returns) ** 2, taken.weight)
    spread = _mean(entropy(new), taken.weight)
    total = policy + config.value_weight * value - entropy_bonus * spread
    return Loss(total, policy, value, spread, _mean(kl, taken.weight), _mean(is_clipped.float(), taken.weight))


def _mean(of: Tensor, weight: Tensor) -> Tensor:
    return (of * weight).sum() / weight.sum().clamp(min=1)
