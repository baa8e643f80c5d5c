"""Prediction intervals from errors on held-out jobs: split conformal, by group of jobs (Mondrian).

Sources: V. Vovk, A. Gammerman and G. Shafer, Algorithmic Learning in a Random World (2005), for groups 4.6. The
share of covered outcomes holds for counts like those of the log; elsewhere intervals are widened by distance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import ResultError
from hpcsim.surrogates.features.matrix import Matrix

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEVEL = 0.9
WIDENING = 0.3
"""Growth of a bound, in log, for each e-fold that a count is beyond those known, where the model says nothing else."""

BINS = 3
GROUPS = 2 * BINS
LEAST_ERRORS = 50
"""A group with fewer errors borrows those of all jobs whose application is likewise known or unknown."""

UNKNOWN_ERROR = float(np.log(3.0))
"""Without any held-out job bounds are a factor of 3 away."""


def groups(contexts: Matrix, seen: NDArray[np.bool_], nodes: Floats) -> Ints:
    """Return the group of each context [J] at each of *nodes* [N]: shape [J, N], from 0 to `GROUPS` - 1.

    Applications seen in training or not, times counts below half of, about, or above twice the application's mean.
    """
    usual = contexts["app_mean_log_nodes"]
    ratio = np.log2(nodes[None, :]) - np.where(np.isnan(usual), np.log(contexts["asked_nodes"]), usual)[
        :, None
    ] / np.log(2)
    return np.where(seen, 0, BINS)[:, None] + np.where(ratio < -1, 0, np.where(ratio > 1, 2, 1))


@dataclass(frozen=True, eq=False)
class Calibration:
    """Bounds relative to the mean, in log.

    Attributes:
        bounds: shape [GROUPS, targets, 2], lower and upper.
        errors: how many held-out jobs each group has, shape [GROUPS].
    """

    bounds: Floats
    errors: Ints

    @classmethod
    def unknown(cls) -> Self:
        """Return bounds for a model that no job was held out from."""
        bounds = np.broadcast_to([-UNKNOWN_ERROR, UNKNOWN_ERROR], (GROUPS, 2, 2)).copy()
        return cls(bounds, np.zeros(GROUPS, dtype=np.int64))

    @classmethod
    def of(cls, group: Ints, errors: Floats) -> Self:
        """Return bounds from the log *errors* [rows, targets] of held-out jobs of each *group* [rows]."""
        bounds = np.empty((GROUPS, errors.shape[1], 2))
        for number in range(GROUPS):
            chosen = group == number
            if chosen.sum() < LEAST_ERRORS:
                chosen = group // BINS == number // BINS
            if chosen.sum() < LEAST_ERRORS:
                chosen = np.ones(len(group), dtype=bool)
            for target in range(errors.shape[1]):
                bounds[number, target] = _tails(errors[chosen, target])
        return cls(bounds, np.bincount(group, minlength=GROUPS))

    def interval(self, group: Ints, log_mean: Floats, widening: Floats) -> tuple[Floats, Floats]:
        """Return lower and upper bounds of exp(*log_mean*) [J, N, targets], *widening* of that shape in log."""
        bounds = self.bounds[group]
        return np.exp(log_mean + bounds[..., 0] - widening), np.exp(log_mean + bounds[..., 1] + widening)

    def card(self) -> dict[str, Any]:
        """Return it for a model card."""
        bounds = [[[_or_none(end) for end in ends] for ends in group] for group in self.bounds.tolist()]
        return {"level": LEVEL, "bounds_log": bounds, "held_out_jobs": self.errors.tolist()}

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> Self:
        """Return what `card` wrote.

        Raises:
            ResultError: it was changed since.
        """
        bounds, errors = np.array(card["bounds_log"], dtype=float), np.array(card["held_out_jobs"], dtype=np.int64)
        is_whole = bounds.shape == (GROUPS, 2, 2) and errors.shape == (GROUPS,)
        if not is_whole or np.any(bounds[..., 0] > 0) or np.any(bounds[..., 1] < 0):
            raise ResultError("The card holds bounds that are none.", "Save the model again.")
        return cls(bounds, errors)


def _or_none(value: float) -> float | None:
    """Return a bound as JSON knows it: null where it is not known."""
    return None if np.isnan(value) else value


def _tails(errors: Floats) -> Floats:
    """Return the two quantiles between which a further error falls with probability `LEVEL`, of finite samples."""
    known = np.sort(errors[np.isfinite(errors)])
    count = len(known)
    if not count:
        return np.array([np.nan, np.nan])
    outside = round((count + 1) * (1 - LEVEL) / 2, 9)
    below, above = int(np.floor(outside)), int(np.ceil(count + 1 - outside))
    return np.array([min(known[max(below - 1, 0)], 0.0), max(known[min(above, count) - 1], 0.0)])
