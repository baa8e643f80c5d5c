"""The headline figures of one run, and what each of them means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hpcsim.results import metrics
from hpcsim.results.overtaking import is_backfilled, overtaken_s

if TYPE_CHECKING:
    import pandas as pd

Figure = int | float | None

SUMMARY_KEYS = {
    "jobs_submitted": "jobs that arrived before the run ended",
    "jobs_started": "jobs that were given nodes",
    "jobs_completed": "jobs that ended by themselves, well",
    "jobs_failed": "jobs that failed by themselves, or with their nodes",
    "jobs_cancelled": "jobs that were cancelled, waiting or running",
    "jobs_timeout": "jobs that were killed at their limit",
    "jobs_rejected": "jobs that could never run, or that the policy turned away",
    "jobs_unfinished": "jobs that were waiting or running when the run was cut",
    "mean_wait_s": "s; mean wait of the jobs that started",
    "median_wait_s": "s; median wait of the jobs that started",
    "p95_wait_s": "s; 95th percentile of the waits (linear interpolation)",
    "p99_wait_s": "s; 99th percentile of the waits",
    "max_wait_s": "s; longest wait of a job that started",
    "mean_turnaround_s": "s; mean of end - submit over the jobs that ran to their end",
    "mean_bounded_slowdown": "mean of max(1, (wait + run) / max(run, 10 s))",
    "median_bounded_slowdown": "median of the same",
    "mean_per_processor_slowdown": "mean of max(1, (wait + run) / (nodes x max(run, 10 s)))",
    "area_weighted_wait_s": "s; sum(nodes x run x wait) / sum(nodes x run)",
    "utilisation": "share; node-seconds used / (nodes x time from first submit to last end)",
    "steady_utilisation": "share; the same between the submits at 10 % and at 90 % of the jobs",
    "makespan_s": "s; from first submit to last end",
    "offered_load": "as run: sum(nodes x run) of jobs that ran to their end / (machine nodes x span of all submits)",
    "backfilled": "jobs that started while an earlier-submitted one went on waiting",
    "overtaken_s": "s; sum of the waits after later jobs had started in a job's place",
    "mean_queue_length": "jobs; time-weighted mean from first submit to last end",
    "max_queue_length": "jobs; most jobs left waiting by a scheduling pass",
    "used_node_s": "node-seconds that jobs held from first submit to last end",
}
"""Keys of `Result.summary` in order: unit (where there is one) and definition."""

_STATE_KEYS = {
    "jobs_completed": ("COMPLETED",),
    "jobs_failed": ("FAILED", "NODE_FAIL"),
    "jobs_cancelled": ("CANCELLED",),
    "jobs_timeout": ("TIMEOUT",),
    "jobs_rejected": ("REJECTED",),
    "jobs_unfinished": ("UNFINISHED",),
}


def summarise(jobs: pd.DataFrame, timeline: pd.DataFrame, nodes: int, clock_s: float = math.nan) -> dict[str, Figure]:
    """Return the figures of `SUMMARY_KEYS`; None where the jobs define no value.

    *nodes* is the machine's size, *clock_s* where the clock stood at the end of the run.
    """
    figures = _counts(jobs) | _waits(jobs) | _slowdowns(jobs) | _machine(jobs, timeline, nodes, clock_s)
    return {key: _defined(figures[key]) for key in SUMMARY_KEYS}


def _counts(jobs: pd.DataFrame) -> dict[str, Figure]:
    states = jobs["state"].value_counts()
    counts: dict[str, Figure] = {"jobs_submitted": len(jobs), "jobs_started": int(jobs["start_s"].notna().sum())}
    for key, names in _STATE_KEYS.items():
        counts[key] = sum(int(states.get(name, 0)) for name in names)
    return counts


def _waits(jobs: pd.DataFrame) -> dict[str, Figure]:
    wait_s = jobs["wait_s"].to_numpy()
    wait_s = wait_s[~np.isnan(wait_s)]
    keys = ("mean_wait_s", "median_wait_s", "p95_wait_s", "p99_wait_s", "max_wait_s")
    if not len(wait_s):
        return dict.fromkeys(keys)
    return dict(zip(keys, [wait_s.mean(), *np.percentile(wait_s, (50, 95, 99, 100))], strict=True))


def _slowdowns(jobs: pd.DataFrame) -> dict[str, Figure]:
    bounded = metrics.bounded_slowdown(jobs)
    turnaround_s = (jobs["end_s"] - jobs["submit_s"]).to_numpy()[jobs["run_s"].notna().to_numpy()]
    return {
        "mean_turnaround_s": _mean(turnaround_s),
        "mean_bounded_slowdown": _mean(bounded),
        "median_bounded_slowdown": float(np.median(bounded)) if len(bounded) else None,
        "mean_per_processor_slowdown": _mean(metrics.per_processor_slowdown(jobs)),
        "area_weighted_wait_s": metrics.area_weighted_wait_s(jobs),
    }


def _machine(jobs: pd.DataFrame, timeline: pd.DataFrame, nodes: int, clock_s: float) -> dict[str, Figure]:
    window = metrics.whole_window(jobs, clock_s)
    return {
        "utilisation": metrics.utilisation(timeline, nodes, window),
        "steady_utilisation": metrics.utilisation(timeline, nodes, metrics.steady_window(jobs)),
        "makespan_s": metrics.makespan_s(window),
        "offered_load": metrics.offered_load(jobs, nodes),
        "backfilled": int(is_backfilled(jobs).sum()),
        "overtaken_s": float(overtaken_s(jobs, timeline, nodes).sum()),
        "mean_queue_length": metrics.mean_queue_length(timeline, window),
        "max_queue_length": int(timeline["queue_length"].max()) if len(timeline) else 0,
        "used_node_s": metrics.used_node_s(timeline, window),
    }


def _mean(values: metrics.Values) -> Figure:
    return float(values.mean()) if len(values) else None


def _defined(figure: Figure) -> Figure:
    """Return a plain number, or None for NaN: JSON has no NaN."""
    if figure is None or isinstance(figure, int):
        return figure
    return float(figure) if math.isfinite(figure) else None
