"""Presets of a training: a minute that shows that it works, one network in minutes, several in hours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hpcsim.errors import UnknownName, closest
from hpcsim.policies.ppo_gtrxl.checkpoint import View
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A whole training.

    Attributes:
        training: the recipe.
        network: choices of `NetworkConfig` other than its defaults.
        view: what the network is shown.
        seeds: one network is trained of each.
        generated_jobs: of each generated log, to train on.
        validation_sequences, validation_jobs: how many, and how long.
        checks_itself: the training is done twice and held against itself: the same weights, the ratio
            before a step, finite losses, and a checkpoint that reads back.
    """

    training: TrainingConfig
    network: Mapping[str, Any] = field(default_factory=lambda: {"prior": "saf"})
    view: View = field(default_factory=View)
    seeds: tuple[int, ...] = (0,)
    generated_jobs: int = 10_000
    validation_sequences: int = 24
    validation_jobs: int = 512
    checks_itself: bool = False


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "smoke": Preset(
            training=TrainingConfig(updates=2, sequences=2, group=3, jobs=64, pool=4, epochs=2, validate_every=2),
            generated_jobs=600,
            validation_sequences=2,
            validation_jobs=64,
            checks_itself=True,
        ),
        "demo": Preset(training=TrainingConfig(updates=24, sequences=6, learning_rate=3e-3, pool=8, validate_every=8)),
        "report": Preset(
            training=TrainingConfig(updates=150, sequences=8, learning_rate=2e-3),
            seeds=(0, 1, 2, 3, 4),
            validation_sequences=32,
        ),
    }
)
"""Presets by name."""


def find_preset(name: str) -> Preset:
    """Return the preset called *name*.

    Raises:
        UnknownName: there is none.
    """
    if name not in PRESETS:
        raise UnknownName(f"There is no preset '{name}'.{closest(name, PRESETS)}", f"Known: {', '.join(PRESETS)}.")
    return PRESETS[name]
