"""Recalibration: which channels of the tokens matter, judged from all of them together.

``sect``, our reading of the paper's name: squeeze by mean, maximum and the global features, excite
through a bottleneck, and, with token attention, one gated self-attention layer over the tokens.
``se``: squeeze by the mean alone (Hu, Shen and Sun, CVPR 2018). ``eca``: the mean, and a convolution
over neighbouring channels in place of the bottleneck (Wang et al., CVPR 2020). ``cbam``: mean and
maximum through one bottleneck, then a gate for each token (Woo et al., ECCV 2018). Each multiplies by
twice a sigmoid that begins at one half, so that a new network begins with the identity.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from hpcsim.policies.ppo_gtrxl.attention import BLOCKED
from hpcsim.policies.ppo_gtrxl.gates import make_gate
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig, kernel_width


class Recalibration(nn.Module):
    """Rescales tokens [..., T, width], of which *valid* [..., T] count."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.kind = config.recalibration
        width, narrow = config.width, max(1, config.width // config.reduction)
        squeezed = {"sect": 2 * width + config.global_features, "se": width, "cbam": width}
        if self.kind in squeezed:
            self.squeeze = nn.Linear(squeezed[self.kind], narrow)
            self.excite = nn.Linear(narrow, width)
        if self.kind == "eca":
            self.kernel = nn.Parameter(torch.zeros(kernel_width(width)))
        if self.kind == "cbam":
            self.token = nn.Linear(2, 1)
        if self.kind == "sect" and config.token_attention:
            self.attention: TokenAttention | None = TokenAttention(config)
        else:
            self.attention = None

    def forward(self, tokens: Tensor, valid: Tensor, globals_: Tensor) -> Tensor:
        """Return the tokens, rescaled; *globals_* are [..., H]."""
        if self.kind == "none":
            return tokens
        mean, largest = pooled(tokens, valid)
        tokens = tokens * (2 * torch.sigmoid(self._score(mean, largest, globals_))).unsqueeze(-2)
        if self.kind == "cbam":
            of_token = torch.stack([tokens.mean(-1), tokens.amax(-1)], dim=-1)
            tokens = tokens * (2 * torch.sigmoid(self.token(of_token)))
        return tokens if self.attention is None else self.attention(tokens, valid)

    def _score(self, mean: Tensor, largest: Tensor, globals_: Tensor) -> Tensor:
        if self.kind == "eca":
            return neighbours(mean, len(self.kernel)) @ self.kernel
        if self.kind == "cbam":
            excited: Tensor = self._excite(mean) + self._excite(largest)
            return excited
        return self._excite(torch.cat([mean, largest, globals_], dim=-1) if self.kind == "sect" else mean)

    def _excite(self, squeezed: Tensor) -> Tensor:
        excited: Tensor = self.excite(torch.relu(self.squeeze(squeezed)))
        return excited


class TokenAttention(nn.Module):
    """One gated self-attention layer over the tokens of one decision; it knows no order among them."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.norm = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = make_gate(config.gate, width, config.gate_bias)

    def forward(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """Return the tokens [..., T, width] after each has read the *valid* ones."""
        parts = self.query_key_value(self.norm(tokens)).chunk(3, dim=-1)
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(-2, -3) for part in parts)
        score = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
        weights = torch.softmax(score.masked_fill(~valid[..., None, None, :], BLOCKED), dim=-1)
        read = (weights @ value).transpose(-2, -3).flatten(-2)
        gated: Tensor = self.gate(tokens, torch.relu(self.out(read)))
        return gated


def pooled(tokens: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and maximum over the *valid* tokens, [..., width] each; 0 where none is."""
    weight = valid.to(tokens.dtype).unsqueeze(-1)
    count = weight.sum(-2)
    mean = (tokens * weight).sum(-2) / count.clamp(min=1)
    largest = tokens.masked_fill(~valid.unsqueeze(-1), -torch.inf).amax(-2)
    return mean, torch.where(count > 0, largest, 0.0)


def neighbours(channels: Tensor, count: int) -> Tensor:
    """Return each channel's *count* neighbours, [..., width, count], with zeros beyond the ends."""
    side = count // 2
    return nn.functional.pad(channels, (side, side)).unfold(-1, count, 1)
