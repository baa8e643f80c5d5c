"""Users above a policy: they submit, cancel and let time pass, in any order that Hypothesis thinks of.

Derive from `SimulationMachine`, name a policy, and let pytest find its `TestCase`::

    class Users(SimulationMachine):
        policy = MyPolicy()

    TestUsers = Users.TestCase

Rules and invariants of your own are added as in any `RuleBasedStateMachine`; `simulation` and
`system` are the run.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from hpcsim.cluster import Cluster
from hpcsim.engine.simulation import Simulation
from hpcsim.job import Job
from hpcsim.policy import Policy
from hpcsim.recorder import Recorder
from hpcsim.results.run import collect
from hpcsim.system import System
from hpcsim.testing.specification import PolicySpec
from hpcsim.testing.strategies import NODES, jobs, workloads
from hpcsim.testing.subject import Subject
from hpcsim.testing.verification import verify
from hpcsim.workload import Workload


class SimulationMachine(RuleBasedStateMachine):
    """A simulation of `nodes` nodes under `policy`, with the checker on.

    Attributes:
        policy: in any form that `check_policy` takes; each run gets a new copy.
        nodes: of the machine.
        simulation: the run.
    """

    policy: Policy | type[Policy] | PolicySpec | str = "fcfs"
    nodes: int = NODES

    simulation: Simulation

    @initialize(data=st.data(), seed=st.integers(0, 3))
    def begin(self, data: Any, seed: int) -> None:
        """Start with any workload, also none."""
        workload: Workload = data.draw(workloads(self.nodes, min_jobs=0, max_jobs=14))
        self._clock = _Clock()
        self.simulation = Simulation(
            workload,
            Cluster.of_nodes(self.nodes),
            Subject(self.policy).make(),
            seed=seed,
            check=True,
            recorders=[self._clock],
        )

    @property
    def system(self) -> System:
        """The read-only view that the policy gets."""
        return self.simulation.system

    @rule(by_s=st.integers(1, 9))
    def advance(self, by_s: int) -> None:
        """Let the clock run."""
        until_s = self.simulation.now_s + by_s
        self.simulation.run(until=until_s)
        assert self.simulation.now_s == until_s

    @rule(job=jobs(), run_s=st.integers(0, 12))
    def submit(self, job: Job, run_s: int) -> None:
        """Submit a job, which is rejected if it is wider than the machine."""
        queued = self.simulation.submit(job, run_s)
        assert (queued in self.system.queue) == (job.nodes <= self.nodes)

    @rule(which=st.integers(0, 50))
    def cancel(self, which: int) -> None:
        """Cancel a waiting or running job, if there is one."""
        present = [*self.system.queue, *(entry.job for entry in self.system.running)]
        if present:
            job = present[which % len(present)]
            self.simulation.cancel(job)
            assert job not in self.system.queue

    @invariant()
    def nodes_add_up(self) -> None:
        """Free nodes and those of running jobs make the machine."""
        if hasattr(self, "simulation"):
            assert self.system.free + sum(entry.job.nodes for entry in self.system.running) == self.nodes

    @invariant()
    def nobody_is_in_two_places(self) -> None:
        """A job waits or runs; what is promised waits; the clock has not gone back."""
        if hasattr(self, "simulation"):
            waiting = {job.row for job in self.system.queue}
            assert not waiting & {entry.job.row for entry in self.system.running}
            assert set(self.system.promised) <= waiting
            assert not self._clock.went_back

    def teardown(self) -> None:
        """Run to the end: every job has one final state, and the result is verified."""
        if hasattr(self, "simulation"):
            self.simulation.run()
            assert self.simulation.is_finished
            verify(collect(self.simulation, seed=0), self.simulation.workload, self.simulation.cluster)


class _Clock(Recorder):
    """Watches that time only goes on."""

    def __init__(self) -> None:
        self._now_s = float("-inf")
        self.went_back = False

    def on_pass(self, system: System) -> None:
        self.went_back |= system.now_s < self._now_s
        self._now_s = system.now_s
