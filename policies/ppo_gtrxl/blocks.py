"""What carries one decision to the next: transformer blocks with memory, a recurrent cell, or nothing."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hpcsim.policies.ppo_gtrxl.attention import RelativeAttention
from hpcsim.policies.ppo_gtrxl.gates import make_gate
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig


class GTrXLBlock(nn.Module):
    """A block of the gated Transformer-XL with identity map reordering.

    Only what enters a part is normalised, what leaves it passes a ReLU, and a gate joins it to the
    stream; so an untouched path leads from the first block to the heads.

    Source: Parisotto et al., ICML 2020, section 3.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        width = config.width
        self.norm_attention = nn.LayerNorm(width)
        self.attention = RelativeAttention(config)
        self.gate_attention = make_gate(config.gate, width, config.gate_bias)
        self.norm_mlp = nn.LayerNorm(width)
        self.mlp = feed_forward(width)
        self.gate_mlp = make_gate(config.gate, width, config.gate_bias)

    def forward(self, stream: Tensor, memory: Tensor, seen: Tensor) -> Tensor:
        """Return the block's output for *stream* [S, T, width], which sees *memory* [S, M, width] as *seen*."""
        context = self.norm_attention(torch.cat([memory.detach(), stream], dim=1))
        queries = context[:, memory.shape[1] :]
        stream = self.gate_attention(stream, torch.relu(self.attention(queries, context, seen)))
        joined: Tensor = self.gate_mlp(stream, torch.relu(self.mlp(self.norm_mlp(stream))))
        return joined


class TrXLBlock(nn.Module):
    """A block of the Transformer-XL as published: no gates, sums normalised after each part.

    Source: Dai et al., ACL 2019.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.attention = RelativeAttention(config)
        self.norm_attention = nn.LayerNorm(config.width)
        self.mlp = feed_forward(config.width)
        self.norm_mlp = nn.LayerNorm(config.width)

    def forward(self, stream: Tensor, memory: Tensor, seen: Tensor) -> Tensor:
        """Return the block's output, as `GTrXLBlock`."""
        context = torch.cat([memory.detach(), stream], dim=1)
        stream = self.norm_attention(stream + self.attention(stream, context, seen))
        out: Tensor = self.norm_mlp(stream + self.mlp(stream))
        return out


def feed_forward(width: int) -> nn.Sequential:
    """Return the position-wise part: width to 4 width to width, with a ReLU between."""
    return nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))


def make_core(config: NetworkConfig) -> nn.ModuleList:
    """Return the modules of `NetworkConfig.core`."""
    if config.core == "gru":
        return nn.ModuleList([nn.GRUCell(config.width, config.width)])
    if config.core == "mlp":
        return nn.ModuleList([feed_forward(config.width)])
    kind = GTrXLBlock if config.core == "gtrxl" else TrXLBlock
    return nn.ModuleList([kind(config) for _ in range(config.blocks)])


def seen_by(segment: int, is_kept: Tensor) -> Tensor:
    """Return which keys each of *segment* queries may see, [S, T, M + T].

    *is_kept*, [S, M], says which places of memory hold a decision. A query sees these, and of the
    segment itself what came before it and itself.
    """
    causal = torch.ones(segment, segment, dtype=torch.bool, device=is_kept.device).tril()
    samples = is_kept.shape[0]
    memory = is_kept[:, None, :].expand(samples, segment, -1)
    return torch.cat([memory, causal.expand(samples, -1, -1)], dim=-1)
