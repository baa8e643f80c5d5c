"""Validate and apply the decisions of a policy, one at a time."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable
from numbers import Real
from typing import Any

from hpcsim.decision import Decision, Reject, Reserve, Start, WakeAt
from hpcsim.engine.jobs import JobLife
from hpcsim.errors import InvalidDecision
from hpcsim.job import Job
from hpcsim.node_ids import Interval, format_intervals, intervals_of


class Decider:
    """Applies a decision, or raises `InvalidDecision` and changes nothing."""

    def __init__(self, life: JobLife, wake: Any, policy_name: str) -> None:
        self._life = life
        self._env = life.env
        self._queue = life.queue
        self._free_nodes = life.ledger.free_nodes
        self._wake = wake
        self._policy = policy_name

    def apply(self, decision: Decision) -> None:
        """Check *decision* against the machine as it is now, and carry it out."""
        if type(decision) is not Start:
            if type(decision) is Reserve:
                self._reserve(decision)
            else:
                self._apply_other(decision)
            return
        job = decision.job
        if type(job) is not Job or self._queue.get(job.row) is not job:
            job = self._waiting(job, "start")
        free = self._free_nodes.count
        if job.nodes > free:
            raise self._too_wide(job, f"which needs {job.nodes} nodes while {free} are free")
        self._life.start(job, None if decision.node_ids is None else self._named_nodes(job, decision.node_ids))

    def _too_wide(self, job: Job, fault: str) -> InvalidDecision:
        remedy = "Check system.fits(job) before yielding Start(job)."
        return self._invalid(
            f"tried to start job {job.job_id}, {fault}", remedy, "capacity", job, self._free_nodes.count
        )

    def _apply_other(self, decision: Decision) -> None:
        if isinstance(decision, WakeAt):
            self._wake_at(decision)
        elif isinstance(decision, Reject):
            self._life.reject(self._waiting(decision.job, "reject"), str(decision.reason))
        else:
            raise self._invalid(
                f"yielded {reprlib.repr(decision)}, which is no decision",
                "Yield Start, Reserve, Reject or WakeAt.",
                "kind",
            )

    def _named_nodes(self, job: Job, node_ids: Iterable[int]) -> list[Interval]:
        ids, intervals = named(node_ids)
        free = self._life.ledger.free_nodes
        if not intervals or len(ids) != job.nodes or len(set(ids)) != job.nodes:
            fault, free_count = f"named {len(ids)} node ids for the {job.nodes} nodes", free.count
            remedy = "Name each node once, as whole numbers, or leave node_ids out."
        elif not free.has(intervals):
            fault, free_count = f"named the nodes {format_intervals(intervals)}, not all of them free,", free.count
            remedy = "Name free nodes only, or leave node_ids out."
        else:
            return intervals
        raise self._invalid(f"{fault} of job {job.job_id}", remedy, "node-ids", job, free_count)

    def _reserve(self, decision: Reserve) -> None:
        job, start_s, node_ids = decision
        if type(job) is not Job or self._queue.get(job.row) is not job:
            job = self._waiting(job, "reserve")
        if not _is_number(start_s) or not start_s >= self._env._now:
            raise self._invalid(
                f"promised job {job.job_id} a start at t = {start_s!r} s, which is past or no time",
                "Reserve for now or later, in seconds.",
                "time",
                job,
            )
        if node_ids is not None:
            self._check_reserved(job, node_ids)
        if start_s == math.inf:
            self._life.promised.pop(job.row, None)
        else:
            self._life.promised[job.row] = start_s
        self._life.columns.promised(job.row, self._env._now, start_s)

    def _check_reserved(self, job: Job, node_ids: Iterable[int]) -> None:
        """Refuse a promise of certain nodes."""
        raise self._invalid(
            f"promised job {job.job_id} certain nodes, but the nodes of this machine are all alike",
            "Leave node_ids out of Reserve.",
            "node-ids",
            job,
        )

    def _wake_at(self, decision: WakeAt) -> None:
        if not _is_number(decision.time_s) or not self._env._now < decision.time_s < math.inf:
            raise self._invalid(
                f"asked to be woken at t = {decision.time_s!r} s", "Wake later than now, at a finite time.", "time"
            )
        self._wake(decision.time_s)

    def _waiting(self, job: Any, verb: str) -> Job:
        """Return the queue's own copy of *job*; refuse one that is not waiting or was tampered with."""
        known = self._life.queue.get(job.row) if isinstance(job, Job) else None
        if known is None:
            name = f"job {job.job_id}" if isinstance(job, Job) else repr(job)
            state = "is already running" if isinstance(job, Job) and job.row in self._life.ledger.running else ""
            raise self._invalid(
                f"tried to {verb} {name}, which {state or 'is not waiting'}",
                "Decide only about jobs in system.queue, each once.",
                "not-waiting",
                job if isinstance(job, Job) else None,
            )
        if known is not job and known != job:
            raise self._invalid(
                f"tried to {verb} a changed copy of job {job.job_id}", "Yield the queue's own job.", "tampered", known
            )
        return known

    def _invalid(
        self, fault: str, remedy: str, rule: str, job: Job | None = None, free: int | None = None
    ) -> InvalidDecision:
        now_s = self._life.env._now
        return InvalidDecision(
            f"At t = {now_s} s {self._policy} {fault}.",
            remedy,
            rule=rule,
            time_s=now_s,
            job_id=job.job_id if job else None,
            wanted=job.nodes if job else None,
            free=free,
        )


def named(node_ids: Any) -> tuple[list[Any], list[Interval]]:
    """Return the node ids that a decision names, as they are and as intervals; no intervals if they are no ids."""
    ids = list(node_ids) if isinstance(node_ids, Iterable) else [node_ids]
    is_whole = all(isinstance(node, int) or hasattr(node, "__index__") for node in ids)
    return ids, intervals_of(int(node) for node in ids) if is_whole else []


def _is_number(value: object) -> bool:
    return type(value) is int or type(value) is float or isinstance(value, Real)
