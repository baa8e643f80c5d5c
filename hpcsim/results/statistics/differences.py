"""Is the new policy better? Each measure's value under both, the difference, and an interval for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.results import metrics
from hpcsim.results.comparison import refuse_unequal
from hpcsim.results.result import Result
from hpcsim.results.statistics.holm import holm
from hpcsim.results.statistics.interval import LEVEL, REPLICATES, Interval, block_bootstrap
from hpcsim.results.statistics.measures import MEASURES, Measure
from hpcsim.results.statistics.paired import paired_jobs
from hpcsim.results.statistics.runs import TRIMMED, interquartile_mean
from hpcsim.results.statistics.sample import WindowedSample
from hpcsim.results.statistics.tails import conditional_value_at_risk
from hpcsim.results.statistics.windows import Windows, windows_of

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[Any]
Bootstrap = Callable[[Callable[[Values], Values], int], list[Interval]]

QUANTILES = (0.5, 0.95, 0.99)
WORST = 0.05
NO_INTERVAL = Interval(math.nan, math.nan, math.nan, math.nan, 0, 0, math.nan)


def differences(
    old: Result,
    new: Result,
    *,
    width: str | None = None,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    seed: int = 0,
    allow_unequal: bool = False,
) -> pd.DataFrame:
    """Return one row a measure of `MEASURES`, by key: how *new* differs from *old*, and how surely.

    Columns: ``old new difference``, in the measure's unit; ``low high``, the ends of the interval
    for the difference; ``p_value`` and ``p_holm`` (the same, for as many measures as have one);
    ``verdict``; ``jobs``, in how many the value was taken; ``window windows block correlation`` as
    `Interval` says. All but the utilisation are over jobs that started in both runs; slowdown and
    area-weighted wait over those that ended as well. The longest wait is that of one job, which no
    resampling can judge: it has no interval.

    Intervals are by `block_bootstrap` over weeks, or over days in logs of less than 12 weeks.

    Raises:
        ResultError: the runs finished different jobs (unless *allow_unequal*), or are of different
            workloads.
    """
    import pandas as pd

    if not allow_unequal:
        refuse_unequal({"old": old, "new": new})
    pairs = paired_jobs(old, new)
    windows = windows_of(pairs["submit_s"], width)

    def bootstrap(statistic: Callable[[Values], Values], count: int) -> list[Interval]:
        return block_bootstrap(statistic, count, level=level, replicates=replicates, seed=seed)

    ended = pairs[pairs["old_slowdown"].notna()]
    rows = [
        *_wait_rows(pairs, windows, bootstrap),
        _area_row(ended, windows, bootstrap),
        _slowdown_row(ended, windows, bootstrap),
        _improvement_row(pairs, windows, bootstrap),
        _utilisation_row(old, new, windows.width_s, bootstrap),
    ]
    table = pd.DataFrame(rows, index=pd.Index([measure.key for measure in MEASURES], name="measure"))
    table.insert(6, "p_holm", holm(table["p_value"]))
    table.insert(8, "window", windows.name)
    return table


def _wait_rows(pairs: pd.DataFrame, windows: Windows, bootstrap: Bootstrap) -> list[dict[str, Any]]:
    waits_s = [pairs[f"{run}_wait_s"].to_numpy() for run in ("old", "new")]
    index = windows.index(pairs["submit_s"])
    old, new = (WindowedSample(wait_s, index, windows.count) for wait_s in waits_s)

    def statistic(weights: Values) -> Values:
        return new.describe(weights, QUANTILES, WORST, TRIMMED) - old.describe(weights, QUANTILES, WORST, TRIMMED)

    intervals = bootstrap(statistic, windows.count)
    intervals.append(NO_INTERVAL)  # of the longest wait
    values = [_wait_values(wait_s) for wait_s in waits_s]
    return [
        _row(measure, before, after, len(pairs), interval)
        for measure, before, after, interval in zip(MEASURES[:7], *values, intervals, strict=True)
    ]


def _wait_values(wait_s: Values) -> list[float]:
    """Return the waits' measures in the order of `MEASURES`."""
    if not len(wait_s):
        return [math.nan] * 7
    return [
        float(wait_s.mean()),
        float(interquartile_mean(wait_s[:, None])),
        *(float(value) for value in np.percentile(wait_s, [100 * share for share in QUANTILES])),
        conditional_value_at_risk(wait_s, WORST),
        float(wait_s.max()),
    ]


