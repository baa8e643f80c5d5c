"""One run of the policy under test, watched: what it decided, when, and how it failed if it did."""

from __future__ import annotations

import math
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hpcsim.cluster import Cluster
from hpcsim.decision import Decision, Reject, Reserve, Start, WakeAt
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import HpcsimError, InvalidDecision, PolicyFailed
from hpcsim.job import Job
from hpcsim.policy import Policy
from hpcsim.recorder import Recorder
from hpcsim.system import RunningJob, System
from hpcsim.workload import Workload


class Scenario(NamedTuple):
    """What a policy is tried on."""

    workload: Workload
    cluster: Cluster

    @property
    def size(self) -> tuple[float, ...]:
        """What makes one scenario smaller than another: fewer jobs, then a smaller machine, then smaller numbers."""
        columns = self.workload.columns
        total = sum(float(columns[name].sum()) for name in ("submit_s", "run_s", "limit_s", "nodes"))
        return (len(self.workload), self.cluster.nodes, total)


class Step(NamedTuple):
    """A decision that was applied: the clock, its kind, the job's row, and its time or text."""

    now_s: float
    kind: str
    row: int = -1
    detail: Any = None


class Moment(NamedTuple):
    """The machine at one instant: the clock in seconds, free nodes, who waits and who runs."""

    now_s: float
    free: int
    queue: tuple[Job, ...]
    running: tuple[RunningJob, ...]

    @classmethod
    def of(cls, system: System) -> Moment:
        """Return the present moment of *system*."""
        return cls(system.now_s, system.free, tuple(system.queue), tuple(system.running))


class Fault(NamedTuple):
    """How a run failed. Two faults of one `signature` have one cause: kind of error, rule or place."""

    error: Exception
    moment: Moment | None
    signature: tuple[Any, ...]


@dataclass
class Trial:
    """A policy's run of a scenario: its decisions in order, and the fault that ended it, if one did."""

    policy: Policy
    scenario: Scenario
    steps: list[Step]
    fault: Fault | None
    end_s: dict[int, float]
    simulation: Simulation | None

    @property
    def schedule(self) -> list[Step]:
        """The decisions that make the schedule: starts and rejections."""
        return [step for step in self.steps if step.kind in {"Start", "Reject"}]


class Stepper(Recorder):
    """Keeps every decision that was applied, and when jobs ended."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.end_s: dict[int, float] = {}

    def on_decision(self, decision: Decision, system: System) -> None:
        """Keep the decision as plain data."""
        self.steps.append(step_of(decision, system.now_s))

    def on_end(self, job: Job, outcome: Any, system: System) -> None:
        """Keep when the job ended."""
        self.end_s[job.row] = system.now_s


def attempt(policy: Policy, scenario: Scenario, *, seed: int = 0, recorders: Sequence[Recorder] = ()) -> Trial:
    """Run *policy* on *scenario* to the end, or to its first fault; nothing is raised.

    What *recorders* raise is a fault as well.
    """
    stepper = Stepper()
    fault, simulation = None, None
    try:
        simulation = Simulation(*scenario, policy, seed=seed, check=True, recorders=[stepper, *recorders])
        simulation.run()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the fault
        moment = Moment.of(simulation.system) if simulation else None
        fault = Fault(error, moment, _signature(error))
    return Trial(policy, scenario, stepper.steps, fault, stepper.end_s, simulation)


def moment_before(policy: Policy, scenario: Scenario, step: int, *, seed: int = 0) -> Moment | None:
    """Run again; return the moment at which decision number *step* is taken, None if that does not come."""
    stop = _StopAt(step)
    attempt(policy, scenario, seed=seed, recorders=[stop])
    return stop.moment


class _StopAt(Recorder):
    """Remembers the machine just before one decision: as it is after it, the decision taken back."""

    def __init__(self, step: int) -> None:
        self._left = step
        self.moment: Moment | None = None

    def on_decision(self, decision: Decision, system: System) -> None:
        self._left -= 1
        if self._left != -1:
            return
        now = Moment.of(system)
        if isinstance(decision, Start | Reject):
            queue = sorted((*now.queue, decision.job), key=lambda job: (job.submit_s, job.row))
            running = tuple(entry for entry in now.running if entry.job.row != decision.job.row)
            freed = decision.job.nodes if isinstance(decision, Start) else 0
            now = Moment(now.now_s, now.free + freed, tuple(queue), running)
        self.moment = now


def step_of(decision: Decision, now_s: float) -> Step:
    """Return a decision, taken at *now_s*, as plain data."""
    if isinstance(decision, Start):
        nodes = None if decision.node_ids is None else sorted(decision.node_ids)
        return Step(now_s, "Start", decision.job.row, nodes)
    if isinstance(decision, Reserve):
        start_s = None if decision.start_s == math.inf else float(decision.start_s)
        return Step(now_s, "Reserve", decision.job.row, start_s)
    if isinstance(decision, Reject):
        return Step(now_s, "Reject", decision.job.row, str(decision.reason))
    assert isinstance(decision, WakeAt)
    return Step(now_s, "WakeAt", -1, float(decision.time_s))


def _signature(error: Exception) -> tuple[Any, ...]:
    if isinstance(error, InvalidDecision):
        return (InvalidDecision, error.rule)
    if isinstance(error, HpcsimError) and not isinstance(error, PolicyFailed):
        return (type(error),)
    cause = error.__cause__ or error
    place = traceback.extract_tb(cause.__traceback__)[-1]
    return (type(cause), place.filename, place.lineno)
