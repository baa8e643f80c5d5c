"""What must hold on any machine: of unlike and shared nodes, with power, caps, and nodes that are switched off."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.decision import Start
from hpcsim.engine.columns import STATES, RunColumns
from hpcsim.errors import InvalidDecision, StalledPolicy, Unsupported
from hpcsim.job import Job, JobState
from hpcsim.policies import Conservative
from hpcsim.policy import Policy
from hpcsim.power import CapStep, NodePower
from hpcsim.power_cap import PowerCap
from hpcsim.system import System
from hpcsim.workload import Workload
from tests.nodes.promises import Promises
from tests.nodes.test_energy import energy
from tests.properties.workloads import built_in_policies
from tests.schedules import outcomes_of, run, simulation, starts

THIN = NodePower(idle_w=100, busy_w=250, off_w=5, boot_w=180, boot_s=2, shutdown_s=1)
GPU = NodePower(idle_w=200, busy_w=900, off_w=10, boot_w=300, boot_s=3, shutdown_s=2)


@st.composite
def machines(draw: Any, *, has_power: bool = True, may_switch_off: bool = True) -> Cluster:
    """Draw a machine of three groups under two overlapping partitions, some with power and a cap in steps."""
    timeout_s = draw(st.sampled_from([math.inf, 0, 4])) if may_switch_off else math.inf
    boot_w = draw(st.sampled_from([0.0, 180.0, 400.0]))
    powers = [replace(p, idle_timeout_s=timeout_s, boot_w=boot_w) if has_power else None for p in (THIN, THIN, GPU)]
    groups = (
        NodeGroup(name="thin", nodes=3, cores=4, memory_bytes=8, power=powers[0]),
        NodeGroup(name="fat", nodes=2, cores=4, memory_bytes=32, power=powers[1]),
        NodeGroup(name="gpu", nodes=2, cores=4, gpus=2, memory_bytes=8, power=powers[2]),
    )
    partitions = (
        Partition(name="cpu", groups=("thin", "fat")),
        Partition(name="all", groups=("fat", "gpu"), max_limit_s=9, max_nodes=3),
    )
    caps = st.sampled_from([math.inf, 1200, 1500, 1900])
    steps = draw(st.lists(st.tuples(st.integers(1, 60), caps), max_size=2, unique_by=lambda step: step[0]))
    cap_steps = tuple(CapStep(from_s=from_s, power_cap_w=cap_w) for from_s, cap_w in sorted(steps))
    return Cluster(
        groups=groups,
        partitions=draw(st.sampled_from([(), partitions])),
        power_cap_w=draw(caps) if has_power else math.inf,
        power_cap_steps=cap_steps if has_power else (),
    )


def tuples_of(values: list[Any]) -> np.ndarray[Any, Any]:
    """Return a column of objects."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


@st.composite
def mixed_workloads(draw: Any, *, shares: bool = True, max_jobs: int = 16) -> Workload:
    """Draw jobs with all kinds of requests, some of which can never run."""
    job = st.tuples(
        *(st.integers(0, 30), st.integers(0, 12), st.integers(1, 12), st.integers(1, 5)),
        *(st.sampled_from([0, 0, 1, 2]), st.sampled_from([0, 4, 16]), st.integers(1, 4)),
        st.sampled_from([(), (), ("cpu",), ("all",), ("cpu", "all")]),
        st.booleans() if shares else st.just(True),
        st.sampled_from([-1.0, 300.0, 700.0]),
    )
    rows = draw(st.lists(job, min_size=1, max_size=max_jobs))
    submit, run_s, limit, nodes, gpus, memory, cores, partitions, exclusive, power = zip(*rows, strict=True)
    return Workload.of(
        submit_s=submit,
        run_s=run_s,
        limit_s=limit,
        nodes=nodes,
        gpus_per_node=gpus,
        memory_bytes_per_node=memory,
        cores_per_node=cores,
        partitions=tuples_of(list(partitions)),
        exclusive=exclusive,
        power_w=power,
    )


def most_above_the_cap(columns: RunColumns, cluster: Cluster) -> float:
    """Return by how many watts the cap was ever exceeded, negative if it was not."""
    log, cap = columns.energy, PowerCap(cluster)
    assert log is not None
    totals = np.array(log.jobs_w) + np.array(log.idle_w) + np.array(log.boot_w) + np.array(log.off_w)
    instants = [*log.time_s, *cap.times_s]
    at = [max(np.searchsorted(np.array(log.time_s), time_s, side="right") - 1, 0) for time_s in instants]
    held = [
        totals[place] - cap.at_w(time_s)
        for time_s, place in zip(instants, at, strict=True)
        if log.time_s[0] <= time_s < log.end_s
    ]
    return max(held, default=-math.inf)


@given(mixed_workloads(), machines(), built_in_policies())
def test_the_cap_is_never_exceeded_and_no_job_or_joule_is_lost(
    workload: Workload, cluster: Cluster, policy: Policy
) -> None:
    """Jobs draw what they declare. The checker watches nodes; energy is conserved, which `finish` asserts.

    Policies that count nodes refuse such a machine, and say so.
    """
    try:
        columns = run(workload, cluster, policy)
    except Unsupported as refusal:
        assert "counts nodes" in str(refusal)  # noqa: PT017 - only some policies refuse
        return
    states = {outcome.state for outcome in outcomes_of(columns, workload).values()}
    assert states <= {JobState.COMPLETED, JobState.TIMEOUT, JobState.REJECTED}
    assert most_above_the_cap(columns, cluster) <= 1e-6
    energy(columns)


