"""A caller who decides step by step does what one can, in any order, with the checker on.

Users above a policy are `hpcsim.testing.SimulationMachine`, see tests/testing/test_simulation_machine.py.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hpcsim.decision import Reject, Reserve, Start, WakeAt
from hpcsim.engine.columns import STATES
from hpcsim.errors import InvalidDecision, StalledPolicy
from hpcsim.job import Job, JobState
from hpcsim.system import System
from tests.properties.workloads import MACHINE, workloads
from tests.schedules import simulation

ENDED = {JobState.COMPLETED, JobState.TIMEOUT, JobState.CANCELLED, JobState.REJECTED}
index = st.integers(0, 50)


class StepByStep(RuleBasedStateMachine):
    """A caller decides: starts, promises, rejects, wakes, submits and cancels, and lets time go on."""

    @initialize(workload=workloads(max_jobs=14))
    def begin(self, workload: Any) -> None:
        """Any workload."""
        self.sim = simulation(workload, MACHINE, None)
        self.view: System = self.sim.system
        self.is_open = False
        self.cancelled: set[int] = set()
        self.rejected: set[int] = set()

    @precondition(lambda self: not self.is_open)
    @rule()
    def advance(self) -> None:
        """Go on to the next pass; a machine with nothing left to happen must say so."""
        before = self.view.now_s
        try:
            self.is_open = self.sim.run_to_decision() is not None
        except StalledPolicy:
            assert self.view.queue
            assert not self.view.running
        if not self.is_open and not self.view.queue:
            assert self.sim.is_finished
        assert self.view.now_s >= before

    @precondition(lambda self: self.is_open)
    @rule()
    def close(self) -> None:
        """End the pass."""
        self.sim.close_pass()
        self.is_open = False

    @precondition(lambda self: self.is_open and self.view.queue)
    @rule(which=index)
    def start(self, which: int) -> None:
        """Start any waiting job; it works if and only if it fits."""
        job = self.view.queue[which % len(self.view.queue)]
        free, waiting = self.view.free, len(self.view.queue)
        if job.nodes <= free:
            self.sim.apply(Start(job))
            assert (self.view.free, len(self.view.queue)) == (free - job.nodes, waiting - 1)
            return
        with pytest.raises(InvalidDecision) as caught:
            self.sim.apply(Start(job))
        assert (caught.value.wanted, caught.value.free) == (job.nodes, free)
        assert (self.view.free, len(self.view.queue)) == (free, waiting)

    @precondition(lambda self: self.is_open and self.view.queue)
    @rule(which=index, nodes=st.lists(st.integers(-1, MACHINE), max_size=MACHINE))
    def start_on(self, which: int, nodes: list[int]) -> None:
        """Start on named nodes, which are often wrong; a refusal changes nothing."""
        job = self.view.queue[which % len(self.view.queue)]
        free = self.view.free
        try:
            self.sim.apply(Start(job, nodes))
        except InvalidDecision:
            assert self.view.free == free
        else:
            assert sorted(set(nodes)) == sorted(nodes)
            assert len(nodes) == job.nodes

    @precondition(lambda self: self.is_open and self.view.queue)
    @rule(which=index, delay_s=st.sampled_from([0, 3, math.inf]))
    def promise(self, which: int, delay_s: float) -> None:
        """Promise, or withdraw."""
        job = self.view.queue[which % len(self.view.queue)]
        self.sim.apply(Reserve(job, self.view.now_s + delay_s))
        assert (job.row in self.view.promised) == (delay_s < math.inf)

    @precondition(lambda self: self.is_open and self.view.queue)
    @rule(which=index)
    def reject(self, which: int) -> None:
        """Turn a job away."""
        job = self.view.queue[which % len(self.view.queue)]
        self.sim.apply(Reject(job, "by the test"))
        self.rejected.add(job.row)

    @precondition(lambda self: self.is_open)
    @rule(delay_s=st.integers(1, 9))
    def wake(self, delay_s: int) -> None:
        """Ask for a pass later."""
        self.sim.apply(WakeAt(self.view.now_s + delay_s))

    @rule(nodes=st.integers(1, MACHINE + 2), limit_s=st.integers(0, 9), run_s=st.integers(0, 12))
    def submit(self, nodes: int, limit_s: int, run_s: int) -> None:
        """Add a job, which may be too wide."""
        job = self.sim.submit(Job(0, "new", 0, nodes, limit_s), run_s)
        assert (job in self.view.queue) == (nodes <= MACHINE)
        if nodes > MACHINE:
            self.rejected.add(job.row)

    @rule(which=index)
    def cancel(self, which: int) -> None:
        """Cancel a waiting or running job."""
        open_jobs = [*self.view.queue, *[entry.job for entry in self.view.running]]
        if open_jobs:
            job = open_jobs[which % len(open_jobs)]
            self.sim.cancel(job)
            self.cancelled.add(job.row)
            assert job not in self.view.queue

    @invariant()
    def counts_agree(self) -> None:
        """Free and used nodes make the machine; what is promised waits."""
        if hasattr(self, "sim"):
            used = sum(entry.job.nodes for entry in self.view.running)
            assert self.view.free + used == MACHINE
            waiting = {job.row for job in self.view.queue}
            assert set(self.view.promised) <= waiting
            assert not waiting & {entry.job.row for entry in self.view.running}

    def teardown(self) -> None:
        """Start all that is left as it fits; then each job must be in one final state, the told ones as told."""
        if not hasattr(self, "sim"):
            return
        if not self.is_open:
            self.sim.submit(Job(0, "last", 0, 1, 1), 1)
            self.sim.run_to_decision()
        system: System | None = self.view
        while system is not None:
            for job in system.queue:
                if system.fits(job):
                    self.sim.apply(Start(job))
            system = self.sim.run_to_decision()
        columns = self.sim.finish()
        states = [STATES[code] for code in columns.state]
        assert set(states) <= ENDED
        assert {row for row, state in enumerate(states) if state is JobState.CANCELLED} == self.cancelled
        rejected = {row for row, state in enumerate(states) if state is JobState.REJECTED}
        assert rejected == self.rejected - self.cancelled
        self.sim._checker.finished(self.sim.now_s)


TestStepByStep = StepByStep.TestCase
TestStepByStep.settings = settings(stateful_step_count=40)
