"""The network in torch: encoders, recalibration, one token a decision, memory over decisions, two heads."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from hpcsim.policies.ppo_gtrxl.blocks import make_core, seen_by
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig
from hpcsim.policies.ppo_gtrxl.recalibration import Recalibration, pooled


class Inputs(NamedTuple):
    """Observations of T decisions of S segments.

    *jobs* [S, T, K, F] and *nodes* [S, T, N, G], whose first features say which places are filled;
    *globals_* [S, T, H]; *prior* [S, T, K], the prior's score of each job, 0 without one.
    """

    jobs: Tensor
    nodes: Tensor
    globals_: Tensor
    prior: Tensor


class Carried(NamedTuple):
    """What a segment starts from: *states*, one [S, M, width] a layer, and which places are kept, [S, M].

    Of a transformer these are block inputs of earlier decisions, of a recurrent cell, with M = 1, its state.
    """

    states: tuple[Tensor, ...]
    is_kept: Tensor


class Outputs(NamedTuple):
    """*logits* [S, T, K], unmasked; *values* [S, T]; *states*, what to carry of each decision, [S, T, width] each."""

    logits: Tensor
    values: Tensor
    states: tuple[Tensor, ...]


class SchedulingNetwork(nn.Module):
    """Scores waiting jobs; see `NetworkConfig` for its parts.

    The last layer of the policy head begins at zero, so that a new network is its prior.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.jobs = _encoder(config.job_features, width)
        self.recalibrate_jobs = Recalibration(config)
        kinds = 1
        if config.node_features:
            self.nodes = _encoder(config.node_features, width)
            self.recalibrate_nodes = Recalibration(config)
            kinds = 2
        self.pool = nn.Linear(2 * kinds * width + config.global_features, width)
        self.core = make_core(config)
        self.policy = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, 1))
        self.value = nn.Sequential(nn.Linear(width + config.global_features, width), nn.ReLU(), nn.Linear(width, 1))
        self._initialise()

    def forward(self, inputs: Inputs, carried: Carried) -> Outputs:
        """Return logits, values and what later decisions carry, for whole segments at once."""
        is_job = inputs.jobs[..., 0] > 0
        tokens = self.recalibrate_jobs(self.jobs(inputs.jobs), is_job, inputs.globals_)
        summary = [*pooled(tokens, is_job)]
        if self.config.node_features:
            valid = inputs.nodes[..., 0] > 0
            nodes = self.recalibrate_nodes(self.nodes(inputs.nodes), valid, inputs.globals_)
            summary += pooled(nodes, valid)
        decision = self.pool(torch.cat([*summary, inputs.globals_], dim=-1))
        context, states = self._remember(decision, carried)
        beside = context.unsqueeze(-2).expand(*tokens.shape)
        logits = self.policy(torch.cat([tokens, beside], dim=-1)).squeeze(-1)
        if self.config.prior != "none":
            logits = logits + self.config.prior_weight * inputs.prior
        values = self.value(torch.cat([context, inputs.globals_], dim=-1)).squeeze(-1)
        return Outputs(logits, values, states)

    def nothing_carried(self, segments: int) -> Carried:
        """Return what the first segments of *segments* episodes start from."""
        width, places = self.config.width, carried_places(self.config)
        device = self.pool.weight.device
        states = tuple(torch.zeros(segments, places, width, device=device) for _ in range(self.config.layers))
        return Carried(states, torch.zeros(segments, places, dtype=torch.bool, device=device))

    def _remember(self, decision: Tensor, carried: Carried) -> tuple[Tensor, tuple[Tensor, ...]]:
        if self.config.core == "mlp":
            return decision + torch.relu(self.core[0](decision)), ()
        if self.config.core == "gru":
            return self._recur(decision, carried.states[0][:, 0].detach())
        states = []
        seen = seen_by(decision.shape[1], carried.is_kept)
        for block, memory in zip(self.core, carried.states, strict=True):
            states.append(decision)
            decision = block(decision, memory, seen)
        return decision, tuple(states)

    def _recur(self, decision: Tensor, state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        before, after = [], []
        for at in range(decision.shape[1]):
            before.append(state)
            state = self.core[0](decision[:, at], state)
            after.append(state)
        return torch.stack(after, dim=1), (torch.stack(before, dim=1),)

    def _initialise(self) -> None:
        """Begin with orthogonal weights, zero biases and a policy, and recalibrations, that change nothing."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.orthogonal_(module.weight, 2**0.5 if module.bias is not None else 1.0)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        for head, start in ((self.value, 1.0), (self.policy, 0.0)):
            last = head[-1]
            assert isinstance(last, nn.Linear)
            nn.init.orthogonal_(last.weight, start)
        for module in self.modules():
            if isinstance(module, Recalibration):
                for name in ("excite", "token"):
                    if hasattr(module, name):
                        nn.init.zeros_(getattr(module, name).weight)


def carried_places(config: NetworkConfig) -> int:
    """Return M of `Carried`: the memory of a transformer, 1 for a recurrent cell, 0 without memory."""
    return {"gru": 1, "mlp": 0}.get(config.core, config.memory)


def _encoder(features: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
