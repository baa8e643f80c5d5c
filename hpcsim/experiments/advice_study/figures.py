"""Figures of an arm over the seeds, each with its 95 % interval: from the pairs of `targets.graded`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hpcsim.results.statistics.student import mean_interval

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Triple = tuple[float, float, float]
"""A value and the ends of its interval; NaN for what is not known."""

Figure = Callable[["pd.DataFrame"], Triple]


def ratio(name: str, against: str = "_own") -> Figure:
    """Return the geometric mean of the ratios of *name* to the users' own, or to the ``_other`` arm's."""

    def figure(pairs: pd.DataFrame) -> Triple:
        mean, low, high, _ = mean_interval(_logs(pairs, name, against))
        return math.exp(mean), math.exp(low), math.exp(high)

    return figure


def share_of_gain(name: str) -> Figure:
    """Return (1 - our ratio) / (1 - the other's), each ratio to the users' own: by the jackknife over the seeds."""

    def figure(pairs: pd.DataFrame) -> Triple:
        other = pairs[f"{name}_other"].to_numpy(dtype=float)
        theirs = np.log(other / pairs[f"{name}_own"].to_numpy(dtype=float))
        return jackknife(_gain_share, _logs(pairs, name), theirs)

    return figure


def beyond(name: str) -> Figure:
    """Return our ratio to the users' own less the other's."""

    def figure(pairs: pd.DataFrame) -> Triple:
        own = pairs[f"{name}_own"].to_numpy(dtype=float)
        return _mean(((pairs[name] - pairs[f"{name}_other"]).to_numpy(dtype=float)) / own)

    return figure


def killed_beyond(pairs: pd.DataFrame) -> Triple:
    """Return the share of jobs killed, by their limit or by advice, less that of the users' own."""
    return _mean((pairs["killed_share"] + pairs["killed_by_advice_share"] - pairs["killed_share_own"]).to_numpy(float))


def killed_beyond_other(pairs: pd.DataFrame) -> Triple:
    """Return the share of jobs killed, by their limit or by advice, less that of the other arm."""
    ours = pairs["killed_share"] + pairs["killed_by_advice_share"]
    theirs = pairs["killed_share_other"] + pairs["killed_by_advice_share_other"]
    return _mean((ours - theirs).to_numpy(float))


def load_share(pairs: pd.DataFrame) -> Triple:
    """Return the node-seconds taken, lost attempts included, over those offered."""
    return _mean((pairs["realised_load"] / pairs["offered_load"]).to_numpy(float))


def of_others(pairs: pd.DataFrame) -> Triple:
    """Return the turnaround of those who take no advice over that of the same jobs where nobody does."""
    mean, low, high, _ = mean_interval(_logs(pairs, "others_turnaround_s", column="others_own_turnaround_s"))
    return math.exp(mean), math.exp(low), math.exp(high)


def _logs(pairs: pd.DataFrame, name: str, against: str = "_own", column: str = "") -> Floats:
    ratio = pairs[name].to_numpy(dtype=float) / pairs[column or f"{name}{against}"].to_numpy(dtype=float)
    logs: Floats = np.log(ratio)
    return logs[np.isfinite(logs)]


def _mean(values: Floats) -> Triple:
    return mean_interval(values[np.isfinite(values)])[:3]


def _gain_share(ours: Floats, theirs: Floats) -> float:
    gain = -math.expm1(float(theirs.mean()))
    return -math.expm1(float(ours.mean())) / gain if gain else math.nan


def jackknife(figure: Callable[[Floats, Floats], float], ours: Floats, theirs: Floats) -> Triple:
    """Return *figure* of the seeds' values, and a 95 % Student interval from leaving out one seed at a time.

    Source: R. G. Miller, The jackknife: a review, Biometrika 61 (1974).
    """
    whole, count = figure(ours, theirs), len(ours)
    if count < 2:
        return whole, math.nan, math.nan
    without = np.array([figure(np.delete(ours, place), np.delete(theirs, place)) for place in range(count)])
    _, low, high, _ = mean_interval(count * whole - (count - 1) * without)
    return whole, low, high
