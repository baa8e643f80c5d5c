"""How each contender stands to a reference, sequence by sequence: ratios, differences, their intervals.

Sequences of one source are not independent. Of several sources, the mean of each is one observation of
a Student interval. Of one source blocks of neighbouring sequences are drawn anew, as windows of a log
overlap or follow each other; where there are too few for that, they count as independent.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from collections.abc import Sequence as Many
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument, closest
from hpcsim.experiments.evaluation.runner import Score
from hpcsim.experiments.evaluation.sequences import Tested
from hpcsim.results.statistics import (
    Interval,
    block_bootstrap,
    interquartile_mean,
    probability_of_improvement,
    stratified_interval,
)
from hpcsim.results.statistics.student import mean_interval
from hpcsim.results.statistics.windows import FEWEST

Floats = NDArray[np.float64]

COSTS = ("mean_bounded_slowdown", "mean_wait_s", "max_wait_s")
"""Figures of which less is better."""

PROFILE = (0.9, 1.0, 1.1, 1.5, 2.0)
"""Ratios for the performance profile."""

_ROUNDING = 1e-12
_FLOOR = 1.0  # second or slowdown: below it a ratio says nothing


class Standing(NamedTuple):
    """One contender against the reference, over all sequences.

    Attributes:
        mean: of the cost.
        ratio: geometric mean of cost / reference's cost, with its interval; below 1 is better.
        difference: mean of cost - reference's cost, with its interval.
        won: share of sequences with a lower cost than the reference's, equal ones as a half.
        profile: ratio -> share of sequences at or below it, for `PROFILE`.
        mean_wait_s, max_wait_s, utilisation, cpu_us: means over sequences, the longest wait of all, mean
            utilisation, and CPU time a job in microseconds, that of the simulator included.
        decision_us, decision_p99_us: means over sequences of `Score`'s, NaN where they were not measured.
    """

    label: str
    mean: float
    ratio: Interval
    difference: Interval
    won: float
    profile: dict[float, float]
    mean_wait_s: float
    max_wait_s: float
    utilisation: float
    cpu_us: float
    decision_us: float
    decision_p99_us: float


class Who(NamedTuple):
    """A contender's registry name and the seed that it was trained with, None of one that was not."""

    name: str
    training_seed: int | None


class OverSeeds(NamedTuple):
    """Training seeds taken together: what a training, rather than one network, is worth.

    Attributes:
        ratio: interquartile mean of cost / reference's over seeds and sequences.
        low, high: its interval by the bootstrap stratified by sequence.
        improvement: probability that a seed is better than the reference on a sequence.
        improvement_low, improvement_high: its interval.
        profile: ratio -> share of seeds and sequences at or below it, for `PROFILE`.
    """

    label: str
    seeds: int
    ratio: float
    low: float
    high: float
    improvement: float
    improvement_low: float
    improvement_high: float
    profile: dict[float, float]


def standings(
    scores: Mapping[str, Many[Score]], sequences: Many[Tested], *, reference: str, cost: str = COSTS[0]
) -> list[Standing]:
    """Return how each contender stands, in the order of *scores*.

    Raises:
        InvalidArgument: the reference was not tested, or there is no such cost.
    """
    base = costs_of(scores, reference, cost)
    return [_standing(label, found, base, sequences, cost) for label, found in scores.items()]


def check_is_tested(reference: str, labels: Collection[str]) -> None:
    """Raise `InvalidArgument` where the *reference* is none of those that are tested."""
    if reference not in labels:
        raise InvalidArgument(
            f"The reference '{reference}' is not tested.{closest(reference, labels)}",
            f"Take for the reference one of: {', '.join(labels)}.",
        )


def costs_of(scores: Mapping[str, Many[Score]], label: str, cost: str) -> Floats:
    """Return the costs of one contender, one a sequence.

    Raises:
        InvalidArgument: it was not tested, or there is no such cost.
    """
    check_is_tested(label, scores)
    if cost not in COSTS:
        raise InvalidArgument(f"There is no cost '{cost}'.{closest(cost, COSTS)}", f"Give one of: {', '.join(COSTS)}.")
    return np.array([getattr(score, cost) for score in scores[label]], dtype=float)


