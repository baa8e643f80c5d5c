"""Advice judged by the truth: what the counts that a model chose really cost, against the best there were.

A model that is graded by its own predictions wins by being wrong in its own favour. Here a model only
*names* counts, at most `MOST_COUNTS` of them, so that none wins by naming all; the truth says what
they are worth. Objectives are run time in s and power in W, at N counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hpcsim.surrogates import pareto
from hpcsim.surrogates.selection import Candidates, select

Floats = NDArray[np.float64]

MOST_COUNTS = 5
"""How many counts a front may name."""

REGRET_RULES = ("edp", "energy", "knee")


def named_counts(predicted: Floats, most: int = MOST_COUNTS) -> NDArray[np.int64]:
    """Return the places of the counts that stand for a predicted front: the *most* of largest hypervolume.

    *predicted* has shape [N, objectives], of two objectives. None are named where nothing is predicted.
    """
    known = np.where(np.all(predicted > 0, axis=1, keepdims=True) & np.isfinite(predicted), predicted, np.nan)
    if not np.isfinite(known).all(axis=1).any():
        return np.empty(0, dtype=np.int64)
    return pareto.best_few(pareto.LogBox.of(known).scaled(known), [pareto.REFERENCE] * 2, most)


def front_grades(named: NDArray[np.int64], truth: Floats) -> dict[str, float]:
    """Return how good the counts at *named* places are by the *truth* [N, 2] about all N.

    ``hv_ratio``: hypervolume in the log space of the true front, over that of the best `MOST_COUNTS`
    counts there are, 0 to 1. ``igd_plus`` and ``epsilon_plus``: distances from the whole true front in
    that space. ``deb_delta``, NaN for one count. ``front_size``: named counts that no other of them beats.
    """
    box = pareto.LogBox.of(truth)
    scaled = box.scaled(truth)
    reference = np.full(2, pareto.REFERENCE)
    best = pareto.hypervolume(scaled[pareto.best_few(scaled, reference, MOST_COUNTS)], reference)
    ours = scaled[named]
    return {
        "hv_ratio": pareto.hypervolume(ours, reference) / best,
        "igd_plus": pareto.igd_plus(ours, scaled),
        "epsilon_plus": pareto.epsilon_plus(ours, scaled),
        "deb_delta": pareto.deb_delta(ours, scaled),
        "front_size": float(pareto.front_size(ours)),
    }


def regret(rule: str, chosen: int | None, truth: Candidates) -> float:
    """Return what choosing *chosen* nodes by *rule* costs more than the best count; 0 is best.

    ``edp`` and ``energy``: true cost over the least one, less 1. ``knee``: the sum of both objectives
    on the scale of the true front (0 ideal, 1 nadir), less that of the true knee. NaN without a choice.
    """
    best = select(truth, rule)
    if chosen is None or best is None:
        return math.nan
    cost = _knee_cost(truth) if rule == "knee" else _cost(rule, truth)
    ours, least = (float(cost[truth.nodes == nodes][0]) for nodes in (chosen, best))
    return ours - least if rule == "knee" else ours / least - 1


def regrets(predicted: Candidates, truth: Candidates, user_nodes: int | None = None) -> Mapping[str, float]:
    """Return ``<rule>_regret`` of each of `REGRET_RULES`, and ``user_<rule>_regret`` of the user's own count."""
    found = {f"{rule}_regret": regret(rule, select(predicted, rule), truth) for rule in REGRET_RULES}
    if user_nodes is not None:
        found |= {f"user_{rule}_regret": regret(rule, user_nodes, truth) for rule in REGRET_RULES}
    return found


def _cost(rule: str, truth: Candidates) -> Floats:
    return truth.energy_j * truth.run_s if rule == "edp" else truth.energy_j


def _knee_cost(truth: Candidates) -> Floats:
    values = np.stack([truth.run_s, truth.power_w], axis=1)
    return np.asarray(pareto.LogBox.of(values).scaled(values).sum(axis=1))
