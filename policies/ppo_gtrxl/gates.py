"""Gates that take the place of a residual sum: x, the stream, and y, what a part of the block adds.

Source: Parisotto et al., "Stabilizing transformers for reinforcement learning", ICML 2020, section 3.2.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class GRUGate(nn.Module):
    """A gated recurrent unit whose state is x and whose input is y; matrices without bias.

    r = s(W_r y + U_r x), z = s(W_z y + U_z x - b), h = tanh(W_g y + U_g (r x)), (1 - z) x + z h.
    """

    def __init__(self, width: int, bias: float) -> None:
        super().__init__()
        self.from_y = nn.Linear(width, 3 * width, bias=False)
        self.from_x = nn.Linear(width, 2 * width, bias=False)
        self.candidate = nn.Linear(width, width, bias=False)
        self.bias = nn.Parameter(torch.full((width,), float(bias)))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the gated stream, shaped as x."""
        y_r, y_z, y_g = self.from_y(y).chunk(3, dim=-1)
        x_r, x_z = self.from_x(x).chunk(2, dim=-1)
        reset = torch.sigmoid(y_r + x_r)
        update = torch.sigmoid(y_z + x_z - self.bias)
        candidate = torch.tanh(y_g + self.candidate(reset * x))
        return (1 - update) * x + update * candidate


class OneGate(nn.Module):
    """The gates with one sigmoid.

    ``input``: s(W x) x + y; ``output``: x + s(W x - b) y; ``highway``: s(W x + b) x + (1 - s(W x + b)) y;
    ``sigtanh``: x + s(W y - b) tanh(U y).
    """

    def __init__(self, kind: str, width: int, bias: float) -> None:
        super().__init__()
        self.kind = kind
        self.weight = nn.Linear(width, width, bias=False)
        if kind != "input":
            self.bias = nn.Parameter(torch.full((width,), float(bias)))
        if kind == "sigtanh":
            self.candidate = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the gated stream, shaped as x."""
        if self.kind == "input":
            return torch.sigmoid(self.weight(x)) * x + y
        if self.kind == "output":
            return x + torch.sigmoid(self.weight(x) - self.bias) * y
        if self.kind == "highway":
            keep = torch.sigmoid(self.weight(x) + self.bias)
            return keep * x + (1 - keep) * y
        return x + torch.sigmoid(self.weight(y) - self.bias) * torch.tanh(self.candidate(y))


class Sum(nn.Module):
    """No gate: x + y."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the sum."""
        return x + y


def make_gate(kind: str, width: int, bias: float) -> nn.Module:
    """Return the gate called *kind*, one of `hpcsim.policies.ppo_gtrxl.network_config.GATES`."""
    if kind == "gru":
        return GRUGate(width, bias)
    return Sum() if kind == "residual" else OneGate(kind, width, bias)
