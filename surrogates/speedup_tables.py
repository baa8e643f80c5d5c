"""How run time and node power of each application change with the node count: learned, as tables over counts.

Every application has a posterior over the library's curves; the prior is the mixture of curves that makes all
applications together most likely (empirical Bayes), so that one with little evidence is pooled with the others, and
one never seen gets the prior itself. What predictions need of the posterior is small: mean and spread of the log
slow-down and the mean watts of a node, at the counts of `hpcsim.surrogates.speedup_library.counts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from hpcsim.surrogates.speedup_evidence import NodePower, PowerEvidence
from hpcsim.surrogates.speedup_library import counts, log_speed_ups

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

IDLE_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
"""Idle watts considered, relative to the median watts of a node."""

WAITING_SHARES = (0.05, 0.15, 0.25, 0.35, 0.45, 0.5, 0.55, 0.65, 0.75, 0.85, 0.95)
ROUNDS = 15
POOLING = 5.0
"""The prior is worth that many applications spread evenly over the library."""

LIKELY = 4.0
"""Descriptions of node power whose log likelihood is that much less than the best one's are left out."""


NORMAL_90 = 1.645
"""Standard deviations between the middle of a normal distribution and either end of its middle 90 %."""


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """What the tables say of J contexts at N counts.

    Attributes:
        rows: rows of the tables, shape [J].
        slowdown_asked: log T(asked)/T(1), shape [J].
        slowdown: log T(n)/T(1), shape [J, N].
        log_watts: log of the watts of all n nodes, shape [J, N].
        apart: how far, in log, 90 % of the curves lie apart at n beyond what they do as asked for, shape [J, N].
    """

    rows: Ints
    slowdown_asked: Floats
    slowdown: Floats
    log_watts: Floats
    apart: Floats


@dataclass(frozen=True, eq=False)
class SpeedUpTables:
    """What was learned, one row an application, the last row for applications never seen; G counts.

    Attributes:
        app: numbers of the applications, ascending, shape [A].
        log_slowdown: mean log T(n)/T(1), shape [A + 1, G].
        spread: its standard deviation, shape [A + 1, G].
        node_w: mean watts of a node, shape [A + 1, G]; NaN where power was never measured.
        power: what all nodes have in common, as most likely.
    """

    app: Floats
    log_slowdown: Floats
    spread: Floats
    node_w: Floats
    power: NodePower

    def rows(self, app: Floats) -> Ints:
        """Return the row of each application [J], the last one where it is not known."""
        place = np.searchsorted(self.app, app)
        place = np.minimum(place, len(self.app) - 1) if len(self.app) else np.zeros(len(app), dtype=np.int64)
        is_known = self.app[place] == app if len(self.app) else np.zeros(len(app), dtype=bool)
        return np.where(is_known, place, len(self.app))

    def is_seen(self, app: Floats) -> NDArray[np.bool_]:
        """Tell of each application [J] whether it was learned from."""
        return self.rows(app) < len(self.app)

    def curves(self, app: Floats, asked: Floats, nodes: Floats) -> Curves:
        """Return what is known of applications *app* [J] asked to run on *asked* [J], at the counts *nodes* [N]."""
        rows = self.rows(app)
        here = interpolated_own(self.spread, rows, asked)[:, None]
        return Curves(
            rows,
            interpolated_own(self.log_slowdown, rows, asked),
            interpolated(self.log_slowdown, rows, nodes),
            np.log(nodes * interpolated(self.node_w, rows, nodes)),
            NORMAL_90 * np.abs(interpolated(self.spread, rows, nodes) - here),
        )


def interpolated(table: Floats, rows: Ints, nodes: Floats) -> Floats:
    """Return *table* [A, G] for *rows* [J] at the counts *nodes* [N], linear in log n between columns: shape [J, N]."""
    low, share = _place(nodes.tobytes())
    mine = table[rows]
    return np.asarray(mine[:, low] * (1 - share) + mine[:, low + 1] * share)


def interpolated_own(table: Floats, rows: Ints, nodes: Floats) -> Floats:
    """Return *table* [A, G] for each of *rows* [J] at a count of its own, *nodes* [J]: shape [J]."""
    low, share = _position(nodes)
    return np.asarray(table[rows, low] * (1 - share) + table[rows, low + 1] * share)


@lru_cache(maxsize=64)
def _place(nodes: bytes) -> tuple[Ints, Floats]:
    return _position(np.frombuffer(nodes, dtype=np.float64))


