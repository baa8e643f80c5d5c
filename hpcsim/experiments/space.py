"""From points of the unit cube to settings: what a search engine proposes, and what it means."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hpcsim.experiments.study import Choices, Range, Study

FINEST = 10_000
"""Whole-numbered ranges of more values than this are taken for continuous, and rounded."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One parameter: *name* is ``policy.depth`` or ``cluster.nodes``."""

    name: str
    choices: Choices

    @property
    def levels(self) -> int:
        """How many different values there are; 0 for a continuous range."""
        if not isinstance(self.choices, Range):
            return len(self.choices)
        is_even = self._is_whole and self.choices.scale == "linear"
        count = int(self.choices.high - self.choices.low) + 1
        return count if is_even and count <= FINEST else 0

    def value(self, share: float) -> Any:
        """Return what lies at *share* (0 to 1) of the way."""
        if not isinstance(self.choices, Range):
            return self.choices[round(share * (len(self.choices) - 1))]
        low, high = self.choices.low, self.choices.high
        if self.choices.scale == "log":
            value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            value = low + share * (high - low)
        return round(value) if self._is_whole else float(value)

    @property
    def _is_whole(self) -> bool:
        return (
            isinstance(self.choices, Range) and isinstance(self.choices.low, int) and isinstance(self.choices.high, int)
        )


def dimensions(study: Study) -> list[Dimension]:
    """Return what *study* searches, the policy's parameters first."""
    spaces = (("policy", study.space.policy), ("cluster", study.space.cluster))
    return [Dimension(f"{what}.{key}", choices) for what, space in spaces for key, choices in space.items()]


def setting(axes: list[Dimension], point: Any) -> dict[str, Any]:
    """Return the value of each dimension at *point*."""
    return {axis.name: axis.value(float(share)) for axis, share in zip(axes, point, strict=True)}


def parameters(fixed: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return *fixed* parameters with *chosen* ones; ``order.weight`` goes into the table ``order``."""
    merged = dict(fixed)
    for key, value in chosen.items():
        outer, dot, inner = key.partition(".")
        if not dot:
            merged[key] = value
            continue
        table = merged.get(outer, {})
        merged[outer] = ({"name": table} if isinstance(table, str) else dict(table)) | {inner: value}
    return merged
