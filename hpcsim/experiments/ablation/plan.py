"""Sizes of an ablation, and the cells that it consists of: a network a variant and seed, and a rule each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hpcsim.errors import ExperimentError, closest
from hpcsim.experiments.ablation.variants import VARIANTS, Variant, chosen
from hpcsim.experiments.evaluation.contenders import RULES, Contender

SUITE = "windows-fresh"
"""Where networks are tested: generated workloads that no training and no validation has, and no public log."""

TRAINER, POLICY = "ppo-gtrxl", "ppo-gtrxl"
"""Names in the registry of what trains and of what is trained."""

UNTRAINED = Contender("untrained, no prior", POLICY, {"checkpoint": "untrained"})

BESIDE = (*RULES, UNTRAINED)
"""Who stands beside the variants: rules, and a network that has learned nothing (with SAF as prior it is SAF)."""

RULE_EFFORT = 0.1
"""Time that a rule's cell takes, roughly, where a network's takes 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A size of the study.

    Attributes:
        decisions: that each network learns from, neither more nor fewer.
        seeds: trainings of each variant, from seed 0 on.
        sequences: of `SUITE` that networks are tested on, evenly spread.
        settings: of the trainer, the same for all variants.
        variants: names of the variants; empty: all.
    """

    decisions: int
    seeds: int
    sequences: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    variants: tuple[str, ...] = ()


_SMALL_DATA = {"generated.jobs": 300, "validation.sequences": 2, "validation.jobs": 64}
_SMALL = {"training.sequences": 2, "training.group": 2, "training.jobs": 96, "training.pool": 2, "training.epochs": 1}
_QUICK = {"training.sequences": 2, "training.pool": 4, "training.validate_every": 2, "training.learning_rate": 3e-3}
_QUICK_DATA = {"generated.jobs": 4_000, "validation.sequences": 12, "validation.jobs": 384}
_LONG = {"training.sequences": 8, "training.learning_rate": 2e-3, "validation.sequences": 32}

PRESETS: Mapping[str, Preset] = {
    "smoke": Preset(
        decisions=120,
        seeds=2,
        sequences=2,
        settings=_SMALL_DATA | _SMALL,
        variants=("gate residual", "memory 0", "baseline PPO"),
    ),
    "demo": Preset(decisions=8_000, seeds=3, sequences=15, settings=_QUICK | _QUICK_DATA),
    "full": Preset(decisions=500_000, seeds=5, sequences=150, settings=_LONG),
}
"""Sizes by name: seconds, half an hour, and days of one idle core."""


def find_preset(name: str) -> Preset:
    """Return the preset called *name*.

    Raises:
        ExperimentError: there is none.
    """
    if name not in PRESETS:
        raise ExperimentError(f"There is no preset '{name}'.{closest(name, PRESETS)}", f"Known: {', '.join(PRESETS)}.")
    return PRESETS[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One network to be trained and tested, or with *rule* one of `BESIDE` to be tested.

    Attributes:
        label: of the variant or the rule.
        settings: of the trainer, all that differ from its preset; None for a rule.
        seed: of the training; 0 for a rule.
        sequences: of `SUITE`.
    """

    label: str
    settings: Mapping[str, Any] | None
    seed: int
    sequences: int

    @property
    def key(self) -> str:
        """A name that follows from everything that the result follows from; a variant's name is not among it."""
        from hpcsim import __version__

        what = {"settings": self.settings, "seed": self.seed, "sequences": self.sequences, "version": __version__}
        if self.settings is None:
            what["rule"] = self.label
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:20]

    @property
    def effort(self) -> float:
        """How long it takes, in those of a network."""
        return RULE_EFFORT if self.settings is None else 1.0

    @property
    def name(self) -> str:
        """What people are told it is."""
        return self.label if self.settings is None else f"{self.label}, seed {self.seed}"


def variants_of(preset: Preset, names: Sequence[str] = ()) -> list[Variant]:
    """Return the variants of a study: those called *names*, else the preset's; the base always among them."""
    return chosen(names or preset.variants or list(VARIANTS))


def cells(preset: Preset, variants: Sequence[Variant]) -> list[Cell]:
    """Return all cells: rules first, then every variant of one seed before the next seed begins."""
    rules = [Cell(label=rule.label, settings=None, seed=0, sequences=preset.sequences) for rule in BESIDE]
    return [*rules, *_networks(preset, variants)]


def _networks(preset: Preset, variants: Sequence[Variant]) -> Iterator[Cell]:
    # A training ends by its decisions; an update has many more than one.
    same = {**preset.settings, "training.decisions": preset.decisions, "training.updates": preset.decisions}
    for seed in range(preset.seeds):
        for variant in variants:
            yield Cell(label=variant.name, settings={**same, **variant.settings}, seed=seed, sequences=preset.sequences)
