"""The same jobs under two policies, side by side: differences job by job and window by window.

A difference is always new - old, so that less waiting is negative. Pairing is what makes small
differences visible: what a job would have suffered under any policy cancels out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hpcsim.errors import ResultError
from hpcsim.results import metrics
from hpcsim.results.result import Result
from hpcsim.results.statistics.windows import windows_of

if TYPE_CHECKING:
    import pandas as pd

_IDENTITY = ["row", "job_id", "submit_s"]


def paired_jobs(old: Result, new: Result) -> pd.DataFrame:
    """Return one row for each job that started in both runs, in the workload's order.

    Columns: ``row job_id submit_s nodes user_id run_s``, the last from *old*; ``old_wait_s
    new_wait_s wait_difference_s``; ``old_slowdown new_slowdown slowdown_difference``, bounded
    slowdowns without a unit, NaN for a job that did not end in both.

    Raises:
        ResultError: the runs are of different workloads, so that no job has a partner.
    """
    _refuse_strangers(old, new)
    columns = [*_IDENTITY, "nodes", "user_id", "run_s", "wait_s"]
    ours = _started(old)[columns]
    theirs = _started(new)[["row", "run_s", "wait_s"]]
    pairs = ours.merge(theirs, on="row", suffixes=("", "_new"), validate="one_to_one")
    table = pairs[columns[:-1]].assign(old_wait_s=pairs["wait_s"], new_wait_s=pairs["wait_s_new"])
    table["wait_difference_s"] = table["new_wait_s"] - table["old_wait_s"]
    has_run = (pairs["run_s"].notna() & pairs["run_s_new"].notna()).to_numpy()
    for name, wait, run in (("old", "wait_s", "run_s"), ("new", "wait_s_new", "run_s_new")):
        slowdown = np.full(len(pairs), np.nan)
        both = pairs.loc[has_run, [wait, run, "nodes"]].set_axis(["wait_s", "run_s", "nodes"], axis=1)
        slowdown[has_run] = metrics.bounded_slowdown(both)
        table[f"{name}_slowdown"] = slowdown
    table["slowdown_difference"] = table["new_slowdown"] - table["old_slowdown"]
    return table


def paired_windows(old: Result, new: Result, width: str | None = None) -> pd.DataFrame:
    """Return one row for each week (or other *width*, see `windows_of`) of the submits of `paired_jobs`.

    Columns: ``start_s``; ``jobs`` submitted in the window; the means over them ``old_wait_s
    new_wait_s wait_difference_s old_slowdown new_slowdown slowdown_difference``, NaN where there are
    none; ``old_utilisation new_utilisation utilisation_difference``, shares of each run's own machine,
    over the whole width of the window.

    Raises:
        ResultError: as `paired_jobs`.
        InvalidArgument: as `windows_of`.
    """
    import pandas as pd

    pairs = paired_jobs(old, new)
    windows = windows_of(pairs["submit_s"], width)
    means = [f"{run}_{what}" for what in ("wait_s", "slowdown") for run in ("old", "new")]
    grouped = pairs.groupby(windows.index(pairs["submit_s"]))
    table = pd.DataFrame({"start_s": windows.starts_s(), "jobs": grouped.size().reindex(range(windows.count))})
    table["jobs"] = table["jobs"].fillna(0).astype(int)
    table[means] = grouped[means].mean().reindex(range(windows.count))
    edges_s = windows.origin_s + windows.width_s * np.arange(windows.count + 1)
    for name, result in (("old", old), ("new", new)):
        used = metrics.bin_means(result.timeline, "used_nodes", edges_s)
        table[f"{name}_utilisation"] = used / result.nodes
    for what, difference in (
        ("wait_s", "wait_difference_s"),
        ("slowdown", "slowdown_difference"),
        ("utilisation", "utilisation_difference"),
    ):
        table[difference] = table[f"new_{what}"] - table[f"old_{what}"]
    first = ["start_s", "jobs", "old_wait_s", "new_wait_s", "wait_difference_s"]
    return table[first + [name for name in table if name not in first]]


def _started(result: Result) -> pd.DataFrame:
    table: pd.DataFrame = result.jobs[result.jobs["wait_s"].notna()]
    return table


def _refuse_strangers(old: Result, new: Result) -> None:
    """Refuse results whose common rows are not the same jobs."""
    ours, theirs = (result.jobs.set_index("row")[_IDENTITY[1:]] for result in (old, new))
    common = ours.index.intersection(theirs.index)
    if not ours.loc[common].equals(theirs.loc[common]) or (len(ours) and len(theirs) and not len(common)):
        raise ResultError("The two results are not of the same workload.", "Simulate the same jobs under both.")