def _standing(label: str, found: Many[Score], base: Floats, sequences: Many[Tested], cost: str) -> Standing:
    costs = np.array([getattr(score, cost) for score in found], dtype=float)
    log_ratio = np.log(np.maximum(costs, _FLOOR) / np.maximum(base, _FLOOR))
    ratio, difference = _intervals(np.column_stack([log_ratio, costs - base]), sequences)
    jobs = sum(sequence.jobs for sequence in sequences)
    return Standing(
        label=label,
        mean=float(costs.mean()),
        ratio=_as_ratio(ratio),
        difference=difference,
        won=float(np.mean(0.5 * (1 + np.sign(base - costs)))),
        profile=_profile(np.exp(log_ratio)),
        mean_wait_s=float(np.mean([score.mean_wait_s for score in found])),
        max_wait_s=max(score.max_wait_s for score in found),
        utilisation=float(np.mean([score.utilisation for score in found])),
        cpu_us=1e6 * sum(score.cpu_s for score in found) / jobs,
        decision_us=float(np.mean([score.decision_us for score in found])),
        decision_p99_us=float(np.mean([score.decision_p99_us for score in found])),
    )


def _profile(ratios: Floats) -> dict[float, float]:
    """Return which share of *ratios* is at or below each of `PROFILE`; equal costs are a ratio of 1."""
    return {limit: float((ratios <= limit * (1 + _ROUNDING)).mean()) for limit in PROFILE}


def ratios_of(scores: Mapping[str, Many[Score]], label: str, reference: str, cost: str = COSTS[0]) -> Floats:
    """Return cost over the reference's, one a sequence; costs below 1 count as 1."""
    mine, base = (np.maximum(costs_of(scores, each, cost), _FLOOR) for each in (label, reference))
    ratios: Floats = mine / base
    return ratios


def _intervals(values: Floats, sequences: Many[Tested]) -> list[Interval]:
    """Return intervals of the means of the columns of *values*, shape [sequences, statistics]."""
    source = np.array([sequence.source for sequence in sequences])
    sources = list(dict.fromkeys(source))
    if len(sources) > 1:
        return _student(np.array([values[source == each].mean(axis=0) for each in sources]))
    if len(values) < FEWEST:
        return _student(values)
    return block_bootstrap(_means(values), len(values))


def _means(values: Floats) -> Any:
    def statistic(weights: Floats) -> Floats:
        means: Floats = weights @ values / weights.sum(axis=1)[:, None]
        return means

    return statistic


def _student(values: Floats) -> list[Interval]:
    """Return Student's intervals of the means of independent rows."""
    return [Interval(*mean_interval(column), windows=len(values), block=1, correlation=0.0) for column in values.T]


def _as_ratio(log_ratio: Interval) -> Interval:
    estimate, low, high = (math.exp(value) for value in (log_ratio.estimate, log_ratio.low, log_ratio.high))
    return replace(log_ratio, estimate=estimate, low=low, high=high)


def seeds_of(who: Mapping[str, Who]) -> dict[str, list[str]]:
    """Return policy -> labels of its training seeds, where there are several; of one seed the first label counts."""
    by_name: dict[str, dict[int, str]] = {}
    for label, (name, seed) in who.items():
        if seed is not None:
            by_name.setdefault(name, {}).setdefault(seed, label)
    return {name: list(labels.values()) for name, labels in by_name.items() if len(labels) > 1}


def over_seeds(label: str, costs: Floats, base: Floats) -> OverSeeds:
    """Return what several training seeds are worth together.

    Args:
        label: of the policy.
        costs: shape [seeds, sequences].
        base: the reference's costs, shape [sequences].
    """
    ratios = np.maximum(costs, _FLOOR) / np.maximum(base, _FLOOR)
    low, high = stratified_interval(interquartile_mean, ratios)
    ones = np.ones((1, ratios.shape[1]))
    better = stratified_interval(probability_of_improvement, -ratios, -ones)
    return OverSeeds(
        label=label,
        seeds=len(ratios),
        ratio=float(interquartile_mean(ratios)),
        low=low,
        high=high,
        improvement=float(probability_of_improvement(-ratios, -ones)),
        improvement_low=better[0],
        improvement_high=better[1],
        profile=_profile(ratios),
    )
