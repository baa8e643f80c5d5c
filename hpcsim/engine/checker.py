"""Watch the invariants while a run goes on, by books of its own that share nothing with the engine's.

Capacity, overlap, early start, one state each, conservation of node-seconds, a clock that only goes
forward. A breach is an `InvariantViolation` at the instant at which it happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hpcsim.errors import InvariantViolation
from hpcsim.job import Job
from hpcsim.node_ids import Interval, count_nodes, format_intervals


class InvariantChecker:
    """A second set of books over the events of one run."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._used = 0  # nodes that somebody holds
        self._held = 0  # the same, a shared node counted once for each of its jobs
        self._now_s = float("-inf")
        self._waiting: dict[int, tuple[int, float]] = {}
        self._running: dict[int, tuple[Job, float, Sequence[Interval]]] = {}
        self._ended: set[int] = set()
        self._busy = bytearray(nodes)
        self._integral_node_s: float = 0
        self._jobs_node_s: float = 0

    def submitted(self, job: Job, now_s: float) -> None:
        """A job has arrived."""
        self._advance(now_s)
        is_known = job.row in self._waiting or job.row in self._running or job.row in self._ended
        self._demand(not is_known, job, "was submitted twice")
        self._demand(job.submit_s <= now_s, job, f"arrived before its submit time {job.submit_s}")
        self._check_advice(job)
        self._waiting[job.row] = (job.nodes, job.limit_s)

    def changed(self, job: Job, now_s: float) -> None:
        """A waiting job has become *job* by new advice."""
        self._advance(now_s)
        self._demand(job.row in self._waiting, job, "was changed without waiting")
        self._check_advice(job)
        self._waiting[job.row] = (job.nodes, job.limit_s)

    def _check_advice(self, job: Job) -> None:
        """A job that was advised asks for the same as before, on one of its allowed node counts."""
        asked = job.requested
        if asked is not None:
            is_allowed = job.nodes == asked.nodes or job.nodes in asked.allowed_nodes
            self._demand(is_allowed, job, f"was advised {job.nodes} nodes, which it does not allow")
            self._demand(asked.requested is None, job, "keeps an advised job as its request")

    def started(self, job: Job, now_s: float, intervals: Sequence[Interval]) -> None:
        """A job has been given its nodes."""
        self._advance(now_s)
        asked = self._waiting.pop(job.row, None)
        self._demand(asked is not None, job, "started without waiting")
        self._demand(asked == (job.nodes, job.limit_s), job, f"was changed while it waited: it asked for {asked}")
        self._demand(now_s >= job.submit_s, job, f"started before its submit time {job.submit_s}")
        for low, high in intervals:
            inside = 0 <= low <= high < self._nodes
            self._demand(inside, job, f"got nodes {low}-{high}, the machine has {self._nodes}")
        self._occupy(job, intervals)
        self._running[job.row] = (job, now_s, intervals)
        self._held += count_nodes(intervals)

    def _occupy(self, job: Job, intervals: Sequence[Interval]) -> None:
        """Mark the nodes of a starting job as used, each by it alone."""
        self._demand(count_nodes(intervals) == job.nodes, job, f"asked for {job.nodes} nodes and got another number")
        for low, high in intervals:
            self._demand(1 not in self._busy[low : high + 1], job, f"overlaps on {format_intervals(intervals)}")
            self._busy[low : high + 1] = b"\1" * (high - low + 1)
        self._used += job.nodes
        self._demand(self._used <= self._nodes, job, f"makes {self._used} nodes used of {self._nodes}")

    def _vacate(self, job: Job, intervals: Sequence[Interval]) -> None:
        """Mark the nodes of an ended job as free."""
        for low, high in intervals:
            self._busy[low : high + 1] = bytes(high - low + 1)
        self._used -= job.nodes

    def queued_again(self, asked: Job, now_s: float, intervals: Iterable[Interval]) -> None:
        """A running job was killed on other nodes than *asked*, gave them back, and waits for those."""
        self._release(asked, now_s, intervals)
        self._waiting[asked.row] = (asked.nodes, asked.limit_s)

    def ended(self, job: Job, now_s: float, intervals: Iterable[Interval]) -> None:
        """A running job has ended and given its nodes back."""
        self._release(job, now_s, intervals)
        self._close(job)

    def _release(self, job: Job, now_s: float, intervals: Iterable[Interval]) -> None:
        self._advance(now_s)
        self._demand(job.row in self._running, job, "ended without running")
        running, start_s, held = self._running.pop(job.row)
        self._demand(list(held) == list(intervals), job, "gave back other nodes than it held")
        self._vacate(running, held)
        self._held -= count_nodes(held)
        self._jobs_node_s += count_nodes(held) * (now_s - start_s)

    def closed_unstarted(self, job: Job, now_s: float) -> None:
        """A job was rejected or cancelled while it waited."""
        self._advance(now_s)
        self._demand(self._waiting.pop(job.row, None) is not None, job, "was closed without waiting")
        self._close(job)

    def counts(self, now_s: float, free: int, queued: int) -> None:
        """Compare the engine's counts with these books, at the end of a pass."""
        self._advance(now_s)
        if free != self._nodes - self._used or queued != len(self._waiting):
            raise InvariantViolation(
                f"At t = {now_s} s the engine counts {free} free nodes and {queued} waiting jobs, "
                f"the checker {self._nodes - self._used} and {len(self._waiting)}."
            )

    def finished(self, now_s: float) -> None:
        """The run is over: nothing may be open, and node-seconds must add up."""
        self._advance(now_s)
        if self._waiting or self._running:
            raise InvariantViolation(f"{len(self._waiting)} waiting and {len(self._running)} running jobs were lost.")
        difference = abs(self._integral_node_s - self._jobs_node_s)
        if difference > 1e-9 * max(1.0, self._jobs_node_s):
            raise InvariantViolation(
                f"The jobs held {self._jobs_node_s} node-seconds, the machine {self._integral_node_s}."
            )

    def _advance(self, now_s: float) -> None:
        if now_s < self._now_s:
            raise InvariantViolation(f"The clock went back from {self._now_s} s to {now_s} s.")
        if now_s > self._now_s and self._held:
            self._integral_node_s += self._held * (now_s - self._now_s)
        self._now_s = now_s

    def _close(self, job: Job) -> None:
        self._demand(job.row not in self._ended, job, "ended twice")
        self._ended.add(job.row)

    def _demand(self, holds: bool, job: Job, fault: str) -> None:
        if not holds:
            raise InvariantViolation(f"At t = {self._now_s} s job {job.job_id} {fault}.")
