"""A part of a log by time: a window, its busiest day or week, a share for training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.workload import SAMPLE_S, Workload
from hpcsim.workloads.models.arguments import check_choice, check_number, check_whole
from hpcsim.workloads.transformations.record import call, changed, check_jobs, needs

SPANS_S = {"day": 86_400, "week": 7 * 86_400}
MEASURES = ("node-seconds", "jobs")


def window(workload: Workload, *, start_s: float, end_s: float, running: bool = False) -> Workload:
    """Return the jobs submitted from *start_s* on and before *end_s*, in the log's own seconds.

    With *running* the window does not begin with an empty machine: jobs that by the log's own record
    ran at *start_s* come first, submitted at that instant with the time they had left to run and the
    limit they had left, and those that waited come next, in the order of their submits. Column
    ``was_running`` tells the first from the others. What was recorded of them is that of the rest:
    energy and CPU time by their share of the run time, power series less the samples that are over,
    waits from *start_s* on. The log needs recorded waits for that.

    Raises:
        WorkloadError: the window ends before it starts, or *running* and the log has no waits.
    """
    check_number("start_s", start_s)
    check_number("end_s", end_s)
    if not isinstance(running, bool):
        raise WorkloadError(f"Got running = {running!r}.", "Give true or false.")
    if not end_s > start_s:
        raise WorkloadError(f"A window from {start_s} s to {end_s} s is empty.", "Give an end after the start.")
    submit_s = workload.columns["submit_s"]
    inside = (submit_s >= start_s) & (submit_s < end_s)
    note = call("window", start_s=start_s, end_s=end_s, running=running)
    if not running:
        return workload.select(inside, note)
    wait_s = needs(workload, "recorded_wait_s", "says which jobs were running")
    begun_s = submit_s + wait_s
    is_known = (wait_s >= 0) & (submit_s < start_s)
    was_running = is_known & (begun_s < start_s) & (begun_s + workload.columns["run_s"] > start_s)
    was_waiting = is_known & (begun_s >= start_s)
    rows = np.concatenate([np.flatnonzero(was_running), np.flatnonzero(was_waiting), np.flatnonzero(inside)])
    part = workload.select(rows, note)
    return _resumed(part, was_running[rows], begun_s[rows], start_s)


def _resumed(part: Workload, was_running: NDArray[np.bool_], begun_s: NDArray[Any], start_s: float) -> Workload:
    """Return *part* with its running jobs cut to what they had left at *start_s*, and nothing submitted before it."""
    gone_s = np.where(was_running, start_s - begun_s, 0)
    columns = part.columns
    left_s = columns["run_s"] - gone_s
    limit_s = np.where(was_running, np.maximum(columns["limit_s"] - gone_s, left_s), columns["limit_s"])
    submit_s = np.maximum(columns["submit_s"], start_s)
    is_before = columns["submit_s"] < start_s
    whole = {"submit_s": submit_s, "run_s": left_s, "limit_s": limit_s}
    whole["recorded_wait_s"] = np.where(is_before, np.maximum(begun_s - start_s, 0), columns["recorded_wait_s"])
    whole |= _recorded_of_the_rest(columns, was_running, gone_s)
    result = changed(part, {name: _like(columns[name], new) for name, new in whole.items()}, "jobs resumed")
    result.provenance["transformations"].pop()  # part of the window, which is noted already
    result.columns["was_running"] = was_running
    return result


def _recorded_of_the_rest(
    columns: Mapping[str, NDArray[Any]], was_running: NDArray[np.bool_], gone_s: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """Return what the log recorded over a whole run, for the part of it that is left."""
    run_s = columns["run_s"]
    share = np.where(was_running, 1 - gone_s / np.where(run_s > 0, run_s, 1), 1)
    rest = {
        name: np.where(columns[name] > 0, columns[name] * share, columns[name])
        for name in ("recorded_energy_j", "cpu_s")
        if name in columns
    }
    if "power_series_w" in columns:
        series = columns["power_series_w"].copy()
        step_s = columns.get("power_step_s", np.full(len(run_s), SAMPLE_S))
        for row in np.flatnonzero(was_running):
            over = int(gone_s[row] // step_s[row]) if step_s[row] > 0 else 0
            series[row] = series[row][min(over, max(len(series[row]) - 1, 0)) :]
        rest["power_series_w"] = series
    return rest


def _like(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """Return *new* in the type of *old* where it has no fractions."""
    if new.dtype == object:
        return new
    return new.astype(old.dtype) if np.all(new == np.floor(new)) else new


def busiest(workload: Workload, *, span: str = "day", by: str = "node-seconds", midnight_s: float = 0) -> Workload:
    """Return the jobs submitted on the busiest day or in the busiest week; of equals, the first.

    Args:
        workload: the log.
        span: ``day`` or ``week``.
        by: what makes a day busy, ``node-seconds`` (nodes x run time) or ``jobs``.
        midnight_s: the log's seconds at which some day (week) begins; they are counted from there.

    Raises:
        WorkloadError: there are no jobs, or no such span or measure.
    """
    check_choice("span", span, SPANS_S)
    check_choice("measure", by, MEASURES)
    check_number("midnight_s", midnight_s)
    check_jobs(workload, "choose a day from")
    columns = workload.columns
    bins = np.floor((columns["submit_s"] - midnight_s) / SPANS_S[span]).astype(np.int64)
    weights = columns["nodes"] * columns["run_s"].astype(np.float64) if by == "node-seconds" else None
    busiest_bin = int(np.argmax(np.bincount(bins - bins.min(), weights=weights))) + int(bins.min())
    return workload.select(bins == busiest_bin, call("busiest", span=span, by=by, midnight_s=midnight_s))


def split_by_time(workload: Workload, *, shares: Sequence[float] = (0.7, 0.15, 0.15)) -> list[Workload]:
    """Return consecutive parts by submit time, such as for training, validation and test.

    Args:
        workload: the log.
        shares: of the jobs, above 0 each; they are divided by their sum. No job is lost or repeated.

    Raises:
        WorkloadError: a share is not above 0.
    """
    first = part_by_time(workload, shares=shares)
    return [first, *(part_by_time(workload, shares=shares, part=part) for part in range(1, len(shares)))]


def part_by_time(workload: Workload, *, shares: Sequence[float] = (0.7, 0.15, 0.15), part: int = 0) -> Workload:
    """Return one of the parts that `split_by_time` makes, counted from 0.

    Raises:
        WorkloadError: a share is not above 0, or there is no such part.
    """
    if not isinstance(shares, list | tuple) or not shares:
        raise WorkloadError(f"Got shares = {shares!r}.", "Give one number a part, as in shares=[0.8,0.2].")
    for share in shares:
        check_number("share", share, above=0)
    check_whole("part", part, least=0)
    if part >= len(shares):
        raise WorkloadError(f"There is no part {part} of the shares {list(shares)}.", "Parts are counted from 0.")
    edges = np.rint(np.cumsum([0, *shares]) / sum(shares) * len(workload)).astype(np.int64)
    rows = np.sort(workload.arrival_order()[edges[part] : edges[part + 1]])
    return workload.select(rows, call("split", shares=list(shares), part=part))