@settings(phases=[Phase.explicit, Phase.generate], max_examples=300)
@given(mixed_workloads(shares=False), machines(has_power=False), st.sampled_from(["early", "any"]))
def test_conservative_keeps_every_promise_where_nodes_differ(
    workload: Workload, cluster: Cluster, compress: Any
) -> None:
    """No job starts after any time it was promised: with a policy that rejects nobody, all start."""
    promises = Promises()
    found = starts(workload, cluster, Conservative(compress=compress), recorders=[promises])
    for _, row, promised_s in promises.made:
        assert found[row + 1] <= promised_s


@settings(phases=[Phase.explicit, Phase.generate], max_examples=300)
@given(mixed_workloads(), machines(has_power=False))
def test_a_head_of_easy_is_never_delayed_where_nodes_differ(workload: Workload, cluster: Cluster) -> None:
    """The promise to each reserved job only moves forward, and is kept."""
    promises = Promises()
    found = starts(workload, cluster, "easy", recorders=[promises])
    made: dict[int, list[float]] = {}
    for _, row, promised_s in promises.made:
        made.setdefault(row, []).append(promised_s)
    for row, times in made.items():
        finite = [time_s for time_s in times if time_s < math.inf]
        assert finite == sorted(finite, reverse=True)
        assert found[row + 1] <= finite[-1]


def test_overshoot_is_seen_where_jobs_draw_more_than_they_declare() -> None:
    """Declared 300 W, drawn 500 W beside an idle node of 100 W, for 10 s under 450 W: 150 W too much."""
    power = NodePower(idle_w=100, busy_w=900)
    cluster = Cluster(groups=(NodeGroup(nodes=2, power=power),), power_cap_w=450)
    workload = Workload.of(submit_s=[0], run_s=[10], nodes=[1], power_w=[300.0], mean_power_w=[500.0])
    assert most_above_the_cap(run(workload, cluster, "fcfs"), cluster) == 150


class AnyMachine(RuleBasedStateMachine):
    """A caller decides, submits and cancels on any machine; nodes and energy are conserved, no job is lost."""

    @initialize(cluster=machines(), workload=mixed_workloads(max_jobs=8))
    def begin(self, cluster: Cluster, workload: Workload) -> None:
        """Any machine and workload; jobs that share may come later."""
        self.sim = simulation(workload, cluster, None, books="shared")
        self.cluster = cluster
        self.view: System = self.sim.system
        self.is_open = False

    @precondition(lambda self: not self.is_open)
    @rule()
    def advance(self) -> None:
        """Go on to the next pass."""
        try:
            self.is_open = self.sim.run_to_decision() is not None
        except StalledPolicy:
            assert self.view.queue
            assert not self.view.running

    @precondition(lambda self: self.is_open)
    @rule()
    def close(self) -> None:
        """End the pass."""
        self.sim.close_pass()
        self.is_open = False

    @precondition(lambda self: self.is_open and self.view.queue)
    @rule(which=st.integers(0, 20))
    def start(self, which: int) -> None:
        """Start any waiting job; it works if and only if it fits."""
        job = self.view.queue[which % len(self.view.queue)]
        fits, waiting = self.view.fits(job), len(self.view.queue)
        if fits:
            self.sim.apply(Start(job))
        else:
            with pytest.raises(InvalidDecision):
                self.sim.apply(Start(job))
        assert len(self.view.queue) == waiting - fits

    @precondition(lambda self: self.is_open and self.view.queue)
    @rule(which=st.integers(0, 20), nodes=st.lists(st.integers(-1, 7), min_size=1, max_size=4))
    def start_on(self, which: int, nodes: list[int]) -> None:
        """Start on named nodes, which are often wrong."""
        job = self.view.queue[which % len(self.view.queue)]
        free = self.view.free
        try:
            self.sim.apply(Start(job, nodes))
        except InvalidDecision:
            assert self.view.free == free

    @rule(
        nodes=st.integers(1, 4),
        cores=st.integers(1, 4),
        gpus=st.integers(0, 2),
        exclusive=st.booleans(),
        run_s=st.integers(0, 9),
    )
    def submit(self, nodes: int, cores: int, gpus: int, exclusive: bool, run_s: int) -> None:
        """Add a job."""
        asked = {"cores_per_node": cores, "gpus_per_node": gpus, "exclusive": exclusive}
        self.sim.submit(Job(0, "new", 0, nodes, 9, **asked), run_s)

    @rule(which=st.integers(0, 20))
    def cancel(self, which: int) -> None:
        """Cancel a waiting or running job, also one whose nodes boot."""
        open_jobs = [*self.view.queue, *[entry.job for entry in self.view.running]]
        if open_jobs:
            self.sim.cancel(open_jobs[which % len(open_jobs)])

    @invariant()
    def declared_power_is_under_the_cap(self) -> None:
        """As long as every job draws what it declares."""
        if hasattr(self, "sim"):
            assert self.view.power_w <= PowerCap(self.cluster).at_w(self.view.now_s) + 1e-6

    def teardown(self) -> None:
        """Start all that is left as it fits; then each job is in one final state, and energy adds up."""
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
        assert {STATES[code] for code in columns.state} <= {
            *(JobState.COMPLETED, JobState.TIMEOUT, JobState.CANCELLED, JobState.REJECTED)
        }
        energy(columns)
        assert most_above_the_cap(columns, self.cluster) <= 1e-6


TestAnyMachine = AnyMachine.TestCase
TestAnyMachine.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)


@pytest.mark.nightly
class TestAnyMachineAtLength(AnyMachine.TestCase):
    """The same, 5,000 times."""

    settings = settings(max_examples=5000, stateful_step_count=30, deadline=None)
