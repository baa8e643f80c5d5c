"""Small networks with weights that no initialisation leaves at zero, and observations for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from hpcsim.policies.ppo_gtrxl.forward import Forward, Step
from hpcsim.policies.ppo_gtrxl.network import Carried, Inputs, Outputs, SchedulingNetwork, carried_places
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig

SMALL = {"job_features": 5, "node_features": 3, "global_features": 4, "width": 8, "memory": 4, "segment": 4}


def small_config(**changes: Any) -> NetworkConfig:
    return NetworkConfig(**(SMALL | changes))


def shaken(config: NetworkConfig, seed: int = 0) -> SchedulingNetwork:
    """Return a network all of whose weights are random, so that every part of it counts."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = SchedulingNetwork(config)
    with torch.no_grad():
        for weights in network.parameters():
            weights.add_(torch.randn(weights.shape, generator=generator), alpha=0.3)
    return network


def observations(config: NetworkConfig, segments: int, steps: int, window: int = 6, seed: int = 0) -> Inputs:
    """Return random observations; the window holds from one job to *window* of them."""
    rng = np.random.default_rng(seed)
    shape = (segments, steps)
    jobs = rng.normal(size=(*shape, window, config.job_features)).astype(np.float32)
    jobs[..., 0] = np.arange(window) < rng.integers(1, window + 1, size=(*shape, 1))
    jobs *= jobs[..., :1]
    nodes = rng.normal(size=(*shape, 2, config.node_features)).astype(np.float32)
    if config.node_features:
        nodes[..., 0] = 1
    globals_ = rng.normal(size=(*shape, config.global_features)).astype(np.float32)
    prior = rng.normal(size=(*shape, window)).astype(np.float32)
    return Inputs(*(torch.from_numpy(array) for array in (jobs, nodes, globals_, prior)))


def forward_of(network: SchedulingNetwork) -> Forward:
    return Forward(network.config, {name: value.detach().numpy() for name, value in network.state_dict().items()})


def by_segments(network: SchedulingNetwork, inputs: Inputs) -> Outputs:
    """Return the outputs of one long episode, learned from segment by segment, as training does."""
    config, steps = network.config, inputs.jobs.shape[1]
    kept = [torch.zeros(1, 0, config.width) for _ in range(config.layers)]
    parts = []
    for start in range(0, steps, config.segment):
        some = Inputs(*(array[:, start : start + config.segment] for array in inputs))
        out = network(some, carried(config, kept, start))
        kept = [torch.cat([old, new], dim=1) for old, new in zip(kept, out.states, strict=True)]
        parts.append(out)
    logits, values = (torch.cat([getattr(part, name) for part in parts], dim=1) for name in ("logits", "values"))
    return Outputs(logits, values, tuple(kept))


def carried(config: NetworkConfig, kept: list[torch.Tensor], start: int) -> Carried:
    """Return what the segment from *start* on carries of the block inputs *kept*."""
    places = carried_places(config)
    if config.core == "gru":
        state = kept[0][:, -1:] if start else torch.zeros(1, 1, config.width)
        return Carried((state,), torch.ones(1, 1, dtype=torch.bool))
    have = min(places, start)
    states = tuple(torch.cat([torch.zeros(1, places - have, config.width), old[:, start - have :]], 1) for old in kept)
    return Carried(states, torch.arange(places)[None] >= places - have)


def step_of(inputs: Inputs, at: int) -> Step:
    return Step(*(array[:, at].numpy() for array in inputs))
