"""Does the policy leave alone what it is shown, and let go of it?"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterable
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType
from typing import Any

from hpcsim.decision import Decision, Reserve
from hpcsim.job import Job
from hpcsim.recorder import Recorder
from hpcsim.system import System
from hpcsim.testing.checks.check import PolicyCheck
from hpcsim.testing.examination import Examination
from hpcsim.testing.trial import Moment, Scenario, Trial
from hpcsim.testing.violation import Violation
from hpcsim.workload import Workload

_MOST_VISITED = 100_000
_FOREIGN_MODULES = ("numpy", "torch")


class Books(Recorder):
    """A copy of everything that a policy is shown, compared with the original after each decision and pass."""

    def __init__(self, workload: Workload) -> None:
        self._asked = {job.row: job for job in workload.jobs()}
        self._cluster: Any = None
        self._waiting: set[int] = set()
        self._running: dict[int, int] = {}
        self._promised: dict[int, float] = {}
        self.breach: tuple[str, Moment] | None = None

    def on_submit(self, job: Job, system: System) -> None:
        """A job waits."""
        self._cluster = self._cluster or system.cluster
        self._waiting.add(job.row)

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """A job runs."""
        self._waiting.discard(job.row)
        self._promised.pop(job.row, None)
        self._running[job.row] = self._asked[job.row].nodes

    def on_end(self, job: Job, outcome: Any, system: System) -> None:
        """A job has left."""
        self._waiting.discard(job.row)
        self._promised.pop(job.row, None)
        self._running.pop(job.row, None)

    def on_decision(self, decision: Decision, system: System) -> None:
        """Keep promises; compare."""
        if isinstance(decision, Reserve):
            self._promised[decision.job.row] = decision.start_s
            if decision.start_s == float("inf"):
                del self._promised[decision.job.row]
        self._compare(system)

    def on_pass(self, system: System) -> None:
        """Compare."""
        self._compare(system)

    def _compare(self, system: System) -> None:
        if self.breach is None and (fault := self._difference(system)):
            self.breach = (fault, Moment.of(system))

    def _difference(self, system: System) -> str:
        for job in (*system.queue, *(entry.job for entry in system.running)):
            if job != self._asked[job.row]:
                return f"Job {job.job_id} was changed: it is now {job}, and was {self._asked[job.row]}."
        free = system.cluster.nodes - sum(self._running.values())
        pairs = (
            ("system.free", system.free, free),
            ("system.queue", {job.row for job in system.queue}, self._waiting),
            ("system.promised", dict(system.promised), self._promised),
            ("system.running", {entry.job.row for entry in system.running}, set(self._running)),
        )
        changed = [
            f"{name} was changed: it is now {now}, and should be {was}." for name, now, was in pairs if now != was
        ]
        return changed[0] if changed else ""


def _find_mutation(examination: Examination) -> Violation | None:
    def judge(scenario: Scenario, _: Any) -> Violation | None:
        books = Books(scenario.workload)
        trial = examination.attempt(scenario, recorders=[books])
        if books.breach is not None:
            sentence, moment = books.breach
            return Violation(sentence, scenario, moment, remedy="Read the view; change only copies of your own.")
        return examination.fault_of(trial, "mutates-nothing")

    return examination.search(judge)


def _find_kept_view(examination: Examination) -> Violation | None:
    def judge(scenario: Scenario, _: Any) -> Violation | None:
        trial = examination.first_run(scenario)
        examination.fault_of(trial, "keeps-no-view")
        name = kept_view(trial)
        if not name:
            return None
        return Violation(
            f"After the run the policy still holds {name}.",
            scenario,
            remedy="Take out of the view what you need: later it shows another instant, and no worker can be sent it.",
        )

    return examination.search(judge)


def kept_view(trial: Trial) -> str:
    """Return where the policy of *trial* holds on to the view or a live part of it; empty if nowhere."""
    assert trial.simulation is not None
    system = trial.simulation.system
    wanted = {
        id(system): "the view",
        id(system.queue): "the view's queue",
        id(system.running): "the view's running jobs",
    }
    policy = trial.policy
    for part in (policy, *policy.listeners()):
        for name, value in getattr(part, "__dict__", {}).items():
            if found := _reachable(value, wanted):
                return f"{found}, by {type(part).__name__}.{name}"
    found = _reachable(policy, wanted)
    return found and f"{found}, in {type(policy).__name__}"


def _reachable(start: Any, wanted: dict[int, str]) -> str:
    """Return which of the *wanted* objects (by identity) can be reached from *start*."""
    seen = {id(start)}
    ahead = deque([start])
    while ahead and len(seen) < _MOST_VISITED:
        thing = ahead.popleft()
        if id(thing) in wanted:
            return wanted[id(thing)]
        for below in _referents(thing):
            if id(below) not in seen:
                seen.add(id(below))
                ahead.append(below)
    return ""


def _referents(thing: Any) -> Iterable[Any]:
    """Return what *thing* holds, without the program's own text: modules, classes and the like."""
    if isinstance(thing, FunctionType):
        return thing.__closure__ or ()
    if isinstance(thing, FrameType):
        return list(thing.f_locals.values())
    if isinstance(thing, type | ModuleType | BuiltinFunctionType | Job):
        return ()
    if type(thing).__module__.partition(".")[0] in _FOREIGN_MODULES:
        return ()
    return gc.get_referents(thing)


CHECKS = (
    PolicyCheck("mutates-nothing", "changes no job and nothing of the view", _find_mutation),
    PolicyCheck("keeps-no-view", "holds on to no part of the view", _find_kept_view),
)
