"""Who wins and who loses? The change of the mean wait by size, length and user class of the jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.results.comparison import refuse_unequal
from hpcsim.results.result import Result
from hpcsim.results.statistics.differences import ratio_of_sums
from hpcsim.results.statistics.holm import holm
from hpcsim.results.statistics.interval import LEVEL, REPLICATES, Interval, block_bootstrap
from hpcsim.results.statistics.paired import paired_jobs
from hpcsim.results.statistics.windows import windows_of

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[Any]

LENGTHS_S = (0.0, 600.0, 3600.0, 6 * 3600.0, 86400.0)
LENGTH_NAMES = ("< 10 min", "10-60 min", "1-6 h", "6-24 h", "1 d or more")
USER_NAMES = ("heavy users", "middling users", "light users", "unknown user")
HEAVY, MIDDLING = 0.5, 0.9
"""Heavy users are the fewest that hold half of the node-seconds; the next ones, up to 90 %, are middling."""


def winners_and_losers(
    old: Result,
    new: Result,
    *,
    width: str | None = None,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    seed: int = 0,
    allow_unequal: bool = False,
) -> pd.DataFrame:
    """Return one row for each class of jobs that has any: the mean wait under both, and the difference.

    Index: ``by`` (``all``, ``size``, ``length``, ``user``) and ``class``. Columns: ``jobs``; ``old new
    difference low high``, mean waits in seconds and the interval of their difference; ``p_value``
    and ``p_holm`` (for as many classes as there are; ``all`` is none); ``verdict``; ``better worse``,
    the shares of the jobs that waited less and longer.

    Sizes are 1 node, and up to 1/16, 1/4 and all of the machine; lengths go by the run time; users by
    the node-seconds of their jobs (`HEAVY`, `MIDDLING`). Classes depend on the jobs and not on a
    policy. Intervals are those of `differences`, one class at a time.

    Raises:
        ResultError: as `differences`.
    """
    import pandas as pd

    if not allow_unequal:
        refuse_unequal({"old": old, "new": new})
    pairs = paired_jobs(old, new)
    windows = windows_of(pairs["submit_s"], width)
    labels, members = _members(pairs, old.nodes)
    gaps_s = pairs["wait_difference_s"].to_numpy()
    statistic = ratio_of_sums(
        gaps_s[:, None] * members, members.astype(float), windows.index(pairs["submit_s"]), windows.count
    )
    intervals = block_bootstrap(statistic, windows.count, level=level, replicates=replicates, seed=seed)
    rows = [_row(pairs[is_in], interval) for is_in, interval in zip(members.T, intervals, strict=True)]
    table = pd.DataFrame(rows, index=pd.MultiIndex.from_tuples(labels, names=["by", "class"]))
    table.insert(6, "p_holm", np.append(table["p_value"].iloc[:1], holm(table["p_value"].iloc[1:])))
    return table


def size_class(nodes: Values, machine: int) -> tuple[Values, list[str]]:
    """Return the class of each job by its nodes, and the names of the classes, narrowest first."""
    bounds = sorted({1, max(1, machine // 16), max(1, machine // 4), machine})
    lows = [1, *(bound + 1 for bound in bounds[:-1])]
    names = [f"{low:,}" if low == high else f"{low:,} to {high:,}" for low, high in zip(lows, bounds, strict=True)]
    return np.searchsorted(bounds, nodes), names


def length_class(run_s: Values) -> Values:
    """Return the class of each job by its run time in seconds, an index of `LENGTH_NAMES`; -1 where it is NaN."""
    return np.where(np.isnan(run_s), -1, np.searchsorted(LENGTHS_S, run_s, side="right") - 1)


def user_class(users: pd.Series, node_s: Values) -> Values:
    """Return the class of each job by its user, an index of `USER_NAMES`; *node_s* are the jobs' node-seconds.

    Users are taken by falling node-seconds; one is heavy if those before hold less than `HEAVY` of all,
    middling if less than `MIDDLING`.
    """
    import pandas as pd

    if users.isna().all():
        return np.full(len(users), len(USER_NAMES) - 1)
    used = pd.Series(np.nan_to_num(node_s), index=users.index).groupby(users).sum()
    used = used.sort_values(ascending=False, kind="stable")
    before = (used.cumsum() - used) / max(float(used.sum()), 1e-300)
    rank = pd.Series(np.searchsorted([HEAVY, MIDDLING], before, side="right"), index=used.index)
    return users.map(rank).fillna(len(USER_NAMES) - 1).to_numpy(dtype=np.int64)


def _members(pairs: pd.DataFrame, machine: int) -> tuple[list[tuple[str, str]], Values]:
    """Return the label of each class that has jobs, and which jobs are in it; shape [jobs, classes]."""
    nodes, run_s = pairs["nodes"].to_numpy(), pairs["run_s"].to_numpy()
    size, size_names = size_class(nodes, machine)
    divisions: Sequence[tuple[str, Values, Sequence[str]]] = (
        ("size", size, size_names),
        ("length", length_class(run_s), LENGTH_NAMES),
        ("user", user_class(pairs["user_id"], nodes * run_s), USER_NAMES),
    )
    labels, members = [("all", "all jobs")], [np.ones(len(pairs), dtype=bool)]
    for by, place, names in divisions:
        for index, name in enumerate(names):
            if (place == index).any():
                labels.append((by, name))
                members.append(place == index)
    return labels, np.stack(members, axis=1)


def _row(jobs: pd.DataFrame, interval: Interval) -> dict[str, Any]:
    gaps_s = jobs["wait_difference_s"]
    return {
        "jobs": len(jobs),
        "old": float(jobs["old_wait_s"].mean()),
        "new": float(jobs["new_wait_s"].mean()),
        "difference": float(gaps_s.mean()),
        "low": interval.low,
        "high": interval.high,
        "p_value": interval.p_value,
        "verdict": str(interval.verdict()),
        "better": float((gaps_s < 0).mean()),
        "worse": float((gaps_s > 0).mean()),
    }
