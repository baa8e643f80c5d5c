"""How good a set of trade-offs is: hypervolume, IGD+, epsilon+, spread; all objectives are to be minimised.

Values are arrays [points, objectives]; rows with a NaN count as absent. To compare jobs, which differ by
magnitudes, first put values on the scale of a `LogBox`: the logarithm, 0 at the ideal and 1 at the nadir
of the exact front of that job. Never compare engines or models by values that they predicted themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.errors import InvalidArgument, MissingExtra
from hpcsim.search import is_on_front

Floats = NDArray[np.float64]

REFERENCE = 1.1
"""The reference point of `hypervolume_ratio` in each objective, on the scale of a `LogBox`."""


@dataclass(frozen=True, slots=True)
class LogBox:
    """A scale for the objectives of one job, taken from its exact front.

    Attributes:
        low, high: the logarithms of ideal and nadir, shape [objectives].
    """

    low: Floats
    high: Floats

    @classmethod
    def of(cls, exact: ArrayLike) -> LogBox:
        """Return the scale on which the front of *exact* [points, objectives] spans 0 to 1 in each objective.

        Raises:
            InvalidArgument: no row is free of NaN, or a value on the front is 0 or less, or infinite.
        """
        front = front_of(exact)
        if not len(front) or not np.all(front > 0) or not np.all(np.isfinite(front)):
            raise InvalidArgument("There is no front of positive values to scale by.", "Give finite ones above 0.")
        logs = np.log(front)
        return cls(logs.min(axis=0), logs.max(axis=0))

    def scaled(self, values: ArrayLike) -> Floats:
        """Return *values* on this scale; an objective that is constant on the front keeps its logarithm's width."""
        width = self.high - self.low
        with np.errstate(invalid="ignore", divide="ignore"):
            logs = np.log(np.asarray(values, dtype=np.float64))
        return np.asarray((logs - self.low) / np.where(width > 0, width, 1.0))


def front_of(values: ArrayLike) -> Floats:
    """Return the rows that no other beats, each once, in ascending order of the first objective.

    Raises:
        InvalidArgument: *values* are no table of numbers.
    """
    rows = _table(values)
    return np.unique(rows[is_on_front(rows)], axis=0)


def hypervolume(values: ArrayLike, reference: ArrayLike) -> float:
    """Return the volume that *values* dominate within *reference*, in the product of the objectives' units.

    Two objectives are swept from the left, exactly; three and more need moocore.

    Raises:
        InvalidArgument: *reference* is not one finite number an objective.
        MissingExtra: three objectives or more, and moocore is not installed.
    """
    front = front_of(values)
    bound = _bound(reference, front.shape[1])
    front = front[np.all(front < bound, axis=1)]
    if not len(front):
        return 0.0
    if front.shape[1] != 2:
        return _volume_beyond_two(front, bound)
    right = np.append(front[1:, 0], bound[0])
    return float(np.sum((right - front[:, 0]) * (bound[1] - front[:, 1])))


def hypervolume_ratio(values: ArrayLike, exact: ArrayLike) -> float:
    """Return the share of the exact front's hypervolume that *values* dominate, 0 to 1 if they lie behind it.

    Both in the log space of `LogBox.of(exact)` with the reference at 1.1 in each objective, which is the
    same for everything that is held against one *exact*.
    """
    box = LogBox.of(exact)
    reference = np.full(len(box.low), REFERENCE)
    return hypervolume(box.scaled(values), reference) / hypervolume(box.scaled(exact), reference)


def igd_plus(values: ArrayLike, front: ArrayLike) -> float:
    """Return the mean distance by which points of *front* are missed by the nearest of *values*; 0 is best.

    Only being worse counts (Ishibuchi et al., EMO 2015), so that dominating points are never punished.
    """
    behind = _behind(values, front)
    return float(np.sqrt((behind**2).sum(axis=2)).min(axis=1).mean()) if behind.size else math.nan


def epsilon_plus(values: ArrayLike, front: ArrayLike) -> float:
    """Return how far *values* have to be moved, in every objective, to cover *front* (additive epsilon)."""
    ours, target = _fronts(values, front)
    if not len(ours) or not len(target):
        return math.nan
    return float((ours[None, :, :] - target[:, None, :]).max(axis=2).min(axis=1).max())


def deb_delta(values: ArrayLike, front: ArrayLike) -> float:
    """Return Deb's Delta: 0 where points lie evenly from one end of *front* to the other; NaN below two points.

    (d_f + d_l + sum |d_i - mean|) / (d_f + d_l + (k - 1) mean), with the k - 1 gaps d_i and the distances
    d_f, d_l of the ends of *front* from ours. Source: Deb et al., NSGA-II, 2002.

    Raises:
        InvalidArgument: there are other than two objectives.
    """
    ours, target = _fronts(values, front)
    _require_two(ours)
    if len(ours) < 2 or not len(target):
        return math.nan
    gaps = _gaps(ours)
    ends = float(np.linalg.norm(target[0] - ours[0]) + np.linalg.norm(target[-1] - ours[-1]))
    mean = float(gaps.mean())
    return (ends + float(np.abs(gaps - mean).sum())) / (ends + len(gaps) * mean)