def _area_row(ended: pd.DataFrame, windows: Windows, bootstrap: Bootstrap) -> dict[str, Any]:
    area_node_s = (ended["nodes"] * ended["run_s"]).to_numpy(dtype=float)
    return _mean_row(MEASURES[7], ended, ("old_wait_s", "new_wait_s"), area_node_s, windows, bootstrap)


def _slowdown_row(ended: pd.DataFrame, windows: Windows, bootstrap: Bootstrap) -> dict[str, Any]:
    ones = np.ones(len(ended))
    return _mean_row(MEASURES[8], ended, ("old_slowdown", "new_slowdown"), ones, windows, bootstrap)


def _improvement_row(pairs: pd.DataFrame, windows: Windows, bootstrap: Bootstrap) -> dict[str, Any]:
    chance = pairs.assign(even=0.5, improvement=0.5 * (1 - np.sign(pairs["wait_difference_s"])))
    return _mean_row(MEASURES[9], chance, ("even", "improvement"), np.ones(len(pairs)), windows, bootstrap)


def _mean_row(
    measure: Measure,
    jobs: pd.DataFrame,
    columns: tuple[str, str],
    weight: Values,
    windows: Windows,
    bootstrap: Bootstrap,
) -> dict[str, Any]:
    """Return the row of a weighted mean over jobs."""
    index = windows.index(jobs["submit_s"])
    old, new = (jobs[column].to_numpy() for column in columns)
    interval = bootstrap(ratio_of_sums((new - old) * weight, weight, index, windows.count), windows.count)[0]
    total = float(weight.sum())
    means = [float(values @ weight) / total if total > 0 else math.nan for values in (old, new)]
    return _row(measure, means[0], means[1], len(jobs), interval)


def ratio_of_sums(above: Values, below: Values, index: Values, windows: int) -> Callable[[Values], Values]:
    """Return the statistic sum(above) / sum(below) for `block_bootstrap`.

    The entries of both belong to the windows *index*; shape [entries], or [entries, statistics].
    """
    tops, bottoms = (_window_sums(values, index, windows) for values in (above, below))

    def statistic(weights: Values) -> Values:
        numerator: Values = weights @ tops
        denominator: Values = weights @ bottoms
        undefined: Values = np.full(numerator.shape, np.nan)
        return np.divide(numerator, denominator, out=undefined, where=denominator > 0)

    return statistic


def _window_sums(values: Values, index: Values, windows: int) -> Values:
    columns = values[:, None] if values.ndim == 1 else values
    return np.stack([np.bincount(index, weights=column, minlength=windows) for column in columns.T], axis=1)


def _utilisation_row(old: Result, new: Result, width_s: float, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return the row of the utilisation between the submits at 10 % and at 90 % of the jobs."""
    start_s, end_s = metrics.steady_window(old.jobs)
    if not end_s > start_s:
        return _row(MEASURES[10], math.nan, math.nan, 0, NO_INTERVAL)
    edges_s = np.append(np.arange(start_s, end_s, width_s), end_s)
    length_s = np.diff(edges_s)
    shares = [metrics.bin_means(run.timeline, "used_nodes", edges_s) / run.nodes for run in (old, new)]
    gap = (shares[1] - shares[0]) * length_s
    statistic = ratio_of_sums(gap, length_s, np.arange(len(length_s)), len(length_s))
    values = [float(share @ length_s) / (end_s - start_s) for share in shares]
    return _row(MEASURES[10], values[0], values[1], len(old.jobs), bootstrap(statistic, len(length_s))[0])


def _row(measure: Measure, old: float, new: float, jobs: int, interval: Interval) -> dict[str, Any]:
    interval = interval.moved_to(new - old)
    return {
        "old": old,
        "new": new,
        "difference": new - old,
        "low": interval.low,
        "high": interval.high,
        "p_value": interval.p_value,
        "verdict": str(interval.verdict(lower_is_better=measure.lower_is_better)),
        "jobs": jobs,
        "windows": interval.windows,
        "block": interval.block,
        "correlation": interval.correlation,
    }
