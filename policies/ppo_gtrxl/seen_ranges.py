"""Which values each feature took in training: what a network knows, and where it should not be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument

Floats = NDArray[np.float32]

FAR = 0.5
"""A value is far out if it lies beyond the seen range by this share of the range's width."""

MOST_FAR = 0.5
"""Share of a window's jobs that may be far out."""

_KINDS = ("jobs", "nodes", "globals")


@dataclass(frozen=True, slots=True, eq=False)
class SeenRanges:
    """The least and the largest value of each feature in training: of jobs [F], node groups [G], the machine [H].

    A feature that never moved in training, such as a user's history where the logs name no users, means
    nothing to the network: whatever it is later, the network is shown what it knows.
    """

    jobs: tuple[Floats, Floats]
    nodes: tuple[Floats, Floats]
    globals: tuple[Floats, Floats]
    _far_jobs: tuple[Floats, Floats] = field(init=False)
    _far_globals: tuple[Floats, Floats] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_far_jobs", _far(self.jobs))
        object.__setattr__(self, "_far_globals", _far(self.globals))

    def within(self, jobs: Floats, nodes: Floats, globals_: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the features [..., K, F], [..., N, G], [..., H], each moved into its seen range."""
        is_job, is_group = jobs[..., :1] > 0, nodes[..., :1] > 0
        return (
            _clipped(jobs, self.jobs) * is_job,
            _clipped(nodes, self.nodes) * is_group,
            _clipped(globals_, self.globals),
        )

    def is_foreign(self, jobs: Floats, globals_: Floats) -> bool:
        """Whether one observation is out of distribution: a global feature, or most jobs, far out of range.

        *jobs* [K, F] and *globals_* [H] are of a single decision.
        """
        if _is_outside(globals_, self._far_globals).any():
            return True
        outside = _is_outside(jobs, self._far_jobs)
        if not outside.any():
            return False
        is_job = jobs[:, 0] > 0
        return bool((outside.any(axis=1) & is_job).sum() > MOST_FAR * is_job.sum())

    def joined(self, other: SeenRanges) -> SeenRanges:
        """Return the ranges that hold both."""
        pairs = ((getattr(self, kind), getattr(other, kind)) for kind in _KINDS)
        return SeenRanges(*((np.minimum(a[0], b[0]), np.maximum(a[1], b[1])) for a, b in pairs))

    def to_dict(self) -> dict[str, Any]:
        """Return the ranges as plain data."""
        return {kind: [side.tolist() for side in getattr(self, kind)] for kind in _KINDS}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], sizes: Mapping[str, int] | None = None) -> Self:
        """Return the ranges of plain data, of as many features each as *sizes* says.

        Raises:
            InvalidArgument: they are no such ranges.
        """
        try:
            sides = [
                (np.asarray(values[kind][0], dtype=np.float32), np.asarray(values[kind][1], dtype=np.float32))
                for kind in _KINDS
            ]
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise InvalidArgument("The ranges of the features cannot be read.", "They are pairs of lists.") from error
        for kind, (least, largest) in zip(_KINDS, sides, strict=True):
            is_pair = least.ndim == 1 and least.shape == largest.shape and bool((least <= largest).all())
            if not is_pair or not np.isfinite([least, largest]).all():
                raise InvalidArgument(
                    f"The ranges of the features of {kind} are no pairs of equally long lists of finite numbers.",
                    "The least values come first.",
                )
            if sizes is not None and len(least) != sizes[kind]:
                raise InvalidArgument(
                    f"There are {len(least)} ranges for {sizes[kind]} features of {kind}.", "There is one for each."
                )
        return cls(*sides)


def ranges_of(jobs: Floats, nodes: Floats, globals_: Floats) -> SeenRanges:
    """Return the ranges of observations [..., K, F], [..., N, G], [..., H]; empty places are left out."""
    return SeenRanges(_range(jobs[jobs[..., 0] > 0]), _range(nodes[nodes[..., 0] > 0]), _range(globals_))


def _clipped(values: Floats, known: tuple[Floats, Floats]) -> Floats:
    clipped: Floats = np.minimum(np.maximum(values, known[0]), known[1])
    return clipped


def _is_outside(values: Floats, known: tuple[Floats, Floats]) -> NDArray[np.bool_]:
    outside: NDArray[np.bool_] = values < known[0]
    outside |= values > known[1]
    return outside


def _far(known: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the bounds beyond which a value is far out; a feature that never moved has none."""
    width = known[1] - known[0]
    margin = np.where(width > 0, np.float32(FAR) * width, np.float32(np.inf))
    return known[0] - margin, known[1] + margin


def _range(values: Floats) -> tuple[Floats, Floats]:
    flat = values.reshape(-1, values.shape[-1])
    return flat.min(0), flat.max(0)
