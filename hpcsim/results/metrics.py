"""What is a schedule worth? Pure functions of the tables of a result, each with its unit, definition and source.

*jobs* and *timeline* are the tables of `hpcsim.Result`. A value that the jobs do not define (a mean
of nothing, a share of no time) is NaN. A window is a pair of instants in seconds.

Sources: Feitelson, "Metrics for parallel job scheduling and their convergence" (JSSPP 2001), for
slowdowns; Zotkin and Keleher, "Job-length estimation and performance in backfilling schedulers"
(HPDC 1999), for the slowdown per processor; Frachtenberg and Feitelson, "Pitfalls in parallel job
scheduling evaluation" (JSSPP 2005), for warm-up, cool-down and saturation.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[Any]
Window = tuple[float, float]

SHORT_S = 10.0
"""Run times below this many seconds count as this many in bounded slowdowns."""

CUT_SHARE = 0.1
"""Share of the jobs, at either end of the submits, that the steady window leaves out."""


def bounded_slowdown(jobs: pd.DataFrame, short_s: float = SHORT_S) -> Values:
    """Return max(1, (wait + run) / max(run, *short_s*)) of each job that ran to its end; no unit."""
    wait_s, run_s, _ = _ran(jobs)
    slowdown: Values = np.maximum(1.0, (wait_s + run_s) / np.maximum(run_s, short_s))
    return slowdown


def per_processor_slowdown(jobs: pd.DataFrame, short_s: float = SHORT_S) -> Values:
    """Return max(1, (wait + run) / (nodes x max(run, *short_s*))) of each job that ran to its end; no unit."""
    wait_s, run_s, nodes = _ran(jobs)
    slowdown: Values = np.maximum(1.0, (wait_s + run_s) / (nodes * np.maximum(run_s, short_s)))
    return slowdown


def area_weighted_wait_s(jobs: pd.DataFrame) -> float:
    """Return sum(nodes x run x wait) / sum(nodes x run) in seconds, over the jobs that ran to their end.

    Unlike a mean over jobs it cannot be improved by splitting or favouring small ones.
    """
    wait_s, run_s, nodes = _ran(jobs)
    area_node_s = nodes * run_s
    total = float(area_node_s.sum())
    return float((area_node_s * wait_s).sum()) / total if total > 0 else math.nan


def offered_load(jobs: pd.DataFrame, nodes: int) -> float:
    """Return sum(nodes x run) / (machine's *nodes* x span of the submits); no unit, above 1 means saturated.

    The load as run: over the jobs that ran to their end, by simulated run times, so that a job killed at
    its limit counts up to there and a rejected one not at all. The span is from first to last submit of
    all. `Workload.offered_load` is the load as logged, over all jobs by the log's run times.
    """
    if not len(jobs):
        return math.nan
    submit_s = jobs["submit_s"].to_numpy()
    span_s = float(submit_s.max() - submit_s.min())
    _, run_s, job_nodes = _ran(jobs)
    return float((job_nodes * run_s).sum()) / (nodes * span_s) if span_s > 0 else math.nan


def whole_window(jobs: pd.DataFrame, clock_s: float = math.nan) -> Window:
    """Return (first submit, last end) in seconds; the last end is *clock_s* where jobs are still UNFINISHED.

    (NaN, NaN) where no job ever started.
    """
    is_started = ~np.isnan(jobs["start_s"].to_numpy())
    if not is_started.any():
        return math.nan, math.nan
    ends_s = jobs["end_s"].to_numpy()[is_started]
    ended_s = ends_s[~np.isnan(ends_s)]
    last_s = float(ended_s.max()) if len(ended_s) else -math.inf
    if bool((jobs["state"] == "UNFINISHED").any()):
        last_s = max(last_s, clock_s)
    return float(jobs["submit_s"].min()), last_s


def steady_window(jobs: pd.DataFrame) -> Window:
    """Return the window without warm-up and cool-down, in seconds.

    Of n jobs in order of submit, the first and the last floor(n/10) are cut; the window goes from
    the first to the last submit of the others. (NaN, NaN) without jobs.
    """
    if not len(jobs):
        return math.nan, math.nan
    submit_s = np.sort(jobs["submit_s"].to_numpy())
    cut = int(len(submit_s) * CUT_SHARE)
    return float(submit_s[cut]), float(submit_s[len(submit_s) - 1 - cut])


def makespan_s(window: Window) -> float:
    """Return the length of `whole_window` in seconds."""
    return window[1] - window[0]


def used_node_s(timeline: pd.DataFrame, window: Window) -> float:
    """Return the node-seconds that jobs held within *window*: the integral of the nodes in use."""
    return _integral(timeline, "used_nodes", window)


def utilisation(timeline: pd.DataFrame, nodes: int, window: Window) -> float:
    """Return node-seconds used / (machine's *nodes* x length of *window*); 0 to 1, NaN for an empty window."""
    span_s = window[1] - window[0]
    return used_node_s(timeline, window) / (nodes * span_s) if span_s > 0 else math.nan


def mean_queue_length(timeline: pd.DataFrame, window: Window) -> float:
    """Return the time-weighted mean number of waiting jobs over *window*; NaN for an empty window."""
    span_s = window[1] - window[0]
    return _integral(timeline, "queue_length", window) / span_s if span_s > 0 else math.nan


def bin_means(timeline: pd.DataFrame, column: str, edges_s: Values) -> Values:
    """Return the time-weighted mean of a timeline column in each bin between consecutive *edges_s*.

    Shape: one value fewer than edges. A column is a step function: 0 before its first entry, and
    from each entry to the next what the entry says.
    """
    time_s = timeline["time_s"].to_numpy()
    level = timeline[column].to_numpy().astype(float)
    if not len(time_s):
        return np.zeros(len(edges_s) - 1)
    area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(time_s))])
    step = np.searchsorted(time_s, edges_s, side="right") - 1
    until = np.where(step < 0, 0.0, area[step] + level[step] * (edges_s - time_s[step]))
    return np.diff(until) / np.diff(edges_s)


def _integral(timeline: pd.DataFrame, column: str, window: Window) -> float:
    """Return the integral of a step function over *window*; 0 for an empty one."""
    if not window[1] > window[0]:
        return 0.0
    return float(bin_means(timeline, column, np.array(window))[0]) * (window[1] - window[0])


def _ran(jobs: pd.DataFrame) -> tuple[Values, Values, Values]:
    """Return wait, run time and nodes of the jobs that started and ended."""
    run_s = jobs["run_s"].to_numpy()
    has_run = ~np.isnan(run_s)
    return jobs["wait_s"].to_numpy()[has_run], run_s[has_run], jobs["nodes"].to_numpy()[has_run].astype(float)
