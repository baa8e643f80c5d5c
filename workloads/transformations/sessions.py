"""A new log of the length and load you want from an old one, its users' sessions kept whole.

A session is a run of one user's jobs with no long pause between submits. Sessions are drawn with
replacement and put into random weeks at the hour of the week at which they took place, so that the
daily and weekly cycles stay, and so does what belongs together within a session.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.workload import Workload
from hpcsim.workloads.models.arguments import check_number, check_whole
from hpcsim.workloads.transformations.record import call, changed, check_jobs, machine_size, needs

WEEK_S = 7 * 86_400
PAUSE_S = 3600.0
"""A user who submits nothing for so long has ended the session."""

MOST_JOBS = 20_000_000
Ints = NDArray[np.int64]


def resample_sessions(
    workload: Workload,
    *,
    load: float | None = None,
    weeks: int | None = None,
    nodes: int | None = None,
    pause_s: float = PAUSE_S,
    seed: int = 0,
) -> Workload:
    """Return a new log of *weeks* weeks that offers *load*, from sessions of the users of an old one.

    Args:
        workload: the log; needs ``user_id``.
        load: offered; default the log's own.
        weeks: length of the new log; default that of the old one, at least 1.
        nodes: of the machine; default the log's own.
        pause_s: seconds without a submit that end a session.
        seed: of the draws.

    Raises:
        WorkloadError: no users, no jobs that use nodes, or an argument out of range.
    """
    check_whole("seed", seed, least=0)
    check_number("pause_s", pause_s, above=0)
    check_jobs(workload, "resample")
    size = machine_size(workload, nodes)
    target = workload.offered_load(size) if load is None else load
    check_number("load", target, above=0)
    submit_s = workload.columns["submit_s"]
    span_s = float(submit_s.max() - submit_s.min())
    length = weeks if weeks is not None else max(1, round(span_s / WEEK_S))
    check_whole("weeks", length)
    order, session = _sessions(workload, pause_s)
    rng = np.random.default_rng(seed)
    area = (workload.columns["nodes"].astype(np.float64) * workload.columns["run_s"])[order]
    drawn = _draw(np.bincount(session, weights=area).astype(np.float64), target * size * length * WEEK_S, rng)
    return _laid_out(
        workload,
        order,
        session,
        drawn,
        length,
        rng,
        call("resample_sessions", load=target, weeks=length, nodes=size, pause_s=pause_s, seed=seed),
    )


def _sessions(workload: Workload, pause_s: float) -> tuple[Ints, Ints]:
    """Return rows by user and submit time, and the session of each, numbered from 0."""
    user = needs(workload, "user_id", "says whose sessions they are")
    _, user = np.unique(user, return_inverse=True)
    submit_s = workload.columns["submit_s"]
    order = np.lexsort((submit_s, user))
    begins = (np.diff(user[order], prepend=-1) != 0) | (np.diff(submit_s[order], prepend=submit_s[order[0]]) > pause_s)
    return order, np.cumsum(begins) - 1


def _draw(area: NDArray[np.float64], wanted: float, rng: np.random.Generator) -> Ints:
    """Return sessions, drawn with replacement until their node-seconds reach *wanted*.

    The last one would overshoot: in its place comes the session that fits the rest best.
    """
    if area.sum() <= 0:
        raise WorkloadError("No job of this log uses any node-second.", "Use a log with run times.")
    enough = int(np.ceil(wanted / area.mean() * 1.5)) + 100
    drawn = rng.integers(0, len(area), min(enough, MOST_JOBS))
    totals = np.cumsum(area[drawn])
    while totals[-1] < wanted:
        drawn = np.concatenate([drawn, rng.integers(0, len(area), len(drawn))])
        totals = np.cumsum(area[drawn])
    count = int(np.searchsorted(totals, wanted))
    before = totals[count - 1] if count else 0.0
    last = int(np.argmin(np.abs(area - (wanted - before))))
    return np.append(drawn[:count], last)


def _laid_out(
    workload: Workload, order: Ints, session: Ints, drawn: Ints, weeks: int, rng: np.random.Generator, note: str
) -> Workload:
    """Return the jobs of the *drawn* sessions, each in a random week at its own time of the week."""
    firsts = np.concatenate([np.flatnonzero(np.diff(session, prepend=-1)), [len(session)]])
    lengths = np.diff(firsts)[drawn]
    copy = np.repeat(np.arange(len(drawn)), lengths)
    within = np.arange(len(copy)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows = order[firsts[drawn][copy] + within]
    submit_s = workload.columns["submit_s"]
    begin_s = submit_s[order[firsts[:-1]]]
    week_s = rng.integers(0, weeks, len(drawn)) * WEEK_S
    moved: NDArray[Any] = submit_s[rows] - begin_s[drawn][copy] + (begin_s[drawn] + week_s)[copy]
    moved %= weeks * WEEK_S  # back into the new log; a session that runs over its end goes on at the beginning
    by_time = np.argsort(moved, kind="stable")
    result = changed(workload.select(rows[by_time], note), {"submit_s": moved[by_time]}, note)
    result.provenance["transformations"].pop()  # noted by the selection already
    result.columns["job_id"] = np.arange(1, len(result) + 1)
    for name in ("preceding_job_id", "think_s", "after"):
        result.columns.pop(name, None)
    return result
