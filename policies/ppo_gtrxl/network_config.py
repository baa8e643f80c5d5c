"""What a network is: every choice of the architecture, frozen, and checked when it is made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from hpcsim.errors import InvalidArgument, closest
from hpcsim.policies.learning.priors import HEURISTIC_PRIORS

CORES = ("gtrxl", "trxl", "gru", "mlp")
GATES = ("gru", "output", "highway", "input", "sigtanh", "residual")
RECALIBRATIONS = ("sect", "se", "eca", "cbam", "none")
POSITIONS = ("table", "sinusoidal")

_CHOICES = {
    "core": CORES,
    "gate": GATES,
    "recalibration": RECALIBRATIONS,
    "positions": POSITIONS,
    "prior": tuple(HEURISTIC_PRIORS),
}
_LEAST = {"job_features": 1, "node_features": 0, "global_features": 0, "memory": 0}
_MOST = {"blocks": 64}
LARGEST = 4_096
"""Of any other size: far more than any such network has, and little enough for a mistyped one to do no harm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkConfig:
    """The architecture of a scheduling network.

    Attributes:
        job_features, node_features, global_features: of one observation, as its schema has them.
        width: channels of every token, a multiple of *heads*.
        core: what carries one decision to the next. ``gtrxl``, gated blocks with memory; ``trxl``,
            the same without gates, normalised after each part; ``gru``, one recurrent cell;
            ``mlp``, nothing: the baseline PPO, with the same encoder.
        blocks, heads: of the transformer cores.
        memory: earlier decisions that a segment sees, besides its own.
        segment: decisions that are learned from together; gradients flow within them.
        gate: of a ``gtrxl`` block; ``residual`` adds, without a gate.
        gate_bias: where a gate's bias begins; above 0 a block begins near the identity.
        positions: how distances between decisions count: a learned ``table`` of one scalar a head and
            distance, or Transformer-XL's ``sinusoidal`` encodings with learned projections.
        recalibration: of token channels, see `hpcsim.policies.ppo_gtrxl.recalibration`.
        token_attention: with ``sect``, one gated self-attention layer over the tokens as well.
        reduction: of the channels in the bottleneck of a recalibration.
        prior: the rule that the policy begins as, by name (`HEURISTIC_PRIORS`), or ``none``.
        prior_weight: what the prior's score is multiplied by before it joins the logits.

    Raises:
        InvalidArgument: a value is none of the choices or out of its range.
    """

    job_features: int
    node_features: int
    global_features: int
    width: int = 24
    core: str = "gtrxl"
    blocks: int = 1
    heads: int = 2
    memory: int = 16
    segment: int = 16
    gate: str = "gru"
    gate_bias: float = 2.0
    positions: str = "table"
    recalibration: str = "sect"
    token_attention: bool = False
    reduction: int = 4
    prior: str = "none"
    prior_weight: float = 2.0

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            _check_choice(name, getattr(self, name), known)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "int":
                _check_size(field.name, value)
            elif field.type == "float":
                _check_number(field.name, value)
            elif field.type == "bool" and not isinstance(value, bool):
                raise InvalidArgument(f"{field.name} is {value!r}.", "Give true or false.")
        if self.width % self.heads:
            raise InvalidArgument(
                f"width is {self.width} and no multiple of heads = {self.heads}.", "Give each head as many channels."
            )

    @property
    def span(self) -> int:
        """Decisions that a query can see at most, its own among them."""
        return self.memory + self.segment

    @property
    def has_memory(self) -> bool:
        """Whether earlier decisions can bear on a later one."""
        return self.core != "mlp"

    @property
    def layers(self) -> int:
        """States that are carried from decision to decision: one a block, one of a recurrent cell, none."""
        return {"gtrxl": self.blocks, "trxl": self.blocks, "gru": 1, "mlp": 0}[self.core]

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the configuration of plain data.

        Raises:
            InvalidArgument: a key is unknown or missing, or a value wrong.
        """
        known = [field.name for field in fields(cls)]
        for key in values:
            if key not in known:
                raise InvalidArgument(f"A network has no '{key}'.{closest(key, known)}", f"It has: {', '.join(known)}.")
        try:
            return cls(**values)
        except InvalidArgument:
            raise
        except TypeError as error:
            raise InvalidArgument(f"The description of the network is incomplete: {error}.", "Add it.") from error


def _check_choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InvalidArgument(f"{name} is {value!r}.{closest(str(value), known)}", f"Give one of: {', '.join(known)}.")


def _check_size(name: str, value: Any) -> None:
    least, most = _LEAST.get(name, 1), _MOST.get(name, LARGEST)
    if type(value) is not int or not least <= value <= most:
        raise InvalidArgument(f"{name} is {value!r:.40}.", f"Give a whole number from {least} to {most:,}.")


def _check_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise InvalidArgument(f"{name} is {value!r:.40}.", f"Give a number from -{LARGEST:,} to {LARGEST:,}.")


def kernel_width(width: int) -> int:
    """Return how many neighbouring channels ECA looks at: the odd number nearest to log2(width)/2 + 1/2."""
    return max(1, 2 * round((math.log2(width) / 2 + 0.5 - 1) / 2) + 1)
