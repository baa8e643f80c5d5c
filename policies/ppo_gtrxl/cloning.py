"""Behaviour cloning: before the first update, learn to choose as a rule does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from hpcsim.policies.learning.priors import HEURISTIC_PRIORS
from hpcsim.policies.ppo_gtrxl.experience import Experience
from hpcsim.policies.ppo_gtrxl.losses import masked_log_probs
from hpcsim.policies.ppo_gtrxl.network import SchedulingNetwork
from hpcsim.policies.ppo_gtrxl.update import batch_of


def clone(
    network: SchedulingNetwork,
    optimiser: torch.optim.Optimizer,
    experience: Experience,
    scores: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
    *,
    steps: int,
    minibatch: int,
    rng: np.random.Generator,
) -> float:
    """Take *steps* gradient steps towards the actions of the largest *scores* [S, T, K]; return the last loss."""
    device = next(network.parameters()).device
    wanted = np.where(experience.mask, scores, -np.inf).argmax(-1)
    last = 0.0
    for _ in range(steps):
        at = rng.choice(len(experience), size=min(minibatch, len(experience)), replace=False)
        batch = batch_of(experience, at, device)
        log_probs = masked_log_probs(network(batch.inputs, batch.carried).logits, batch.mask)
        chosen = log_probs.gather(-1, torch.from_numpy(wanted[at]).to(device).unsqueeze(-1)).squeeze(-1)
        surprise = -(chosen * batch.taken.weight).sum() / batch.taken.weight.sum().clamp(min=1)
        optimiser.zero_grad(set_to_none=True)
        surprise.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        last = surprise.item()
    return last


def scores_of(rule: str, experience: Experience) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Return the scores of a rule that features tell, [S, T, K]."""
    from hpcsim.policies.learning.observation import Observation

    flat: Sequence[Observation] = [
        Observation(jobs, nodes, globals_, mask.astype(np.int8))
        for jobs, nodes, globals_, mask in zip(
            experience.jobs.reshape(-1, *experience.jobs.shape[2:]),
            experience.nodes.reshape(-1, *experience.nodes.shape[2:]),
            experience.globals_.reshape(-1, experience.globals_.shape[-1]),
            experience.mask.reshape(-1, experience.mask.shape[-1]),
            strict=True,
        )
    ]
    return np.stack([HEURISTIC_PRIORS[rule](one) for one in flat]).reshape(experience.mask.shape)
