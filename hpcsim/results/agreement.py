"""How near do simulated waits come to recorded ones? Pure functions of two waits a job."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hpcsim.results.statistics.classes import USER_NAMES, user_class

if TYPE_CHECKING:
    import pandas as pd

NEAR_S = 60.0
"""Added to both waits before their ratio is taken, so that a few seconds more or less count for nothing."""

WINDOW_S = 30 * 86400
"""Length of a time class: 30 days of submits."""

Values = NDArray[Any]


class Agreement(NamedTuple):
    """Simulated waits beside recorded ones, over *jobs* that have both.

    Attributes:
        jobs: how many.
        recorded_mean_s, simulated_mean_s: mean waits.
        median_error_s: median of |simulated - recorded|.
        bias_s: median of simulated - recorded: above 0, the simulator makes jobs wait longer.
        within_factor_two: share of jobs with (simulated + 60 s)/(recorded + 60 s) in [1/2, 2].
        rank_correlation: Spearman's, average ranks for ties; NaN where one side is constant.
    """

    jobs: int
    recorded_mean_s: float
    simulated_mean_s: float
    median_error_s: float
    bias_s: float
    within_factor_two: float
    rank_correlation: float


def agreement(recorded_s: Values, simulated_s: Values) -> Agreement:
    """Compare waits in seconds, job by job; both arrays have one entry a job and no NaN."""
    if not len(recorded_s):
        return Agreement(0, *[math.nan] * 6)
    error_s = simulated_s - recorded_s
    ratio = (simulated_s + NEAR_S) / (recorded_s + NEAR_S)
    return Agreement(
        len(recorded_s),
        float(recorded_s.mean()),
        float(simulated_s.mean()),
        float(np.median(np.abs(error_s))),
        float(np.median(error_s)),
        float(((ratio >= 0.5) & (ratio <= 2)).mean()),
        _rank_correlation(recorded_s, simulated_s),
    )


def by_class(jobs: pd.DataFrame, classes: pd.Series) -> dict[str, Agreement]:
    """Return the agreement of each class of jobs, in the classes' own order.

    *jobs* has the columns ``recorded_wait_s`` and ``wait_s``; *classes* is an ordered categorical of
    the same rows; empty classes are left out.
    """
    found = {}
    for name, group in jobs.groupby(classes, observed=True):
        found[str(name)] = agreement(group["recorded_wait_s"].to_numpy(), group["wait_s"].to_numpy())
    return found


def size_classes(nodes: pd.Series) -> pd.Series:
    """Return each job's class by its width: 1, 2-4, 5-16, 17-64, 65-256, ..., each four times the last."""
    import pandas as pd

    edges, names = [0, 1], ["1"]
    while edges[-1] < nodes.max():
        low, high = edges[-1] + 1, edges[-1] * 4
        edges.append(high)
        names.append(f"{low:,}-{high:,}")
    return pd.cut(nodes, edges, labels=names)


def time_classes(submit_s: pd.Series) -> pd.Series:
    """Return each job's class by its submit: windows of 30 days from the first, named by their days."""
    window = ((submit_s - submit_s.min()) // WINDOW_S).astype(int)
    names = [f"days {30 * index}-{30 * index + 29}" for index in range(int(window.max()) + 1)]
    return _named(window.to_numpy(), names, submit_s.index)


def user_classes(user_id: pd.Series, area_node_s: pd.Series) -> pd.Series:
    """Return each job's class by its user's share of all node-seconds; -1 is no user.

    Heavy, middling and light users are those of `hpcsim.results.statistics.classes.user_class`.
    """
    users = user_id.where(user_id != -1)
    return _named(user_class(users, area_node_s.to_numpy()), USER_NAMES, user_id.index)


def _named(codes: Values, names: Sequence[str], index: pd.Index) -> pd.Series:
    import pandas as pd

    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(names), ordered=True), index=index)


def _rank_correlation(a: Values, b: Values) -> float:
    import pandas as pd

    ranks = [pd.Series(values).rank().to_numpy() for values in (a, b)]
    x, y = (rank - rank.mean() for rank in ranks)
    scale = math.sqrt(float((x * x).sum()) * float((y * y).sum()))
    return float((x * y).sum()) / scale if scale else math.nan