def _position(nodes: Floats) -> tuple[Ints, Floats]:
    """Return the column at or below each count, and how far it is towards the next one, from 0 to 1."""
    grid = counts()
    inside = np.clip(nodes, 1.0, grid[-1])
    low = np.clip(np.searchsorted(grid, inside, "right") - 1, 0, len(grid) - 2)
    return low, np.log(inside / grid[low]) / np.log(grid[low + 1] / grid[low])


def learn_tables(
    app: Floats,
    numbers: Ints,
    power: PowerEvidence,
    others: Sequence[Floats],
    *,
    idle_w: float | None = None,
    waiting_share: float | None = None,
) -> SpeedUpTables:
    """Return tables of the applications *app* [A] from power evidence and *others*, likelihoods [A, curves].

    Args:
        app: numbers of the applications, ascending.
        numbers: how many jobs each has; those without get no say in the prior.
        power: watts by application and count.
        others: from run times.
        idle_w: of nodes; None: all that explain the log well, by how well they do.
        waiting_share: of nodes, likewise.
    """
    rest = np.sum(others, axis=0) if others else np.zeros((len(app), len(log_speed_ups([1.0]))))
    found = []
    for description in _descriptions(power, idle_w, waiting_share):
        by_power, peaks = power.likelihood(description)
        found.append((_pooled(by_power, numbers)[2], description, by_power, peaks))
    best = max(found, key=lambda part: part[0])
    likely = [part for part in found if part[0] > best[0] - LIKELY]
    weights = np.exp(np.array([part[0] for part in likely]) - best[0])
    weights /= weights.sum()
    posteriors = [np.vstack(_pooled(rest + by_power, numbers)[:2]) for _, _, by_power, _ in likely]
    watts = [_node_w(part[1], posterior, part[3]) for part, posterior in zip(likely, posteriors, strict=True)]
    mean, spread = _moments(np.einsum("d,dak->ak", weights, np.stack(posteriors)))
    return SpeedUpTables(app, mean, spread, np.einsum("d,dag->ag", weights, np.stack(watts)), best[1])


def _descriptions(power: PowerEvidence, idle_w: float | None, waiting_share: float | None) -> list[NodePower]:
    if not len(power):
        return [NodePower(0.0, 0.5)]
    idles = [share * power.median_node_w for share in IDLE_SHARES] if idle_w is None else [idle_w]
    return [NodePower(*pair) for pair in product(idles, WAITING_SHARES if waiting_share is None else [waiting_share])]


def _pooled(likelihood: Floats, numbers: Ints) -> tuple[Floats, Floats, float]:
    """Return posteriors [A, curves], the prior [curves] and the log evidence, by expectation and maximisation."""
    curves = likelihood.shape[1]
    prior = np.full(curves, 1.0 / curves)
    has_jobs = numbers > 0
    evidence = 0.0
    posterior = np.tile(prior, (len(likelihood), 1))
    top = likelihood.max(axis=1, keepdims=True)
    relative = np.exp(likelihood - top)
    for _ in range(ROUNDS):
        posterior = relative * prior
        total = posterior.sum(axis=1, keepdims=True)
        posterior /= total
        evidence = float((top + np.log(total))[has_jobs].sum())
        prior = (posterior[has_jobs].sum(axis=0) + POOLING / curves) / (has_jobs.sum() + POOLING)
    return posterior, prior, evidence


def _moments(posterior: Floats) -> tuple[Floats, Floats]:
    """Return the log of the mean slow-down and the deviation of the log slow-down, [A, G] each."""
    curves = -log_speed_ups(counts())
    mean = posterior @ curves
    spread = np.sqrt(np.maximum(posterior @ curves**2 - mean**2, 0.0))
    return np.log(posterior @ np.exp(curves)), spread


def _node_w(power: NodePower, posterior: Floats, peaks: Floats) -> Floats:
    """Return the mean watts of a node [A + 1, G]; the last row is that of the median peak."""
    grid = counts()
    efficiency = np.exp(log_speed_ups(grid)) / grid
    typical = np.nanmedian(peaks) if np.isfinite(peaks).any() else np.nan
    peak_w = np.vstack([peaks, np.full((1, peaks.shape[1]), typical)])
    peak_w = np.where(np.isfinite(peak_w), peak_w, typical)
    floor_w = power.floor_w(peak_w)
    return np.asarray((posterior * floor_w).sum(axis=1)[:, None] + (posterior * (peak_w - floor_w)) @ efficiency)
