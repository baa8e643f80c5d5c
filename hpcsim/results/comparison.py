"""Results side by side: which policy does better, on the same jobs?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hpcsim.errors import ResultError
from hpcsim.results.result import Result
from hpcsim.results.summary import Figure

if TYPE_CHECKING:
    import pandas as pd

HEADLINES = (
    *("mean_wait_s", "median_wait_s", "p95_wait_s", "max_wait_s", "mean_bounded_slowdown", "area_weighted_wait_s"),
    *("utilisation", "steady_utilisation", "makespan_s", "mean_queue_length", "backfilled", "overtaken_s"),
)
"""Figures of `Result.summary` that `compare` shows."""


def compare(results: Mapping[str, Result], *, allow_unequal: bool = False) -> pd.DataFrame:
    """Return the headline figures, one row a result, under the names given.

    Columns: ``jobs_started``, ``jobs_finished`` (started and ended), then `HEADLINES`; NaN where a
    figure is not defined.

    Raises:
        ResultError: nothing to compare, or the results finished different jobs, so that means over
            them say little; with *allow_unequal* they are shown all the same, with both counts.
    """
    import pandas as pd

    if not results:
        raise ResultError("There is no result to compare.", "Give at least one.")
    if not allow_unequal:
        refuse_unequal(results)
    rows = [_row(result) for result in results.values()]
    return pd.DataFrame(rows, index=pd.Index(list(results), name="policy"))


def finished(result: Result) -> pd.DataFrame:
    """Return row, id and submit time of the jobs that started and ended."""
    jobs = result.jobs
    table: pd.DataFrame = jobs.loc[jobs["run_s"].notna(), ["row", "job_id", "submit_s"]]
    return table


def _row(result: Result) -> dict[str, Figure]:
    summary = result.summary()
    counts: dict[str, Figure] = {"jobs_started": summary["jobs_started"], "jobs_finished": len(finished(result))}
    return counts | {key: math.nan if summary[key] is None else summary[key] for key in HEADLINES}


def refuse_unequal(results: Mapping[str, Result]) -> None:
    """Raise `ResultError` unless all results finished the same jobs; it gives the counts of those that differ."""
    (first, reference), *others = results.items()
    expected = finished(reference).reset_index(drop=True)
    for name, result in others:
        jobs = finished(result).reset_index(drop=True)
        if not jobs.equals(expected):
            raise ResultError(
                f"'{first}' finished {len(expected)} jobs and '{name}' {len(jobs)}, not all the same ones.",
                "Run both on the same workload to the end, or allow unequal sets: allow_unequal=True, --allow-unequal.",
            )
