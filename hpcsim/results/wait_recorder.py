"""Why each job waits, written down while it waits: for machines whose nodes differ, are shared or have power.

There counts of free nodes do not say who could start, so that nothing can be told from the tables
afterwards. After each pass this recorder asks the plan of the machine about every waiting job, which
takes time where queues are deep; so it is there only on request.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from hpcsim.job import Job
from hpcsim.node_layout import Claim
from hpcsim.node_plan import NodePlan
from hpcsim.recorder import Recorder
from hpcsim.results.room_ahead import SHORTEST_S
from hpcsim.results.waiting_causes import Cause
from hpcsim.system import System

if TYPE_CHECKING:
    import pandas as pd

WAIT_COLUMNS = ("row", "from_s", "to_s", "cause", "blocker")
"""Columns of the table of waits: job, time in seconds, cause, and the row of who holds the promise (-1: nobody)."""

NOBODY = -1


class _Judgement(NamedTuple):
    """What holds a job back from *from_s* on, if nothing else happens."""

    from_s: float
    cause: Cause
    blocker: int


class _Kept(NamedTuple):
    """A promise that can be kept by what is planned: start and end in seconds."""

    job: Job
    start_s: float
    end_s: float


class WaitRecorder(Recorder):
    """Charges each second of each wait to a cause, as `hpcsim.results.waiting_causes.Cause` defines them."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._from_s: list[float] = []
        self._to_s: list[float] = []
        self._causes: list[Cause] = []
        self._blockers: list[int] = []
        self._last: dict[int, int] = {}
        self._given_s: dict[int, float] = {}
        self._since_s = -math.inf
        self._judged: dict[int, list[_Judgement]] = {}

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """Remember when the job was given its nodes: they may have to boot."""
        self._given_s[job.row] = system.now_s

    def on_pass(self, system: System) -> None:
        """Charge the time since the last pass, and judge anew who waits now."""
        self._charge(system.now_s)
        self._since_s = system.now_s
        self._judged = _judge(system) if len(system.queue) else {}

    def table(self, jobs: pd.DataFrame, clock_s: float) -> pd.DataFrame:
        """Return `WAIT_COLUMNS` in order of job and time; *jobs* is the table of a run that ended at *clock_s*."""
        import pandas as pd

        self._charge(clock_s)
        self._judged = {}
        started_s = dict(zip(jobs["row"].tolist(), jobs["start_s"].tolist(), strict=True))
        for row, given_s in self._given_s.items():
            self._add(row, given_s, started_s[row], Cause.NODE_DOWN, NOBODY)
        self._given_s = {}
        values = (self._rows, self._from_s, self._to_s, [str(cause) for cause in self._causes], self._blockers)
        table = pd.DataFrame(dict(zip(WAIT_COLUMNS, values, strict=True)))
        table = table.astype({"row": "int32", "from_s": float, "to_s": float, "cause": "str", "blocker": "int32"})
        return table.sort_values(["row", "from_s"], kind="stable", ignore_index=True)

    def _charge(self, now_s: float) -> None:
        """Write down the time from the last pass until now."""
        if now_s <= self._since_s:
            return
        for row, judgements in self._judged.items():
            ends_s = [*(later.from_s for later in judgements[1:]), math.inf]
            for judgement, end_s in zip(judgements, ends_s, strict=True):
                self._add(row, judgement.from_s, min(end_s, now_s), judgement.cause, judgement.blocker)

    def _add(self, row: int, from_s: float, to_s: float, cause: Cause, blocker: int) -> None:
        """Add a stretch, or lengthen the job's last one if that has the same cause."""
        if not from_s < to_s:
            return
        at = self._last.get(row, NOBODY)
        if at >= 0 and (self._to_s[at], self._causes[at], self._blockers[at]) == (from_s, cause, blocker):
            self._to_s[at] = to_s
            return
        self._last[row] = len(self._rows)
        for column, value in zip((self._rows, self._from_s, self._to_s, self._blockers), (row, from_s, to_s, blocker),
                                 strict=True):  # fmt: skip
            column.append(value)  # type: ignore[attr-defined]
        self._causes.append(cause)


def _judge(system: System) -> dict[int, list[_Judgement]]:
    """Return of each waiting job what holds it back from now on, until something happens."""
    plan = system.plan()
    kept = list(_promises_that_can_be_kept(plan, system))
    found = {}
    for job in system.queue:
        others = [promise for promise in kept if promise.job.row != job.row]
        found[job.row] = _merged(_judgements(plan, job, others, system))
    return found


