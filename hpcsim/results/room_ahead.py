"""Free nodes over future time, at many instants of a finished schedule at once.

From each instant on, running jobs give their nodes back at their limits, and promised jobs take
theirs at the promised starts. The question is always the same: when does a job, started at that
instant, first find too few nodes?
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hpcsim.results.schedule import Schedule

Values = NDArray[Any]

SHORTEST_S = 1.0
"""No promise takes nodes for less, as in plans made on a `hpcsim.Profile`."""


class RoomAhead:
    """The room ahead of several instants, the segments. All arrays hold one entry a release or claim.

    Args:
        free: nodes free at each segment's instant. Shape [segments].
        release: segment, time in seconds and nodes of each planned end.
        claim: segment, start, end, nodes and job of each promise.
    """

    def __init__(
        self,
        free: Values,
        release: tuple[Values, Values, Values],
        claim: tuple[Values, Values, Values, Values, Values],
    ) -> None:
        segment, from_s, to_s, nodes, self._claim_job = claim
        event_s = np.concatenate([from_s, to_s, release[1]])
        of = np.concatenate([segment, segment, release[0]])
        change = np.concatenate([-nodes, nodes, release[2]])
        order = np.lexsort((event_s, of))
        event_s, of, change = event_s[order], of[order], change[order]
        is_last = np.append((of[1:] != of[:-1]) | (event_s[1:] != event_s[:-1]), True)[: len(of)]
        step = np.empty(len(of), dtype=np.int64)
        step[order] = np.cumsum(is_last) - is_last
        total = np.cumsum(change)
        starts = np.searchsorted(of, np.arange(len(free)))
        before = np.where(starts > 0, total[np.maximum(starts, 1) - 1], 0) if len(of) else np.zeros(len(free))
        self._of, self._time_s = of[is_last], event_s[is_last]
        self._level = (free[of] + total - before[of])[is_last].astype(np.int64)
        # Running minima of all segments in one array: each segment is pushed below the one before it.
        self._apart = 2 * int(max(np.abs(self._level).max(initial=0), free.max(initial=0))) + 2
        self._lowest = -np.minimum.accumulate(self._level - self._of * self._apart)
        self._negative = np.flatnonzero(self._level < 0)
        self._claims = np.lexsort((self._claim_job, step[: len(segment)]))
        self._claim_step, self._claim_end_step = step[: len(segment)], step[len(segment) : 2 * len(segment)]
        self._claim_segment = segment

    @classmethod
    def of(cls, schedule: Schedule, instants: Values) -> Self:
        """Return the room ahead of ascending *instants* of *schedule*.

        A planned end that has passed counts as one second from then, a promised start that has as then.
        """
        held, segment = spans(*(np.searchsorted(instants, at) for at in (schedule.held_from, schedule.held_to)))
        job, now_s = schedule.held_by[held], schedule.time_s[instants[segment]]
        start_s = schedule.held_start_s[held]
        end_s = start_s + schedule.limit_s[job]
        end_s = np.where((end_s <= now_s) & (start_s < now_s), now_s + 1, end_s)
        release = segment, end_s, schedule.nodes[job]
        claim, segment = spans(*(np.searchsorted(instants, at) for at in (schedule.claim_from, schedule.claim_to)))
        job = schedule.claim_of[claim]
        from_s = np.maximum(schedule.claim_s[claim], schedule.time_s[instants[segment]])
        to_s = from_s + np.maximum(schedule.limit_s[job], SHORTEST_S)
        last_s = np.full(len(instants), -np.inf)  # nodes get fewer at promised starts alone: the last one is the end
        np.maximum.at(last_s, segment, from_s)
        is_early = release[1] <= last_s[release[0]]
        release = (release[0][is_early], release[1][is_early], release[2][is_early])
        return cls(schedule.free[instants], release, (segment, from_s, to_s, schedule.nodes[job], job))

    def first_lack(self, segment: Values, nodes: Values, job: Values, until_s: Values) -> tuple[Values, Values]:
        """Return when a job of each segment first lacks nodes, and whose promise takes them.

        A job's own promise is not in its way. Seconds, ``inf`` for never before *until_s*; the other
        job's position, -1 where there is none. Each job must fit at its segment's own instant.
        """
        step = np.searchsorted(self._lowest, segment * self._apart - nodes, side="right")
        own = self._own_claim(segment, job)
        has_own = np.flatnonzero(own >= 0)
        has_own = has_own[step[has_own] >= self._claim_step[own[has_own]]]
        step[has_own] = self._beside_own(own[has_own], nodes[has_own], until_s[has_own])
        inside = np.minimum(step, len(self._of) - 1)
        is_there = (step < len(self._of)) & (self._of[inside] == segment) & (self._time_s[inside] < until_s)
        return np.where(is_there, self._time_s[inside], np.inf), self._blocker(step, segment, job)

    def _own_claim(self, segment: Values, job: Values) -> Values:
        """Return the promise that each job itself holds in its segment, -1 without one."""
        width = int(max(self._claim_job.max(initial=0), job.max(initial=0))) + 1
        key = self._claim_segment * width + self._claim_job
        order = np.argsort(key)
        wanted = segment * width + job
        found = np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)
        return np.where(key[order][found] == wanted, order[found], -1)

    def _beside_own(self, own: Values, nodes: Values, until_s: Values) -> Values:
        """Return the first step, from the start of each job's own promise on, at which the other ones take too much.

        While its own promise holds, the level must not be negative; after it, not below its nodes.
        Plans rarely have to be followed so far: the promise would have passed unkept.
        """
        negative = np.append(self._negative, len(self._of))
        step = negative[np.searchsorted(self._negative, self._claim_step[own])]
        end_step = self._claim_end_step[own]
        going = np.flatnonzero(step >= end_step)
        step[going] = end_step[going]
        while len(going):
            at = step[going]
            going = going[(self._level[at] >= nodes[going]) & (self._time_s[at] < until_s[going])]
            step[going] += 1
            going = going[step[going] < len(self._of)]
        return step

    def _blocker(self, step: Values, segment: Values, job: Values) -> Values:
        """Return the job whose promise begins last at or before *step*, other than *job* itself."""
        at = np.searchsorted(self._claim_step[self._claims], step, side="right") - 1
        is_own = self._claim_job[self._claims[np.maximum(at, 0)]] == job
        at -= is_own
        claim = self._claims[np.maximum(at, 0)]
        is_there = (at >= 0) & (self._claim_segment[claim] == segment)
        return np.where(is_there, self._claim_job[claim], -1)


def spans(first: Values, last: Values) -> tuple[Values, Values]:
    """Return every place of the half-open spans [first, last): whose it is, and the place."""
    lengths = np.maximum(last - first, 0)
    owner = np.repeat(np.arange(len(first)), lengths)
    begins = np.cumsum(lengths) - lengths
    return owner, np.arange(len(owner)) - begins[owner] + first[owner]
