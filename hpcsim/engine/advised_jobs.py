"""The life of jobs in a run with an advisor: each is advised as it is submitted, and again when somebody asks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hpcsim.engine.advice import AdviceDesk
from hpcsim.engine.columns import CODE, LostAttempt
from hpcsim.engine.jobs import JobLife
from hpcsim.engine.ledger import Allocation
from hpcsim.engine.truth import Fate
from hpcsim.job import Job, JobState
from hpcsim.node_ids import Interval

_TIMEOUT = CODE[JobState.TIMEOUT]
KILLED_BY_ADVICE = "killed by advice, queued again as asked for"


class AdvisedLife(JobLife):
    """Queues the effective job in place of the one that was submitted.

    A job that reaches the limit that advice gave it, and would have ended within the one its user gave,
    was killed by advice: it is queued again, at the end, as its user asked for it; unless it could never
    run so, be it for the machine or for the power cap by now: then it stays killed. From then on it is left
    as it was asked for, so that no job is killed by advice twice.

    Attributes:
        desk: where advice is asked for.
    """

    desk: AdviceDesk

    def __init__(self, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self._asked_fates: dict[int, Fate] = {}  # of running jobs that advice changed
        self._spoilt: set[int] = set()  # rows of jobs that advice has killed

    def admit(self, job: Job) -> None:
        """Put the effective job into the queue, or reject it: judged is what would run, not what was asked."""
        effective = self.desk.effective(job)
        if effective is not job:
            self.truth.move(effective)
        super().admit(effective)

    def advise_again(self, job: Job) -> Job:
        """Ask about a waiting job again; it keeps its place in the queue. Returns the job that waits now.

        A promise made to the job as it was is void. The new job may turn out never to run; it is rejected.
        Nobody is asked about a job that advice has killed.
        """
        effective = job if job.row in self._spoilt else self.desk.effective(job)
        if effective == job:
            return job
        self.truth.move(effective)
        self._keeper.replace(effective)
        self.promised.pop(job.row, None)
        if self._checker:
            self._checker.changed(effective, self.env._now)
        self._observers.tell(self._observers.change, job, effective, self._system)
        self.look_again()
        reason = self._never_runs(effective)
        if reason:
            self.reject(effective, reason)
        return effective

    def start(self, job: Job, intervals: Sequence[Interval] | None) -> None:
        """Start a waiting job that fits; how it would go as asked for is remembered."""
        fate = None if job.requested is None else self.truth.asked_fate(job.row)
        super().start(job, intervals)
        if fate is not None:
            self._asked_fates[job.row] = fate

    def _end(self, held: Allocation) -> None:
        asked, fate = held.job.requested, self._asked_fates.pop(held.job.row, None)
        if asked is None or fate is None or held.end_state != _TIMEOUT or not self._could_run(asked, fate):
            super()._end(held)
        else:
            self._queue_again(held, asked, fate)

    def _could_run(self, asked: Job, fate: Fate) -> bool:
        """Tell whether a job would get to its own end as its user asked for it."""
        return fate[0] <= asked.limit_s + self._grace_s and not self._never_runs(asked)

    def _attempts_of(self, row: int) -> int:
        return 1 + (row in self._spoilt)

    def _queue_again(self, held: Allocation, asked: Job, fate: Fate) -> None:
        """End an attempt that advice has spoilt, and put the job as asked for behind the others."""
        now_s = self.env._now
        self.ledger.end(asked.row)
        area_node_s = held.job.area_node_s if held.job.limit_s < math.inf else 0.0
        self.columns.queued_again(asked.row, LostAttempt(now_s, held.end_state, area_node_s))
        self.truth.restore(asked.row, fate)
        self.desk.asked_again(asked)
        if self._checker:
            self._checker.queued_again(asked, now_s, held.intervals)
        if self._observers.end:
            self._tell_attempt(held, KILLED_BY_ADVICE)
        self._spoilt.add(asked.row)
        self._keeper.append(asked)
        if self._observers.submit:
            self._observers.tell(self._observers.submit, asked, self._system)
        self.look_again()
