"""The life of a job: admitted or rejected, waiting, running, ended in exactly one state."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hpcsim.cluster import Cluster
from hpcsim.engine.checker import InvariantChecker
from hpcsim.engine.clock import COMPLETION
from hpcsim.engine.columns import CODE, OPEN, STATES, RunColumns
from hpcsim.engine.ledger import Allocation, Ledger
from hpcsim.engine.observers import Observers
from hpcsim.engine.queue import JobQueue, QueueKeeper
from hpcsim.engine.truth import Truth
from hpcsim.job import Job, JobOutcome, JobState, builder_of
from hpcsim.node_ids import Interval
from hpcsim.system import System
from hpcsim.workload import END_STATES

_OWN_END = tuple(CODE[state] for state in END_STATES)
_TIMEOUT = CODE[JobState.TIMEOUT]
_outcome = builder_of(JobOutcome)


class JobLife:
    """Moves jobs from state to state and tells everybody who wants to know."""

    def __init__(
        self,
        env: Any,
        cluster: Cluster,
        ledger: Ledger,
        queue: JobQueue,
        truth: Truth,
        columns: RunColumns,
        *,
        grace_s: float,
        kill_at_limit: bool,
        checker: InvariantChecker | None,
        never_runs: Callable[[Job], str] | None = None,
    ) -> None:
        """*never_runs* says why a job can never run, or the empty string; default: what the cluster says."""
        self.env = env
        self.ledger = ledger
        self.queue = queue
        self._keeper = QueueKeeper(queue)
        self.truth = truth
        self.columns = columns
        self.promised: dict[int, float] = {}
        self.open_jobs = 0
        self.ends_seen = 0
        self.is_fed = False
        self.has_news = False
        self._never_runs = never_runs or _admission(cluster)
        self._grace_s = grace_s if kill_at_limit else math.inf
        self._checker = checker
        self._on_end = self._end
        self._observers: Observers
        self._system: System

    def connect(self, observers: Observers, system: System) -> None:
        """Set what exists only after this object does."""
        self._observers, self._system = observers, system

    def admit(self, job: Job) -> None:
        """Put a submitted job into the queue, or reject it with the reason why it can never run."""
        row = job.row
        now_s = self.env._now
        self.columns.submitted(row, now_s)
        self.open_jobs += 1
        if self._checker:
            self._checker.submitted(job, now_s)
        reason = self._never_runs(job)
        if reason:
            self._close_unstarted(job, JobState.REJECTED, reason)
            self.has_news = True
            return
        self._keeper.append(job)
        if self._observers.submit:
            self._observers.tell(self._observers.submit, job, self._system)
        self.has_news = True

    def start(self, job: Job, intervals: Sequence[Interval] | None) -> None:
        """Start a waiting job that fits; its end is set by its true run time and its limit."""
        row = job.row
        now_s = self.env._now
        held = self.ledger.start(job, now_s, intervals)  # a placement may fail: nothing has changed yet
        self._keeper.remove(row)
        if self.promised:
            self.promised.pop(row, None)
        self.columns.started(row, held.start_s, held.intervals)
        held.run_s, own_end = self.truth.reveal(row)
        held.end_state = _OWN_END[own_end]
        end_s = held.start_s + held.run_s
        if held.run_s > job.limit_s + self._grace_s:
            held.end_state = _TIMEOUT
            end_s = held.limit_end_s + self._grace_s
        held.happen_at(self.env, end_s, COMPLETION, self._on_end)
        if self._checker:
            self._checker.started(job, now_s, held.intervals)
        if self._observers.leave:
            self._observers.tell(self._observers.leave, job, self._system)
        if self._observers.start:
            self._observers.tell(self._observers.start, job, held.node_ids, self._system)

    def reject(self, job: Job, reason: str) -> None:
        """Turn a waiting job away."""
        self._leave_queue(job)
        self._close_unstarted(job, JobState.REJECTED, reason)

    def cancel(self, row: int, reason: str) -> None:
        """Cancel a waiting or running job, as its user would."""
        held = self.ledger.running.get(row)
        if held is None:
            job = self.queue.get(row)
            assert job is not None
            self._leave_queue(job)
            self._close_unstarted(job, JobState.CANCELLED, reason)
            self.has_news = True
        else:
            held.annul()
            held.end_state = CODE[JobState.CANCELLED]
            self._start_no_later(held)
            self.columns.reasons[row] = reason
            self._end(held)

    def cut(self) -> None:
        """Close the books at the end of a run that was cut: what is open is UNFINISHED."""
        for held in self.ledger.running.values():
            self._start_no_later(held)
        state = self.columns.state
        state[:] = state.replace(bytes([OPEN]), bytes([CODE[JobState.UNFINISHED]]))

    def judge_again(self) -> None:
        """The power cap has changed: reject waiting jobs that can never run any more."""
        for job in list(self.queue):
            reason = self._never_runs(job)
            if reason:
                self.reject(job, reason)
        self.look_again()

    def look_again(self) -> None:
        """Something has changed by itself that may let a waiting job start."""
        self.has_news = True
        self.ends_seen += 1

    def _start_no_later(self, held: Allocation) -> None:
        """A job whose nodes still boot ends now: it starts now and runs for no time."""
        now_s = self.env._now
        if held.start_s > now_s:
            held.start_s = now_s
            self.columns.restarted(held.job.row, now_s)

    def _end(self, held: Allocation) -> None:
        job = held.job
        row = job.row
        now_s = self.env._now
        self.has_news = True
        self.ledger.end(row)
        self.columns.ended(row, now_s, held.end_state)
        self.open_jobs -= 1
        self.ends_seen += 1
        if self._checker:
            self._checker.ended(job, now_s, held.intervals)
        if self._observers.end:
            self._tell_attempt(held)

    def _close_unstarted(self, job: Job, state: JobState, reason: str) -> None:
        row = job.row
        self.columns.reasons[row] = reason
        self.columns.ended(row, self.env._now, CODE[state])
        self.truth.reveal(row)
        self.open_jobs -= 1
        self.ends_seen += 1
        if self._checker:
            self._checker.closed_unstarted(job, self.env._now)
        if self._observers.end:
            self._tell_end(job, state, math.nan, "", 0)

    def _tell_attempt(self, held: Allocation, reason: str | None = None) -> None:
        """Tell that an attempt has ended, for *reason* or what is recorded for its job."""
        state, attempts = STATES[held.end_state], self._attempts_of(held.job.row)
        self._tell_end(held.job, state, held.start_s, held.node_ids, attempts, held.energy_j, reason)

    def _attempts_of(self, row: int) -> int:
        """Return how many attempts a job that runs has had."""
        return 1

    def _tell_end(
        self,
        job: Job,
        state: JobState,
        start_s: float,
        node_ids: str,
        attempts: int,
        energy_j: float = math.nan,
        reason: str | None = None,
    ) -> None:
        row, now_s = job.row, self.env._now
        outcome = _outcome(
            row,
            job.job_id,
            state,
            self.columns.reasons.get(row, "") if reason is None else reason,
            job.submit_s,
            self.columns.eligible_s[row],
            start_s,
            now_s,
            job.nodes,
            node_ids,
            attempts,
            energy_j=energy_j,
        )
        self._observers.tell(self._observers.end, job, outcome, self._system)

    def _leave_queue(self, job: Job) -> None:
        self._keeper.remove(job.row)
        if self.promised:
            self.promised.pop(job.row, None)
        if self._observers.leave:
            self._observers.tell(self._observers.leave, job, self._system)


def _admission(cluster: Cluster) -> Callable[[Job], str]:
    """Return `cluster.never_runs`, with a short cut for plain jobs on one group of nodes."""
    group, nodes = cluster.groups[0], cluster.nodes

    def never_runs(job: Job) -> str:
        is_plain = not (job.partitions or job.gpus_per_node or job.memory_bytes_per_node or job.features)
        if is_plain and job.nodes <= nodes and job.cores_per_node <= group.cores:
            return ""
        return cluster.never_runs(job)

    is_plain_machine = len(cluster.groups) == 1 and not (cluster.partitions or group.allocation_sizes)
    return never_runs if is_plain_machine else cluster.never_runs
