"""Why does a job wait? The causes, and the time over which each of many jobs waits for each of them.

The state of the machine is constant between two instants at which something happens. Each stretch
of a job's wait is charged to the first cause in the order of `Cause` that holds there.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hpcsim.results.room_ahead import RoomAhead, Values, spans
from hpcsim.results.schedule import Schedule

BLOCK = 2_000_000
"""Pairs of an instant with a job, about so many are looked at together."""


class Cause(StrEnum):
    """What holds a waiting job back, in the order in which blame is laid: the first that holds.

    ``limit`` has its place here, and no engine yet that would bring it about: results of this version
    never contain it. ``node-down`` and ``power-cap`` occur where waits are recorded during the run
    (`hpcsim.results.wait_recorder`), as do the others there.
    """

    DEPENDENCY = "dependency"
    LIMIT = "limit"
    NODE_DOWN = "node-down"
    POWER_CAP = "power-cap"
    TOO_FEW_FREE = "too-few-free"
    RESERVATION = "reservation"
    POLICY = "policy"


CAUSES = tuple(Cause)
MEANINGS = {
    Cause.DEPENDENCY: "not eligible yet: held, or waiting for another job",
    Cause.LIMIT: "a limit on its user, account or partition was reached",
    Cause.NODE_DOWN: "its nodes were off and had to boot, were down or in a maintenance window",
    Cause.POWER_CAP: "the power cap left no room",
    Cause.TOO_FEW_FREE: "too few nodes were free",
    Cause.RESERVATION: "it fitted, but its start would have broken a promise to another job",
    Cause.POLICY: "it fitted and would have broken no promise, but the policy chose not to start it",
}
"""Each cause in words."""


class Stretches(NamedTuple):
    """Times over which jobs fit and are held back by a promise; one entry each.

    Attributes:
        job: the waiting job, as an index into the targets.
        instant: the instant whose state holds.
        from_s, to_s: the time, in seconds.
        blocker: position in the table of jobs of who holds the promise; -1 where none is to name.
    """

    job: Values
    instant: Values
    from_s: Values
    to_s: Values
    blocker: Values


def split(schedule: Schedule, targets: Values) -> Values:
    """Return the seconds that each job waited for each cause. Shape [targets, causes], none negative.

    *targets* are positions in the table of jobs. A row's sum is the time from submit to leaving the queue.
    """
    parts = np.zeros((len(targets), len(CAUSES)))
    eligible_s, left_s = schedule.eligible_s[targets], schedule.left_s[targets]
    fitted_s = _fitted_s(schedule, targets)
    promised_s = np.zeros(len(targets))
    for found in held_by_promises(schedule, targets):
        promised_s += np.bincount(found.job, weights=found.to_s - found.from_s, minlength=len(targets))
    parts[:, CAUSES.index(Cause.DEPENDENCY)] = eligible_s - schedule.submit_s[targets]
    parts[:, CAUSES.index(Cause.TOO_FEW_FREE)] = left_s - eligible_s - fitted_s
    parts[:, CAUSES.index(Cause.RESERVATION)] = promised_s
    parts[:, CAUSES.index(Cause.POLICY)] = fitted_s - promised_s
    return np.maximum(parts, 0)


def pairs(schedule: Schedule) -> float:
    """Return what explaining every wait costs: at how many instants jobs wait, and hold nodes or promises meanwhile."""
    return float(_load(schedule, np.arange(len(schedule.nodes))).sum())


def held_by_promises(schedule: Schedule, targets: Values) -> Iterator[Stretches]:
    """Yield, block by block of time, when *targets* fit and start would break a promise to another job.

    A job breaks a promise if, by the limits of what runs and with all promises kept, it would not
    find its nodes free for its whole limit. From the state at an instant this gets true at one
    moment and stays true: at the first lack of nodes less the job's limit.
    """
    load = _load(schedule, targets)
    holds = load > 0
    block = np.cumsum(load) // BLOCK
    bounds = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(load)]
    for low, high in pairwise(bounds):
        job, instant = _fitting(schedule, targets, np.flatnonzero(holds[low:high]) + low)
        if len(job):
            yield _stretches(schedule, targets, job, instant)


def _load(schedule: Schedule, targets: Values) -> Values:
    """Return how many entries each instant brings into the account; 0 where nobody waits or nothing is promised."""
    has_promise = _covered(schedule.claim_from, schedule.claim_to, len(schedule.time_s)) > 0
    waiting = _covered(schedule.first[targets], schedule.last[targets], len(schedule.time_s))
    return np.where(has_promise & (waiting > 0), waiting + schedule.loads(), 0)


def _stretches(schedule: Schedule, targets: Values, job: Values, instant: Values) -> Stretches:
    """Return those of the pairs in which a promise is in the way, cut to the time for which it is."""
    used, segment = np.unique(instant, return_inverse=True)
    room = RoomAhead.of(schedule, used)
    position = targets[job]
    until_s = schedule.time_s[instant + 1] + schedule.limit_s[position]
    lack_s, blocker = room.first_lack(segment, schedule.nodes[position], position, until_s)
    is_lacking = np.isfinite(lack_s)
    job, instant, blocker = job[is_lacking], instant[is_lacking], blocker[is_lacking]
    breaks_s = lack_s[is_lacking] - schedule.limit_s[targets[job]]
    from_s = np.maximum(schedule.time_s[instant], breaks_s)
    to_s = schedule.time_s[instant + 1]
    is_held = from_s < to_s
    return Stretches(job[is_held], instant[is_held], from_s[is_held], to_s[is_held], blocker[is_held])


def _fitted_s(schedule: Schedule, targets: Values) -> Values:
    """Return for how many seconds of its wait each of *targets* fitted into the free nodes."""
    fitted_s = np.zeros(len(targets))
    lengths_s = np.diff(schedule.time_s)
    for of_width, width in _by_width(schedule.nodes[targets]):
        until_s = np.concatenate([[0.0], np.cumsum(np.where(schedule.free[:-1] >= width, lengths_s, 0))])
        rows = targets[of_width]
        fitted_s[of_width] = until_s[schedule.last[rows]] - until_s[schedule.first[rows]]
    return fitted_s


def _fitting(schedule: Schedule, targets: Values, instants: Values) -> tuple[Values, Values]:
    """Return all pairs of one of *targets* and one of *instants* at which it waits and fits."""
    jobs, places = [], []
    for of_width, width in _by_width(schedule.nodes[targets]):
        fits = instants[schedule.free[instants] >= width]
        rows = targets[of_width]
        first, last = np.searchsorted(fits, schedule.first[rows]), np.searchsorted(fits, schedule.last[rows])
        owner, place = spans(first, last)
        jobs.append(of_width[owner])
        places.append(fits[place])
    return np.concatenate([*jobs, np.zeros(0, dtype=np.int64)]), np.concatenate([*places, np.zeros(0, dtype=np.int64)])


def _by_width(nodes: Values) -> Iterator[tuple[Values, int]]:
    """Yield, for each width in *nodes*, where it occurs, and the width."""
    order = np.argsort(nodes, kind="stable")
    widths, first = np.unique(nodes[order], return_index=True)
    yield from zip(np.split(order, first[1:]), widths.tolist(), strict=True) if len(widths) else ()


def _covered(first: Values, last: Values, count: int) -> Values:
    """Return by how many of the spans [first, last) each of *count* places is covered."""
    change = np.bincount(first, minlength=count + 1)[: count + 1] - np.bincount(last, minlength=count + 1)[: count + 1]
    covered: Values = np.cumsum(change)[:count]
    return covered
