"""Requested times as users give them: few round values, most jobs at the longest, none below the run time.

Source: D. Tsafrir, Y. Etsion, D. G. Feitelson, Modeling user runtime estimates, JSSPP 2005, with the
values of the authors' program. A histogram of estimates is made first (`estimate_bins`), then each
job gets one of them (`assign`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.workloads.models.tsafrir_heads import HEADS, head_shares, head_times_s, popularity
from hpcsim.workloads.models.tsafrir_tail import tail_shares, tail_times_s

Ints = NDArray[np.int64]
Bin = tuple[int, int]
"""(estimate in seconds, jobs)."""

MINUTE_S, HOUR_S = 60, 3600
MOST_USER_BINS = 20
DISTINCT = ((0, 0), (20, 10), (200, 20), (1000, 35), (10_000, 90), (70_000, 340), (250_000, 565))
"""Jobs and distinct estimates in the logs the model was fitted to; constant above."""


def estimates_of(
    run_s: NDArray[np.int64],
    *,
    rng: np.random.Generator,
    longest_s: int | None = None,
    user_bins: Sequence[Bin] = (),
    may_lengthen: bool = False,
) -> Ints:
    """Return a requested time in seconds for each run time [J]; none is below its run time.

    Args:
        run_s: run times in whole seconds.
        rng: of the choices.
        longest_s: the longest estimate users may give, at least an hour and the longest run time;
            the default is the larger of both, in whole minutes.
        user_bins: estimates that are known, with the jobs that give them.
        may_lengthen: where too few estimates are as long as the run times, as in short workloads,
            lengthen them to whole minutes over the run times; else that is an error.

    Raises:
        WorkloadError: *longest_s* is too short, or too few jobs estimate as much as they run.
    """
    if not len(run_s):
        return np.zeros(0, dtype=np.int64)
    longest_run_s = int(run_s.max())
    if longest_s is None:
        longest_s = max(HOUR_S, math.ceil(longest_run_s / MINUTE_S) * MINUTE_S)
    if longest_s < max(HOUR_S, longest_run_s):
        raise WorkloadError(
            f"The longest estimate is {longest_s} s, the longest run time {longest_run_s} s.",
            "Give a longest estimate of at least an hour and at least the longest run time.",
        )
    bins = estimate_bins(len(run_s), longest_s, rng, user_bins)
    estimates = np.repeat([time for time, _ in bins], [count for _, count in bins])
    if may_lengthen:
        least = np.sort(np.minimum(-(-run_s // MINUTE_S) * MINUTE_S, longest_s))
        estimates = np.maximum(np.sort(estimates), least)
    return assign(np.asarray(run_s, dtype=np.int64), estimates.astype(np.int64), rng)


def distinct_estimates(jobs: int) -> int:
    """Return how many different estimates *jobs* jobs give: piecewise linear, rounded by halves up."""
    knots_jobs, knots_values = zip(*DISTINCT, strict=True)
    if jobs >= knots_jobs[-1]:
        return int(knots_values[-1])
    place = int(np.searchsorted(knots_jobs, jobs, side="right")) - 1
    (low, values), (high, more) = DISTINCT[place], DISTINCT[place + 1]
    return values + math.floor((jobs - low) * (more - values) / (high - low) + 0.5)


def estimate_bins(jobs: int, longest_s: int, rng: np.random.Generator, user_bins: Sequence[Bin] = ()) -> list[Bin]:
    """Return the histogram of estimates of *jobs* jobs, ascending by estimate; the counts sum to *jobs*.

    Raises:
        WorkloadError: the bins the user gives are too many, too large or out of range.
    """
    _check_bins(jobs, longest_s, user_bins)
    distinct = max(1, distinct_estimates(jobs))
    shares = _head(longest_s, rng, min(HEADS, distinct))
    tail = tail_times_s(longest_s, max(0, distinct - HEADS), distinct, shares)
    shares |= dict(zip(rng.permutation(tail).tolist(), tail_shares(len(tail)).tolist(), strict=True))
    fixed = _replace_heads(shares, user_bins)
    left = jobs - sum(fixed.values())
    scale = left / jobs / sum(shares.values()) if shares else 0.0
    counts = {time: max(1, round(share * scale * jobs)) for time, share in shares.items()}
    return sorted((fixed | _fit_total(counts, left)).items())


def assign(run_s: Ints, estimates: Ints, rng: np.random.Generator) -> Ints:
    """Give each job one of *estimates* at random among those that are at least its run time.

    Both have shape [J]. The longest jobs choose first, so that the last always find one.

    Raises:
        WorkloadError: some job could not get an estimate as long as its run time.
    """
    jobs = np.argsort(-run_s, kind="stable")
    runs, places = run_s[jobs], np.sort(estimates)[::-1]
    short = np.flatnonzero(runs > places)
    if len(short):
        raise WorkloadError(
            f"{short[0] + 1} jobs run for {runs[short[0]]} s or more, and fewer estimates are as long.",
            "Give a longer longest estimate, or let more jobs give it.",
        )
    last = np.searchsorted(-places, -runs, side="right") - 1
    order = np.arange(len(runs))
    chosen = (order + np.floor(rng.random(len(runs)) * (last - order + 1))).astype(np.int64).tolist()
    values = places.tolist()
    for job, place in enumerate(chosen):  # an estimate that moves back is longer: `last` stays right
        values[job], values[place] = values[place], values[job]
    result = np.empty_like(run_s)
    result[jobs] = values
    return result


def _check_bins(jobs: int, longest_s: int, user_bins: Sequence[Bin]) -> None:
    times = [time for time, _ in user_bins]
    in_range = all(0 < time <= longest_s and count >= 1 for time, count in user_bins)
    if len(times) > MOST_USER_BINS or len(set(times)) < len(times) or not in_range:
        raise WorkloadError(
            f"The known estimates {list(user_bins)[:3]}... cannot be used.",
            f"Give up to {MOST_USER_BINS} different ones of at most {longest_s} s, with a job or more each.",
        )
    if sum(count for _, count in user_bins) > jobs:
        raise WorkloadError(f"The known estimates are those of more than {jobs} jobs.", "Give fewer jobs in them.")


def _head(longest_s: int, rng: np.random.Generator, heads: int) -> dict[int, float]:
    """Return the popular estimates and their shares in percent: the *heads* most popular of the twenty."""
    shares = head_shares()
    ranked = zip(head_times_s(longest_s), popularity(rng), strict=False)  # a short longest has fewer than twenty
    return {time: shares[rank - 1] for time, rank in ranked if rank <= heads}


def _replace_heads(shares: dict[int, float], user_bins: Sequence[Bin]) -> dict[int, int]:
    """Take out of *shares* the popular estimate closest to each known one; return the known ones."""
    for time, _ in user_bins:
        if shares:
            del shares[min(shares, key=lambda known: (abs(known - time), known))]
    for time, _ in user_bins:
        shares.pop(time, None)
    return dict(user_bins)


def _fit_total(counts: dict[int, int], jobs: int) -> dict[int, int]:
    """Return the counts changed, the largest first, until they sum to *jobs*; empty bins are dropped."""
    times = sorted(counts, key=lambda time: (-counts[time], time))
    total = sum(counts.values())
    if not times:
        return {}
    for time in times:  # in proportion, rounded up
        share = math.ceil(abs(jobs - sum(counts.values())) * counts[time] / total)
        _change(counts, time, share, jobs, least=1)
    for time in times:  # one each
        _change(counts, time, 1, jobs, least=1)
    for least in (1, 0):
        for time in times:
            _change(counts, time, counts[time], jobs, least=least)
    counts[times[0]] += jobs - sum(counts.values())
    return {time: count for time, count in counts.items() if count}


def _change(counts: dict[int, int], time: int, most: int, jobs: int, *, least: int) -> None:
    """Move one bin's count by up to *most* towards the total of *jobs*, and not below *least*."""
    missing = jobs - sum(counts.values())
    step = min(most, abs(missing))
    counts[time] = counts[time] + step if missing > 0 else max(min(least, counts[time]), counts[time] - step)
