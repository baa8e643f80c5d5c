"""Differences to a baseline, run by run on the same jobs, with intervals and a correction for many looks.

Runs are paired: the same jobs (seed, window) on both sides. The mean of the differences has a Student
interval; p values of all comparisons of a table are corrected together by Holm's method.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import ExperimentError
from hpcsim.results.advised import ADVICE_KEYS
from hpcsim.results.statistics.holm import holm
from hpcsim.results.statistics.student import MeanInterval, mean_interval

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95
REPLICATES = ("seed", "window")
"""Columns of which each value is a repetition of the same comparison."""

HIGHER_IS_BETTER = frozenset({"utilisation", "steady_utilisation", "jobs_completed", "jobs_started"})
NEUTRAL = frozenset({"offered_load", "backfilled", "jobs_submitted", "used_node_s", *ADVICE_KEYS})
"""Metrics of which more is neither better nor worse."""

Values = NDArray[np.float64]


def contrasts(table: pd.DataFrame, baseline: Mapping[str, Any], metrics: Sequence[str]) -> pd.DataFrame:
    """Return one row a scenario, arm and metric: how an arm differs from the baseline.

    An arm is a combination of values of *baseline*'s columns; a scenario one of the other columns
    but for `REPLICATES`, within which runs are paired. Columns: those of scenario and arm,
    ``metric pairs baseline mean difference low high p p_holm verdict``. ``pairs`` counts replicates
    that finished on both sides; ``low`` and ``high`` are the ends of the 95 % interval of
    ``difference``, NaN with fewer than two pairs. ``p_holm`` is corrected over the whole table.

    Raises:
        ExperimentError: the baseline has no finished run.
    """
    import pandas as pd

    done = table[table["status"] == "finished"]
    arms = list(baseline)
    described = table.columns[1 : list(table.columns).index("status")]
    what = [column for column in described if column.split(".")[0] not in arms]
    scenario = [column for column in what if column not in REPLICATES]
    pairing = [column for column in what if column in REPLICATES]
    is_base = np.logical_and.reduce([done[column] == value for column, value in baseline.items()])
    base, others = done[is_base], done[~is_base]
    if not len(base):
        raise ExperimentError("No run of the baseline has finished.", "Resume the sweep, or look at its errors.")
    rows = [
        row
        for keys, group in _groups(others, [*scenario, *arms])
        for row in _compare(keys, group, _where(base, {key: keys[key] for key in scenario}), pairing, metrics)
    ]
    columns = [*scenario, *arms, "metric", "pairs", "baseline", "mean", "difference", "low", "high", "p"]
    found = pd.DataFrame(rows, columns=columns)
    found["p_holm"] = holm(found["p"].to_numpy(dtype=float))
    judged = found[["metric", "difference", "p_holm", "pairs"]]
    found["verdict"] = [_verdict(*row) for row in judged.itertuples(index=False)]
    return found


def difference(ours: Values, theirs: Values) -> MeanInterval:
    """Return mean, low and high end of the interval, and two-sided p of *ours* - *theirs*, pair by pair.

    NaN for what fewer than two pairs do not say. Pairs that all differ by the same have an interval
    of no length and p = 0 (1 where that is no difference at all).
    """
    return mean_interval(ours - theirs)


def _compare(
    keys: dict[str, Any], ours: pd.DataFrame, theirs: pd.DataFrame, pairing: list[str], metrics: Sequence[str]
) -> list[dict[str, Any]]:
    rows = []
    for metric in metrics:
        mine, yours = (_by_replicate(side, pairing, metric) for side in (ours, theirs))
        shared = [key for key in mine if key in yours and not math.isnan(mine[key]) and not math.isnan(yours[key])]
        a, b = (np.array([side[key] for key in shared], dtype=float) for side in (mine, yours))
        mean, low, high, p = difference(a, b)
        means = {"baseline": b.mean(), "mean": a.mean()} if shared else {"baseline": math.nan, "mean": math.nan}
        found = {"metric": metric, "pairs": len(shared), "difference": mean, "low": low, "high": high, "p": p}
        rows.append(keys | found | means)
    return rows


def _by_replicate(table: pd.DataFrame, pairing: list[str], metric: str) -> dict[tuple[Any, ...], float]:
    """Return the values of *metric* by replicate."""
    rows = table[[*pairing, metric]].itertuples(index=False)
    return {tuple(row[:-1]): float(row[-1]) for row in rows}


def _groups(table: pd.DataFrame, columns: list[str]) -> list[tuple[dict[str, Any], pd.DataFrame]]:
    """Return each combination of values of *columns* in order of appearance, and its rows."""
    found: dict[str, tuple[dict[str, Any], list[int]]] = {}
    for place, values in enumerate(table[columns].itertuples(index=False)):
        keys = dict(zip(columns, values, strict=True))
        found.setdefault(repr(tuple(values)), (keys, []))[1].append(place)
    return [(keys, table.iloc[places]) for keys, places in found.values()]


def _where(table: pd.DataFrame, keys: Mapping[str, Any]) -> pd.DataFrame:
    chosen = np.ones(len(table), dtype=bool)
    for column, value in keys.items():
        chosen &= (table[column].isna() if value != value else table[column] == value).to_numpy()  # noqa: PLR0124 - NaN
    return table[chosen]


def _verdict(metric: str, apart: float, p: float, pairs: int) -> str:
    if math.isnan(p):
        return "not compared" if not pairs else "one pair only"
    if p >= 1 - LEVEL:
        return "no difference shown"
    if metric in NEUTRAL:
        return "higher" if apart > 0 else "lower"
    return "better" if (apart > 0) == (metric in HIGHER_IS_BETTER) else "worse"
