"""What an ablation changes, one ingredient at a time; all else is the base's, the tuning too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hpcsim.errors import ExperimentError, closest

BASE = "base"
"""PPO-GTrXL as presets train it; every other variant is compared with it."""

BASELINE_PPO = "baseline PPO"
"""The same encoder and the same learning, no transformer and no memory."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A network and how it learns.

    Attributes:
        name: as tables say it.
        part: of the method that it changes.
        about: what it changes, in words.
        settings: of the trainer, in place of the base's.
    """

    name: str
    part: str
    about: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def _choices(part: str, key: str, about: Mapping[str, str]) -> list[Variant]:
    return [Variant(f"{part} {choice}", part, words, {key: choice}) for choice, words in about.items()]


_GATES = {
    "residual": "adds, without a gate",
    "output": "gate on what is added",
    "highway": "one gate for both",
    "input": "gate on what passes by",
    "sigtanh": "gate on a squashed sum",
}
_RECALIBRATIONS = {
    "se": "squeeze by the mean alone",
    "eca": "neighbouring channels, no bottleneck",
    "cbam": "channels, then tokens",
    "none": "channels as the encoder leaves them",
}
_ALONE = {"network.memory": 0, "network.segment": 1, "training.minibatch": 384}  # as many decisions a step: 24 x 16
_MLP = {"network.core": "mlp"}
_PLAIN = {**_MLP, "network.recalibration": "none", "training.surrogate": "clip", "training.group_share": 0.0}

VARIANTS: Mapping[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant(BASE, BASE, "GTrXL, GRU gates, SECT, memory of 16 decisions, Truly PPO, group baseline, SAF as prior"),
        *_choices("gate", "network.gate", _GATES),
        *_choices("recalibration", "network.recalibration", _RECALIBRATIONS),
        Variant("memory 0", "memory", "sees no more than its segment of 16 decisions", {"network.memory": 0}),
        Variant("memory 64", "memory", "sees 64 decisions before its segment", {"network.memory": 64}),
        Variant("no past", "memory", "memory 0 and segments of one decision: sees the present alone", _ALONE),
        Variant("clipped PPO", "learning", "clipped ratio in place of Truly PPO", {"training.surrogate": "clip"}),
        Variant("no group baseline", "learning", "advantages by GAE alone", {"training.group_share": 0.0}),
        Variant("no prior", "prior", "learns from nothing", {"network.prior": "none"}),
        Variant(BASELINE_PPO, "core", "MLP in place of the transformer: no memory", _MLP),
        Variant("core gru", "core", "recurrent cell in place of the transformer", {"network.core": "gru"}),
        Variant("core trxl", "core", "Transformer-XL without gates", {"network.core": "trxl"}),
        Variant("plain PPO", "all", "MLP, clipped PPO, no recalibration, no group baseline", _PLAIN),
    )
}
"""All variants by name, the base first."""


def chosen(names: Sequence[str]) -> list[Variant]:
    """Return the variants called *names* in the order of `VARIANTS`, the base always among them; all if none is named.

    Raises:
        ExperimentError: there is no such variant.
    """
    for name in names:
        if name not in VARIANTS:
            raise ExperimentError(
                f"There is no variant '{name}'.{closest(name, VARIANTS)}", f"Known: {', '.join(VARIANTS)}."
            )
    return [variant for name, variant in VARIANTS.items() if not names or name == BASE or name in names]
