"""Users above a policy: they submit, cancel and let time pass, in any order that Hypothesis thinks of.

Derive from `SimulationMachine`, name a policy, and let pytest find its `TestCase`::

    class Users(SimulationMachine):
        policy = MyPolicy()

    TestUsers = Users.TestCase

Rules and invariants of your own are added as in any `RuleBasedStateMachine`; `simulation` and
`system` are the run. Override `any_cluster`, `any_workload`, `any_job` and `any_advisor` to draw other
machines and users.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from hpcsim.advisor import Advisor
from hpcsim.cluster import Cluster
from hpcsim.engine.columns import OPEN
from hpcsim.engine.simulation import Simulation
from hpcsim.job import Job
from hpcsim.node_ids import parse_intervals
from hpcsim.policy import Policy
from hpcsim.recorder import Recorder
from hpcsim.results.run import collect
from hpcsim.speedup import SpeedUp
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
        nodes: of the machine, unless `any_cluster` says otherwise.
        scaling: how moldable jobs scale of which the workload does not say it.
        simulation: the run.
    """

    policy: Policy | type[Policy] | PolicySpec | str = "fcfs"
    nodes: int = NODES
    scaling: SpeedUp | None = None

    simulation: Simulation

    def any_cluster(self) -> st.SearchStrategy[Cluster]:
        """Return which machines to draw."""
        return st.just(Cluster.of_nodes(self.nodes))

    def any_workload(self) -> st.SearchStrategy[Workload]:
        """Return which workloads to begin with, also empty ones."""
        return workloads(self.nodes, min_jobs=0, max_jobs=14)

    def any_job(self) -> st.SearchStrategy[Job]:
        """Return which jobs to submit on the way."""
        return jobs()

    def any_advisor(self) -> st.SearchStrategy[Advisor | None]:
        """Return which advisors to draw; None is none."""
        return st.none()

    @initialize(data=st.data(), seed=st.integers(0, 3))
    def begin(self, data: Any, seed: int) -> None:
        """Start with any workload, also none."""
        workload: Workload = data.draw(self.any_workload())
        self._clock = _Clock()
        self._has_advisor = (advisor := data.draw(self.any_advisor())) is not None
        self.simulation = Simulation(
            workload,
            data.draw(self.any_cluster()),
            Subject(self.policy).make(),
            seed=seed,
            check=True,
            recorders=[self._clock],
            advisor=advisor,
            scaling=self.scaling,
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

    @rule(data=st.data(), run_s=st.integers(0, 12))
    def submit(self, data: Any, run_s: int) -> None:
        """Submit a job; it waits, or is rejected, and is so if the machine can never run what would be queued."""
        queued = self.simulation.submit(data.draw(self.any_job()), run_s)
        is_open = self.simulation.columns.state[queued.row] == OPEN
        assert (queued in self.system.queue) == is_open
        if is_open or not (self._has_advisor or self.simulation.cluster.has_power):
            assert is_open == (not self.simulation.cluster.never_runs(queued))

    @rule(which=st.integers(0, 50))
    def advise_again(self, which: int) -> None:
        """Ask about a waiting job again, if there are an advisor and a job; it keeps its place, or is rejected."""
        waiting = [job.row for job in self.system.queue]
        if waiting and self._has_advisor:
            row = waiting[which % len(waiting)]
            job = self.simulation.advise_again(next(job for job in self.system.queue if job.row == row))
            left = [job.row for job in self.system.queue]
            assert left == (waiting if job in self.system.queue else [other for other in waiting if other != row])

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
        """Free nodes and those of running jobs make the machine; a shared node counts once."""
        if hasattr(self, "simulation"):
            intervals = [pair for entry in self.system.running for pair in parse_intervals(entry.node_ids)]
            held = {node for low, high in intervals for node in range(low, high + 1)}
            assert self.system.free + len(held) == self.simulation.cluster.nodes

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
            run = self.simulation
            verify(collect(run, seed=0), run.workload, run.cluster, scaling=self.scaling)


class _Clock(Recorder):
    """Watches that time only goes on."""

    def __init__(self) -> None:
        self._now_s = float("-inf")
        self.went_back = False

    def on_pass(self, system: System) -> None:
        self.went_back |= system.now_s < self._now_s
        self._now_s = system.now_s
