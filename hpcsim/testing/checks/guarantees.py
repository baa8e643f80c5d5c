"""Do the declared guarantees hold?

They are read from promises, the `Reserve` decisions of the policy. So that a promise means
something, it may not be later than the instant at which everything before it has ended by its limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hpcsim.decision import Decision, Reserve, Start
from hpcsim.recorder import Recorder
from hpcsim.system import System
from hpcsim.testing.checks.check import PolicyCheck
from hpcsim.testing.examination import Examination
from hpcsim.testing.search import NotDeclared
from hpcsim.testing.trial import Moment, Scenario
from hpcsim.testing.violation import Violation, describe_decision


class Watchdog(Recorder):
    """Remembers the first breach: the sentence, the moment, the decision."""

    def __init__(self) -> None:
        self.breach: tuple[str, Moment, str] | None = None

    def report(self, sentence: str, system: System, decision: Decision | None = None) -> None:
        """Keep a breach, unless there is an earlier one."""
        if self.breach is None:
            self.breach = (sentence, Moment.of(system), describe_decision(decision, system.now_s) if decision else "")


class InOrderOfArrival(Watchdog):
    """Nobody starts before somebody who came earlier."""

    def on_decision(self, decision: Decision, system: System) -> None:
        """Compare a started job with those that still wait."""
        if isinstance(decision, Start) and system.queue:
            job, head = decision.job, system.queue[0]
            if (job.submit_s, job.row) > (head.submit_s, head.row):
                self.report(
                    f"Job {job.job_id} started while job {head.job_id}, which came first, waits.", system, decision
                )


class HeadKeepsItsPromise(Watchdog):
    """The first waiting job that holds a promise starts by it, and the promise never moves later."""

    def __init__(self) -> None:
        super().__init__()
        self._head_row = -1
        self._promise_s = math.inf

    def on_decision(self, decision: Decision, system: System) -> None:
        """Compare the start of the head with its promise."""
        if isinstance(decision, Start) and decision.job.row == self._head_row and system.now_s > self._promise_s:
            self.report(f"{_promised(decision.job.job_id, self._promise_s)}, and starts later.", system, decision)

    def on_pass(self, system: System) -> None:
        """Find the head of this pass, and compare its promise with the last one."""
        if not system.queue:
            self._head_row = -1
            return
        head = next((job for job in system.queue if job.row in system.promised), None)
        if head is None:
            self.report("Jobs wait, and none of them has been promised a start (Reserve).", system)
            return
        promise_s, now_s = system.promised[head.row], system.now_s
        if head.row == self._head_row and promise_s > self._promise_s:
            self.report(f"{_promised(head.job_id, self._promise_s)}, and now by {promise_s:g} s.", system)
        if now_s > promise_s:
            self.report(f"{_promised(head.job_id, promise_s)}, and still waits.", system)
        if head.row != self._head_row and promise_s > _all_ended_s(system):
            self.report(f"{_promised(head.job_id, promise_s)}, when all running jobs have long ended.", system)
        self._head_row, self._promise_s = head.row, promise_s


class EverybodyKeepsTheirs(Watchdog):
    """Each job is promised a start at arrival and starts by it; no promise moves later."""

    def __init__(self) -> None:
        super().__init__()
        self._promised: dict[int, float] = {}

    def on_decision(self, decision: Decision, system: System) -> None:
        """Compare promises with earlier ones, and starts with promises."""
        if isinstance(decision, Reserve):
            job, start_s = decision.job, decision.start_s
            before_s = self._promised.get(job.row)
            if before_s is None:
                if start_s > self._all_before_ended_s(system, job.row):
                    self.report(
                        f"{_promised(job.job_id, start_s)}, when all before it have long ended.", system, decision
                    )
            elif start_s > before_s:
                self.report(f"{_promised(job.job_id, before_s)}, and now later.", system, decision)
            self._promised[job.row] = start_s
        elif isinstance(decision, Start) and system.now_s > self._promised.get(decision.job.row, math.inf):
            promise_s = self._promised[decision.job.row]
            self.report(f"{_promised(decision.job.job_id, promise_s)}, and starts later.", system, decision)

    def on_pass(self, system: System) -> None:
        """Everybody who waits holds a promise that is not past."""
        for job in system.queue:
            promise_s = system.promised.get(job.row)
            if promise_s is None:
                self.report(f"Job {job.job_id} waits without a promised start (Reserve).", system)
            elif system.now_s > promise_s:
                self.report(f"{_promised(job.job_id, promise_s)}, and still waits.", system)

    def _all_before_ended_s(self, system: System, row: int) -> float:
        """Return when all that runs or holds a promise, but for *row*, has ended by its limit, at least a second each.

        The later of two answers: one after the other behind what runs, and each from its promise. The
        gaps that early ends leave between promises can make the second the later one.
        """
        others = [job for job in system.queue if job.row in self._promised and job.row != row]
        in_turn_s = _all_ended_s(system, sum(max(job.limit_s, 1) for job in others))
        return max([in_turn_s, *(self._promised[job.row] + max(job.limit_s, 1) for job in others)])


def _all_ended_s(system: System, more_s: float = 0) -> float:
    """Return when everything that runs has ended by its limit, and *more_s* seconds have passed."""
    return max((entry.limit_end_s for entry in system.running), default=system.now_s) + more_s


def _promised(job_id: object, promise_s: float) -> str:
    return f"Job {job_id} was promised a start by t = {promise_s:g} s"


def _holds(name: str, rule: str, watch: Callable[[], Watchdog], remedy: str) -> PolicyCheck:
    """Return the check of one guarantee."""

    def find(examination: Examination) -> Violation | None:
        if name not in examination.subject.policy.guarantees:
            raise NotDeclared("not declared")

        def judge(scenario: Scenario, _: Any) -> Violation | None:
            watchdog = watch()
            trial = examination.attempt(scenario, recorders=[watchdog])
            if watchdog.breach is not None:
                sentence, moment, decision = watchdog.breach
                return Violation(sentence, scenario, moment, decision, f"{remedy}, or do not declare '{name}'.")
            return examination.fault_of(trial, name)

        return examination.search(judge)

    return PolicyCheck(name, rule, find)


CHECKS = (
    _holds("fcfs-order", "starts nobody before an earlier one", InOrderOfArrival, "Start in queue order"),
    _holds(
        "no-head-delay",
        "keeps its promise to the first blocked job",
        HeadKeepsItsPromise,
        "Reserve for the head, and backfill only what does not delay it",
    ),
    _holds(
        "no-delay-of-any",
        "keeps its promise to every job",
        EverybodyKeepsTheirs,
        "Reserve for each job at arrival, and move promises forward only",
    ),
)
