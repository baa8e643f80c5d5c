"""The future of a machine whose nodes differ: what `hpcsim.profile.Profile` is to identical nodes. Pure.

A `NodePlan` knows what is free now and what running jobs will give back by their planned ends. It
serves two ways to reserve:

- `promise` and `delays`, for a few reservations that name no nodes: a reserved job keeps its
  earliest start, and a later job may start if that start is not made later.
- `earliest`, `take` and `give_back`, for many reservations that each name their nodes.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hpcsim.decision import Start
from hpcsim.job import Job
from hpcsim.node_layout import Claim, NodeLayout, State, add, subtract
from hpcsim.power_cap import PowerCap

PlannedEnd = tuple[float, int, Claim]
"""(time in seconds, row of the job, what comes free)."""

NEVER = sys.float_info.max
"""A time that every planned end meets, except that of a job without a limit."""


class Promise(NamedTuple):
    """A job's earliest start by planned ends, and what is free then (None: it can never start by them)."""

    job: Job
    start_s: float
    latest_end_s: float
    state: State | None


class NodePlan:
    """What is free from now on, on a machine whose nodes differ. Yours to change.

    Attributes:
        now_s: the instant at which it was made, in seconds.
        layout: the rules of which job may use which nodes.
        state: what is free now.
        next_promise_s: the first of the promised starts, a huge number without one.
        boot_s: returns how long a job that is given the nodes of a claim now waits for those that are off.
        decide: returns the decision that starts a job now on the nodes of a claim, by name where the
            default choice would be another; None if they are not all free.
    """

    def __init__(
        self,
        layout: NodeLayout,
        now_s: float,
        state: State,
        ends: list[PlannedEnd],
        decide: Callable[[Job, Claim], Start | None],
        cap: PowerCap | None = None,
    ) -> None:
        """Take *ends* sorted; *decide* turns a claim into the decision to start now, None if it is not all free.

        Under a *cap* the last place of a state is minus the watts committed, and its steps are among *ends*.
        """
        self.layout = layout
        self.now_s = now_s
        self.state = state
        self._ends = ends
        self.decide = decide
        self._cap = cap
        self.boot_s: Callable[[Job, Claim], float] = lambda job, claim: 0.0  # noqa: ARG005 - all nodes are on
        self.next_promise_s = NEVER
        self._promises: list[Promise] = []
        self._contested: frozenset[str] = frozenset()
        self._times: list[float] = []
        self._states: list[State] = []
        self._merge_at = 32

    @property
    def planned_ends(self) -> Sequence[PlannedEnd]:
        """What comes free and when, in order of time."""
        return self._ends

    @property
    def is_full(self) -> bool:
        """Whether nothing is free now."""
        return not self.layout.most_nodes(self.state)

    @property
    def most_nodes(self) -> int:
        """How many nodes the widest job that could fit now has at most."""
        return self.layout.most_nodes(self.state)

    def fits(self, job: Job) -> bool:
        """Tell whether *job* fits into what is free now."""
        return self.layout.fits(job, self._under_cap(job, self.now_s, self.state))

    def fits_from(self, job: Job, start_s: float) -> bool:
        """Tell whether *job* would fit at *start_s* if nothing happened until then: only the cap may change."""
        return self.layout.fits(job, self._under_cap(job, start_s, self.state))

    def fits_but_for_power(self, job: Job) -> bool:
        """Tell whether *job* fits into the nodes that are free now, were there no power cap."""
        if self._cap is None:
            return self.layout.fits(job, self.state)
        state = self.state.copy()
        state[-1] = math.inf
        return self.layout.fits(job, state)

    def claims_from(self, job: Job, start_s: float, avoid: frozenset[str]) -> list[Claim]:
        """Return one claim for each choice of nodes that has room as in `fits_from`, groups in *avoid* taken last."""
        return self.layout.claims(job, self._under_cap(job, start_s, self.state), avoid)

    def _under_cap(self, job: Job, start_s: float, state: State) -> State:
        """Return *state* with the watts that *job* may count on if it starts at *start_s*."""
        if self._cap is None:
            return state
        state = state.copy()
        state[-1] += self._cap.lowest_w(start_s, start_s + job.limit_s)
        return state

    def shadow(self, job: Job) -> tuple[float, State | None]:
        """Return when *job* first fits by the planned ends, and what is free then; ``(inf, None)``: never.

        Every job due to end by that instant counts as ended.
        """
        layout, ends = self.layout, self._ends
        state = self.state.copy()
        if self.fits(job):
            return self.now_s, self._under_cap(job, self.now_s, state)
        deciding = layout.eligible(job).places
        at, last = 0, len(ends)
        while at < last:
            end_s = ends[at][0]
            if end_s == math.inf:
                break
            may_fit = deciding is None
            while at < last and ends[at][0] == end_s:
                for place, amount in ends[at][2]:
                    state[place] += amount
                    may_fit = may_fit or deciding is None or place in deciding
                at += 1
            if may_fit:
                then = self._under_cap(job, end_s, state)
                if layout.fits(job, then):
                    return end_s, then
        return math.inf, None

    def promise(self, job: Job, *, strictly: bool = False, has_extra: bool = True) -> float:
        """Reserve the earliest start for *job*, on whatever nodes; return it, ``inf``: none by planned ends.

        Args:
            job: a job that does not fit now.
            strictly: later jobs must end before that instant, not at it.
            has_extra: later jobs may run beyond it on nodes that *job* does not need.
        """
        start_s, state = self.shadow(job)
        latest_end_s = min(start_s, NEVER) if not strictly else math.nextafter(start_s, -math.inf)
        self._promises.append(Promise(job, start_s, latest_end_s, state if has_extra else None))
        groups = self.layout.eligible(job).groups
        self._contested = self._contested | groups if self._contested else groups
        self.next_promise_s = min(self.next_promise_s, latest_end_s)
        return start_s

    def beside(self, job: Job, end_s: float) -> Start | None:
        """Return the decision that starts *job* now, to end by *end_s*, and delays no promise; None: there is none.

        It ends later by as much as its nodes boot. The decision names nodes only where the default choice would delay a
        promise and another would not.
        """
        free = self.state if self._cap is None else self._under_cap(job, self.now_s, self.state)
        claim = self.layout.claim(job, free)
        if claim is None:
            return None
        by_s = end_s + self.boot_s(job, claim)
        if not self._delays(claim, job, by_s):
            self._start(job, claim, by_s)
            return Start(job)
        contested, wanted = self._contested, self.layout.eligible(job).groups
        if wanted is contested or wanted <= contested:
            return None
        for other in self.layout.claims(job, free, contested):
            by_s = end_s + self.boot_s(job, other)
            if other != claim and not self._delays(other, job, by_s):
                self._start(job, other, by_s)
                return self.decide(job, other)
        return None

    def start(self, job: Job, end_s: float) -> Start:
        """Return the decision that starts *job*, which fits, now, to end by *end_s*, later by as much as it boots."""
        claim = self.layout.claim(job, self._under_cap(job, self.now_s, self.state))
        if claim is not None:
            self._start(job, claim, end_s + self.boot_s(job, claim))
        return Start(job)

    def _start(self, job: Job, claim: Claim, end_s: float) -> None:
        subtract(self.state, claim)
        insort(self._ends, (end_s, job.row, claim))
        for promise in self._promises:
            if end_s > promise.latest_end_s and promise.state is not None:
                subtract(promise.state, claim)

    def _delays(self, claim: Claim, job: Job, end_s: float) -> bool:
        """Tell whether *job* on *claim* until *end_s* makes a promised start later."""
        layout = self.layout
        for promise in self._promises:
            if end_s <= promise.latest_end_s:
                continue
            if promise.state is None:
                if not layout.eligible(promise.job).groups.isdisjoint(layout.eligible(job).groups):
                    return True
                continue
            subtract(promise.state, claim)
            still_fits = layout.fits(promise.job, promise.state)
            add(promise.state, claim)
            if not still_fits:
                return True
        return False

    def earliest(self, job: Job, length_s: float, from_s: float | None = None) -> tuple[float, Claim]:
        """Return the first start, *from_s* (default: now) or later, with room for *length_s*, and nodes for it.

        What `take` has claimed is in the way. ``(inf, ())`` if there is no such start.
        """
        self._build()
        times, states, fits = self._times, self._states, self.layout.fits
        start_s = self.now_s if from_s is None else from_s
        first = max(bisect_right(times, start_s) - 1, 0)
        while True:
            window, step = states[first], first
            while step < len(times) and (step == first or times[step] < start_s + length_s):
                if not fits(job, states[step]):
                    break
                if step > first and not self.layout.is_counted(job):
                    window = self.layout.lowest(window, states[step])
                    if not fits(job, window):
                        step = first
                        break
                step += 1
            else:
                return start_s, self._claim_within(job, first, step)
            first = step + 1
            if first >= len(times):
                return math.inf, ()
            start_s = times[first]

    def _claim_within(self, job: Job, first: int, last: int) -> Claim:
        """Return nodes for *job* that are free in all steps from *first* to before *last*; it fits into each."""
        window = self._states[first]
        for state in self._states[first + 1 : last]:
            window = self.layout.lowest(window, state)
        claim = self.layout.claim(job, window)
        assert claim is not None
        return claim

    def may_fit_before(self, job: Job, before_s: float) -> bool:
        """Tell whether any instant from now to before *before_s* has room for *job*, however short."""
        self._build()
        steps = self._states[: bisect_left(self._times, before_s)]
        return any(self.layout.fits(job, state) for state in steps)

    def has_room(self, job: Job, end_s: float) -> Claim | None:
        """Return nodes for *job* from now until *end_s*, beside all that `take` has claimed; None: no room."""
        self._build()
        window = self._states[0]
        for state in self._states[1 : max(bisect_left(self._times, end_s), 1)]:
            window = self.layout.lowest(window, state)
        return self.layout.claim(job, window)

    def take(self, claim: Claim, start_s: float, end_s: float) -> None:
        """Claim nodes in [*start_s*, *end_s*)."""
        self._change(subtract, claim, start_s, end_s)

    def give_back(self, claim: Claim, start_s: float, end_s: float) -> None:
        """Undo `take` in [*start_s*, *end_s*)."""
        self._change(add, claim, start_s, end_s)

    def forget_before(self, now_s: float) -> None:
        """Drop the past: saves time, changes no answer from *now_s* on."""
        self._build()
        first = max(bisect_right(self._times, now_s) - 1, 0)
        del self._times[:first], self._states[:first]
        self.now_s = now_s
        if len(self._times) > self._merge_at:
            self._merge()

    def _merge(self) -> None:
        """Join neighbouring steps in which the same is free."""
        is_equal = self.layout.is_equal
        times, states = self._times[:1], self._states[:1]
        for time_s, state in zip(self._times, self._states, strict=True):
            if not is_equal(state, states[-1]):
                times.append(time_s)
                states.append(state)
        self._times, self._states = times, states
        self._merge_at = len(times) + len(times) // 4 + 8

    def _change(self, change: Callable[[State, Claim], None], claim: Claim, start_s: float, end_s: float) -> None:
        if start_s >= end_s:
            return
        self._build()
        first = self._cut(start_s)
        last = self._cut(end_s) if end_s < math.inf else len(self._times)
        for state in self._states[first:last]:
            change(state, claim)

    def _cut(self, time_s: float) -> int:
        """Return the index of the step that begins at *time_s*, made if need be."""
        times = self._times
        step = bisect_left(times, time_s)
        if step == len(times) or times[step] != time_s:
            times.insert(step, time_s)
            self._states.insert(step, self._states[max(step - 1, 0)].copy())
        return step

    def _build(self) -> None:
        """Turn the planned ends into steps, once."""
        if self._times:
            return
        self._times, self._states = [self.now_s], [self.state.copy()]
        for end_s, _, claim in self._ends:
            if end_s == math.inf:
                break
            if end_s != self._times[-1]:
                self._times.append(end_s)
                self._states.append(self._states[-1].copy())
            add(self._states[-1], claim)
        if self._cap is not None:
            for time_s, state in zip(self._times, self._states, strict=True):
                state[-1] += self._cap.at_w(time_s)