def gap_spread(values: ArrayLike) -> tuple[float, float]:
    """Return mean and standard deviation of the gaps between neighbours on the front, in the units given.

    A front that has collapsed to one point has gaps of 0, which looks perfect: read it beside `front_size`.
    """
    ours = front_of(values)
    gaps = _gaps(ours) if len(ours) > 1 else np.zeros(1)
    return float(gaps.mean()), float(gaps.std())


def extent(values: ArrayLike) -> Floats:
    """Return how far the front reaches in each objective, highest less lowest; shape [objectives]."""
    ours = front_of(values)
    return np.asarray(np.ptp(ours, axis=0)) if len(ours) else np.full(ours.shape[1], np.nan)


def front_size(values: ArrayLike) -> int:
    """Return how many different points are on the front."""
    return len(front_of(values))


def best_few(values: ArrayLike, reference: ArrayLike, most: int) -> NDArray[np.int64]:
    """Return the rows of the at most *most* points that together dominate the largest hypervolume; ascending.

    Two objectives; exact, by dynamic programming over the front from left to right (Auger et al., FOGA
    2009). Rows outside *reference* are of no use and never chosen. Of equal points the first row counts.

    Raises:
        InvalidArgument: there are other than two objectives, or *most* is below 1.
    """
    rows = _table(values)
    _require_two(rows)
    bound = _bound(reference, 2)
    if most < 1:
        raise InvalidArgument(f"The most points to choose are {most}.", "Give a whole number from 1.")
    is_useful = is_on_front(rows) & np.all(rows < bound, axis=1)
    useful = np.flatnonzero(is_useful)
    front, first = np.unique(rows[useful], axis=0, return_index=True)
    if len(front) <= most:
        return np.sort(useful[first])
    heights = bound[1] - front[:, 1]
    strips = (front[None, :, 0] - front[:, None, 0]) * heights[:, None]  # from the row on to the column
    is_later = np.triu(np.ones_like(strips, dtype=bool), k=1)
    best, befores = np.zeros(len(front)), []
    for _ in range(most - 1):
        gains = np.where(is_later, best[:, None] + strips, -np.inf)
        befores.append(gains.argmax(axis=0))
        best = gains.max(axis=0)
    last = int(np.argmax(best + (bound[0] - front[:, 0]) * heights))
    chosen = [last]
    for before in reversed(befores):
        chosen.append(int(before[chosen[-1]]))
    return np.sort(useful[first[chosen]])


def _table(values: ArrayLike) -> Floats:
    try:
        rows = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"Objectives hold what is no number: {error}.", "Give an array of numbers.") from error
    if rows.ndim != 2:
        raise InvalidArgument(
            f"Objectives of shape {list(rows.shape)} are no table.", "Give an array [points, objectives]."
        )
    return rows


def _bound(reference: ArrayLike, objectives: int) -> Floats:
    bound = np.asarray(reference, dtype=np.float64)
    if bound.shape != (objectives,) or not np.all(np.isfinite(bound)):
        raise InvalidArgument(
            f"The reference point {bound.tolist()} is none of {objectives} objectives.",
            "Give one finite number an objective.",
        )
    return bound


def _fronts(values: ArrayLike, front: ArrayLike) -> tuple[Floats, Floats]:
    ours, target = front_of(values), front_of(front)
    if ours.shape[1] != target.shape[1]:
        raise InvalidArgument(
            f"Points of {ours.shape[1]} objectives are held against a front of {target.shape[1]}.",
            "Give both the same objectives.",
        )
    return ours, target


def _require_two(rows: Floats) -> None:
    if rows.shape[1] != 2:
        raise InvalidArgument(f"There are {rows.shape[1]} objectives.", "This measure is for two: choose those.")


def _gaps(front: Floats) -> Floats:
    return np.asarray(np.linalg.norm(np.diff(front, axis=0), axis=1))


def _behind(values: ArrayLike, front: ArrayLike) -> Floats:
    """Return by how much each of *values* is worse than each of *front*; shape [front, values, objectives]."""
    ours, target = _fronts(values, front)
    return np.maximum(ours[None, :, :] - target[:, None, :], 0.0)


def _volume_beyond_two(front: Floats, bound: Floats) -> float:
    try:
        from moocore import hypervolume as volume
    except ImportError as error:
        raise MissingExtra(
            f"The hypervolume of {len(bound)} objectives needs the package 'moocore', which is not installed.",
            "Type: pip install 'hpcsim-des[advisor]'.",
        ) from error
    return float(volume(front, ref=bound))