def _promises_that_can_be_kept(plan: NodePlan, system: System) -> Iterator[_Kept]:
    """Yield the promises in order of their starts, each beside those before it; a broken one holds nobody back."""
    waiting = {job.row: job for job in system.queue}
    promised = [(max(start_s, plan.now_s), row) for row, start_s in system.promised.items() if start_s < math.inf]
    placed: list[tuple[Claim, float, float]] = []
    for start_s, row in sorted(promised):
        job = waiting[row]
        kept = _Kept(job, start_s, start_s + max(job.limit_s, SHORTEST_S))
        claim = _place(plan, kept)
        if claim is not None:
            placed.append((claim, kept.start_s, kept.end_s))
            yield kept
    _give_back(plan, placed)


def _judgements(plan: NodePlan, job: Job, others: Sequence[_Kept], system: System) -> Iterator[_Judgement]:
    """Yield what holds *job* back, at each moment from which it may be something else.

    Free nodes stay as they are until something happens. As time goes by a start would reach beyond
    a promise, or into a lower step of the power cap: at its time less the job's limit.
    """
    now_s = plan.now_s
    if not plan.fits_but_for_power(job):
        yield _Judgement(now_s, Cause.TOO_FEW_FREE, NOBODY)
        return
    if not system.fits(job):
        yield _Judgement(now_s, Cause.POWER_CAP, NOBODY)
        return
    steps_s = [end_s for end_s, row, _ in plan.planned_ends if row == NOBODY]
    ahead = {at_s - job.limit_s for at_s in (*steps_s, *(promise.start_s for promise in others))}
    moments = [now_s, *sorted(moment for moment in ahead if moment > now_s), math.inf]
    blocker = NOBODY
    for moment, following in pairwise(moments):
        inside_s = moment + 1 if following == math.inf else (moment + following) / 2
        if blocker == NOBODY:  # what a start would break, a later one would
            blocker = _first_broken(plan, job, inside_s, others)
        cause = Cause.POLICY if blocker == NOBODY else Cause.RESERVATION
        is_capped = not plan.fits_from(job, inside_s)
        yield _Judgement(moment, Cause.POWER_CAP, NOBODY) if is_capped else _Judgement(moment, cause, blocker)


def _first_broken(plan: NodePlan, job: Job, start_s: float, others: Sequence[_Kept]) -> int:
    """Return the row of whose promise a start of *job* at *start_s* would break, `NOBODY` if none.

    Until then its nodes are free, as nothing happens. It breaks one if, whatever of its choices of
    nodes it takes, the promises can no longer all be kept, placed one after the other. Named is the
    first by the choice that it gets by default.
    """
    broken = NOBODY
    contested = frozenset(name for promise in others for name in plan.layout.eligible(promise.job).groups)
    for avoid in (frozenset[str](), contested):
        for claim in plan.claims_from(job, start_s, avoid):
            found = _broken_by(plan, [(claim, plan.now_s, start_s + job.limit_s)], others)
            if found == NOBODY:
                return NOBODY
            broken = found if broken == NOBODY else broken
    return broken


def _broken_by(plan: NodePlan, placed: list[tuple[Claim, float, float]], others: Sequence[_Kept]) -> int:
    """Return the first of *others* that cannot be kept beside what is *placed*, by its row."""
    for claim, from_s, to_s in placed:
        plan.take(claim, from_s, to_s)
    broken = NOBODY
    for promise in others:
        found = _place(plan, promise)
        if found is None:
            broken = promise.job.row
            break
        placed.append((found, promise.start_s, promise.end_s))
    _give_back(plan, placed)
    return broken


def _place(plan: NodePlan, promise: _Kept) -> Claim | None:
    """Claim nodes for a promise at its start; None, and nothing claimed, if there are none for its whole limit."""
    start_s, claim = plan.earliest(promise.job, promise.end_s - promise.start_s, promise.start_s)
    if start_s != promise.start_s:
        return None
    plan.take(claim, promise.start_s, promise.end_s)
    return claim


def _give_back(plan: NodePlan, placed: Sequence[tuple[Claim, float, float]]) -> None:
    for claim, from_s, to_s in placed:
        plan.give_back(claim, from_s, to_s)


def _merged(judgements: Iterator[_Judgement]) -> list[_Judgement]:
    """Return *judgements* without those that say what the one before says."""
    merged: list[_Judgement] = []
    for judgement in judgements:
        if not merged or merged[-1][1:] != judgement[1:]:
            merged.append(judgement)
    return merged
