"""One update: several passes of gradient steps over segments of experience."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hpcsim.policies.ppo_gtrxl.experience import Experience
from hpcsim.policies.ppo_gtrxl.losses import Taken, loss, masked_log_probs
from hpcsim.policies.ppo_gtrxl.network import Carried, Inputs, SchedulingNetwork
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig


class Rates(NamedTuple):
    """What changes from update to update."""

    learning_rate: float
    entropy_bonus: float


class Report(NamedTuple):
    """What an update did: means over its steps, but for the last KL, and the ratio's error before the first."""

    policy_loss: float
    value_loss: float
    entropy: float
    kl: float
    clipped: float
    explained_variance: float
    ratio_error: float
    steps: int


class Batch(NamedTuple):
    """Experience as tensors: what the network reads, what it starts from, what was done."""

    inputs: Inputs
    carried: Carried
    mask: Tensor
    taken: Taken


def batch_of(experience: Experience, at: object, device: torch.device) -> Batch:
    """Return the segments *at* (an index) of *experience* as tensors on *device*."""

    def tensor(name: str) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(getattr(experience, name)[at])).to(device)

    inputs = Inputs(*(tensor(name) for name in Inputs._fields))
    states = tensor("carried")
    carried = Carried(tuple(states[:, :, layer] for layer in range(states.shape[2])), tensor("is_kept"))
    return Batch(inputs, carried, tensor("mask"), Taken(*(tensor(name) for name in Taken._fields)))


def learn(
    network: SchedulingNetwork,
    optimiser: torch.optim.Optimizer,
    experience: Experience,
    config: TrainingConfig,
    rates: Rates,
    rng: np.random.Generator,
) -> Report:
    """Improve *network* by *experience*; stop early when it has moved too far.

    `Report.ratio_error` is the largest difference of a taken action's log-probability from the one it
    was taken with, before the first step: above 1e-5 rollout and update would not see the same.
    """
    device = next(network.parameters()).device
    for group in optimiser.param_groups:
        group["lr"] = rates.learning_rate
    ratio_error = _ratio_error(network, experience, device)
    sums, steps, kl = np.zeros(4), 0, 0.0
    for _ in range(config.epochs):
        order = rng.permutation(len(experience))
        for start in range(0, len(order), config.minibatch):
            batch = batch_of(experience, order[start : start + config.minibatch], device)
            out = network(batch.inputs, batch.carried)
            losses = loss(out.logits, out.values, batch.mask, batch.taken, config, rates.entropy_bonus)
            optimiser.zero_grad(set_to_none=True)
            losses.total.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), config.gradient_norm)
            optimiser.step()
            sums += [part.item() for part in (losses.policy, losses.value, losses.entropy, losses.clipped)]
            kl = losses.kl.item()
            steps += 1
            if kl > config.target_kl:
                break
        if kl > config.target_kl:
            break
    policy_loss, value_loss, entropy, clipped = (sums / max(steps, 1)).tolist()
    explained = explained_variance(experience)
    return Report(policy_loss, value_loss, entropy, kl, clipped, explained, ratio_error, steps)


def explained_variance(experience: Experience) -> float:
    """Return the share of the returns' variance that the rollout's values explain; 0 where they do not vary."""
    asked = experience.weight > 0
    returns, values = experience.returns[asked], experience.values[asked]
    variance = float(returns.var()) if len(returns) else 0.0
    return 1 - float((returns - values).var()) / variance if variance else 0.0


def _ratio_error(network: SchedulingNetwork, experience: Experience, device: torch.device) -> float:
    largest = 0.0
    with torch.no_grad():
        for start in range(0, len(experience), 256):
            batch = batch_of(experience, slice(start, start + 256), device)
            new = masked_log_probs(network(batch.inputs, batch.carried).logits, batch.mask)
            at = batch.taken.actions.unsqueeze(-1)
            error = (new.gather(-1, at) - batch.taken.log_probs.gather(-1, at)).squeeze(-1) * batch.taken.weight
            largest = max(largest, float(error.abs().max()))
    return largest
