"""Relative attention of a segment's decisions over its memory and themselves.

Source: Dai et al., "Transformer-XL", ACL 2019, section 3.3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from hpcsim.policies.ppo_gtrxl.distances import sinusoids
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig

BLOCKED = -1e9
"""Score of a key that may not be seen: finite, so that no arithmetic makes NaN of it."""


class RelativeAttention(nn.Module):
    """Multi-head attention in which a key counts by its content and by how long ago it was.

    ``sinusoidal``: score = ((q + u) k + (q + v) W_R r(distance)) / sqrt(channels a head);
    ``table``: score = q k / sqrt(channels a head) + a learned scalar a head and distance.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        width, heads = config.width, config.heads
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.is_sinusoidal = config.positions == "sinusoidal"
        self.sinusoids: Tensor
        if self.is_sinusoidal:
            self.position = nn.Linear(width, width, bias=False)
            self.content_bias = nn.Parameter(torch.zeros(heads, width // heads))
            self.position_bias = nn.Parameter(torch.zeros(heads, width // heads))
            self.register_buffer("sinusoids", torch.from_numpy(sinusoids(config.span, width)), persistent=False)
        else:
            self.table = nn.Parameter(torch.zeros(heads, config.span))

    def forward(self, queries: Tensor, context: Tensor, seen: Tensor) -> Tensor:
        """Return what each query reads, [S, T, width].

        *queries* are [S, T, width]; *context*, [S, M + T, width], holds memory and then the queries' own
        places; *seen*, [S, T, M + T], says which keys each query may see.
        """
        query, key, value = (
            part.unflatten(-1, (self.heads, -1))
            for part in (self.query(queries), self.key(context), self.value(context))
        )
        scale = 1 / math.sqrt(query.shape[-1])
        distance = _distances(queries.shape[1], context.shape[1], queries.device)
        if self.is_sinusoidal:
            score = torch.einsum("sthc,sjhc->shtj", query + self.content_bias, key)
            encoded = self.position(self.sinusoids[: context.shape[1]]).unflatten(-1, (self.heads, -1))
            by_distance = torch.einsum("sthc,dhc->shtd", query + self.position_bias, encoded)
            score = (score + by_distance.gather(-1, distance.expand(*score.shape))) * scale
        else:
            score = torch.einsum("sthc,sjhc->shtj", query, key) * scale + self.table[:, distance]
        weights = torch.softmax(score.masked_fill(~seen[:, None], BLOCKED), dim=-1)
        read = torch.einsum("shtj,sjhc->sthc", weights, value).flatten(-2)
        out: Tensor = self.out(read)
        return out


def _distances(queries: int, keys: int, device: torch.device) -> Tensor:
    """Return how many decisions before each query each key was, [T, M + T]; 0 where it comes later."""
    own = torch.arange(keys - queries, keys, device=device)
    return (own[:, None] - torch.arange(keys, device=device)).clamp(min=0)
