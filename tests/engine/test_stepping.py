"""Drive a run decision by decision; submit and cancel; processes of the user's own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import simpy

from hpcsim.decision import Reserve, Start, WakeAt
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import InvalidDecision, StalledPolicy, Unsupported, WorkloadError
from hpcsim.job import Job, JobState
from tests.schedules import jobs, outcomes_of, policy_of, simulation

TABLE = "a 0 10 10 2\n b 1 5 5 2\n c 2 5 5 1"


def stepped(table: str = TABLE, nodes: int = 2) -> Simulation:
    """Return a simulation in which the test decides."""
    return simulation(jobs(table), nodes, None)


def test_a_pass_opens_where_jobs_wait() -> None:
    """At 0 (a), 1 (b behind a), 2 (c too), 10 (a ended) and 15 (b ended); then all is over."""
    sim, seen = stepped(), []
    while (system := sim.run_to_decision()) is not None:
        seen.append((system.now_s, [job.job_id for job in system.queue]))
        if system.fits(system.queue[0]):
            sim.apply(Start(system.queue[0]))
    assert seen == [(0, ["a"]), (1, ["b"]), (2, ["b", "c"]), (10, ["b", "c"]), (15, ["c"])]
    assert sim.is_finished
    assert sim.now_s == 20


def test_decisions_show_at_once() -> None:
    """After `apply` the view has one job less waiting and its nodes less free."""
    sim = stepped("a 0 10 10 2\n b 0 10 10 1", 4)
    system = sim.run_to_decision()
    assert system is not None
    sim.apply(Start(system.queue[0]))
    assert (system.free, [job.job_id for job in system.queue]) == (2, ["b"])
    assert [(entry.job.job_id, entry.limit_end_s, entry.node_ids) for entry in system.running] == [("a", 10, "0-1")]
    assert system.earliest_start_s(system.queue[0]) == 0
    assert math.isnan(system.power_w)


def test_an_invalid_decision_leaves_the_pass_open() -> None:
    """The caller gets the error and may decide again."""
    sim = stepped("a 0 10 10 2\n b 0 10 10 1")
    system = sim.run_to_decision()
    assert system is not None
    sim.apply(Start(system.queue[0]))
    with pytest.raises(InvalidDecision, match="the caller tried to start job b, which needs 1 nodes while 0 are free"):
        sim.apply(Start(system.queue[0]))
    sim.apply(Reserve(system.queue[0], 10))
    assert dict(system.promised) == {1: 10}


def test_an_infinite_promise_withdraws_one() -> None:
    """And the start of a job ends its promise as well."""
    sim = stepped("a 0 10 10 1\n b 0 10 10 1")
    system = sim.run_to_decision()
    assert system is not None
    a, b = system.queue
    for job in (a, b):
        sim.apply(Reserve(job, 3))
    sim.apply(Reserve(a, math.inf))
    assert dict(system.promised) == {1: 3}
    sim.apply(Start(b))
    assert dict(system.promised) == {}


@pytest.mark.parametrize("call", [lambda sim: sim.apply(WakeAt(5)), lambda sim: sim.close_pass()])
def test_no_pass_is_open(call: Any) -> None:
    """Deciding before the first pass, or after closing one, says what to call."""
    sim = stepped()
    with pytest.raises(Unsupported, match=r"No pass is open\. Call run_to_decision\(\) first\."):
        call(sim)
    sim.run_to_decision()
    sim.close_pass()
    with pytest.raises(Unsupported, match="No pass is open"):
        call(sim)


def test_stepping_and_running_do_not_mix() -> None:
    """A simulation with a policy is run."""
    with pytest.raises(Unsupported, match=r"has a policy that decides\. Use run\(\)"):
        simulation(jobs(TABLE), 2, "fcfs").run_to_decision()


def test_waking_opens_a_pass() -> None:
    """Nothing happens at 4 but the wake."""
    sim = stepped("a 0 10 10 2")
    sim.run_to_decision()
    sim.apply(WakeAt(4))
    system = sim.run_to_decision()
    assert system is not None
    assert system.now_s == 4


def test_a_caller_who_leaves_jobs_waiting_for_ever() -> None:
    """The last event is past and a still waits."""
    sim = stepped("a 0 10 10 2")
    sim.run_to_decision()
    with pytest.raises(StalledPolicy, match="the caller leaves jobs a waiting"):
        sim.run_to_decision()


def test_submit_while_a_run_is_on() -> None:
    """A job submitted at 4 gets the next row, its submit time is now, and it runs when a has ended."""
    workload = jobs("a 0 10 10 2")
    sim = simulation(workload, 2, "easy")
    sim.run(until=4)
    queued = sim.submit(Job(77, "extra", 0, 2, 9), run_s=3)
    assert (queued.row, queued.submit_s) == (1, 4)
    sim.run()
    extra = outcomes_of(sim.finish(), workload)["extra"]
    assert (extra.start_s, extra.end_s, extra.state) == (10, 13, JobState.COMPLETED)


def test_submit_of_a_job_that_never_fits_and_of_one_that_fails() -> None:
    """Submitted jobs are admitted like the log's, and end as told."""
    workload = jobs("a 0 10 10 2")
    sim = simulation(workload, 2, "fcfs")
    sim.run(until=1)
    sim.submit(Job(0, "wide", 0, 3, 9), run_s=3)
    sim.submit(Job(0, "faulty", 0, 1, 9), run_s=3, end_state=JobState.FAILED)
    sim.run()
    result = outcomes_of(sim.finish(), workload)
    assert (result["wide"].state, result["faulty"].state) == ("REJECTED", "FAILED")


@pytest.mark.parametrize(
    ("nodes", "limit_s", "run_s"),
    [(0, 5, 5), (1, -1, 5), (1, math.nan, 5), (1, 5, -1), (1, 5, math.inf)],
)
def test_submit_of_nonsense(nodes: int, limit_s: float, run_s: float) -> None:
    """No node, no sensible limit or run time: refused with what to give, and nothing is queued."""
    sim = stepped()
    with pytest.raises(WorkloadError, match=r"Job z asks for .* Give at least 1 whole node"):
        sim.submit(Job(0, "z", 0, nodes, limit_s), run_s)
    assert len(sim.queue) == 0


@pytest.mark.parametrize("end_state", [JobState.TIMEOUT, JobState.REJECTED, "FINISHED"])
def test_submit_with_an_end_that_no_job_has_by_itself(end_state: Any) -> None:
    """A kill or a rejection is the engine's to decide."""
    with pytest.raises(WorkloadError, match="COMPLETED, FAILED or CANCELLED"):
        stepped().submit(Job(0, "z", 0, 1, 5), 5, end_state)


def test_cancel_a_waiting_and_a_running_job() -> None:
    """At 4 b (waiting) and a (running) are cancelled: a's nodes are free at once and c starts there."""
    workload = jobs(TABLE)
    sim = simulation(workload, 2, "fcfs")
    sim.run(until=4)
    a = next(iter(sim.system.running)).job
    sim.cancel(sim.queue[0], "no longer wanted")
    sim.cancel(a)
    sim.run()
    result = outcomes_of(sim.finish(), workload)
    assert (result["a"].state, result["a"].end_s, result["a"].reason) == ("CANCELLED", 4, "cancelled by its user")
    assert (result["b"].state, result["b"].end_s, result["b"].reason) == ("CANCELLED", 4, "no longer wanted")
    assert math.isnan(result["b"].start_s)
    assert (result["c"].start_s, result["c"].end_s, result["c"].state) == (4, 9, "COMPLETED")


def test_the_end_that_a_cancelled_job_would_have_had_passes_without_effect() -> None:
    """a would have ended at 10; it is cancelled at 4, and c runs on its nodes until 24."""
    workload = jobs("a 0 10 10 2\n c 2 20 20 2")
    sim = simulation(workload, 2, "easy")
    sim.run(until=4)
    sim.cancel(next(iter(sim.system.running)).job)
    sim.run()
    result = outcomes_of(sim.finish(), workload)
    assert (result["a"].end_s, result["c"].start_s, result["c"].end_s) == (4, 4, 24)


@pytest.mark.parametrize("policy", ["fcfs", "sjf", "easy", "conservative"])
def test_cancelling_the_head_lets_the_next_one_go(policy: str) -> None:
    """b (all nodes) blocks c (long, one node); b is cancelled at 3, and c starts at 3 beside a."""
    workload = jobs("a 0 10 10 1\n b 1 5 5 2\n c 2 50 50 1")
    sim = simulation(workload, 2, policy)
    sim.run(until=3)
    sim.cancel(next(job for job in sim.queue if job.job_id == "b"))
    sim.run()
    assert outcomes_of(sim.finish(), workload)["c"].start_s == 3


def test_cancel_twice() -> None:
    """What has ended cannot be cancelled."""
    sim = simulation(jobs(TABLE), 2, "fcfs")
    sim.run(until=4)
    b = sim.queue[0]
    sim.cancel(b)
    with pytest.raises(WorkloadError, match=r"Job b neither waits nor runs\. Cancel only what has not ended\."):
        sim.cancel(b)


@pytest.mark.parametrize("until", [0, -1])
def test_until_must_be_later(until: float) -> None:
    """The clock does not go back."""
    with pytest.raises(Unsupported, match=r"The clock is at 0 s, not before .* Give a later `until`"):
        simulation(jobs(TABLE), 2, "fcfs").run(until=until)


def test_a_process_of_the_user_cancels_and_submits() -> None:
    """A SimPy process on `env` acts at 3: it cancels b and submits d, which runs when a has ended."""
    workload = jobs("a 0 10 10 2\n b 1 5 5 2")
    sim = simulation(workload, 2, "easy")
    assert isinstance(sim.env, simpy.Environment)

    def user(env: simpy.Environment) -> Iterator[simpy.Event]:
        yield env.timeout(3)
        sim.cancel(sim.queue[0])
        sim.submit(Job(0, "d", 0, 1, 9), run_s=2)

    sim.env.process(user(sim.env))
    sim.run()
    result = outcomes_of(sim.finish(), workload)
    assert (result["b"].state, result["d"].start_s, result["d"].end_s) == ("CANCELLED", 10, 12)


def test_a_process_of_the_user_acts_before_the_pass_of_its_instant() -> None:
    """It submits d at 10, the instant at which a ends: d starts in that pass."""
    workload = jobs("a 0 10 10 2")
    sim = simulation(workload, 2, "easy")

    def user(env: simpy.Environment) -> Iterator[simpy.Event]:
        yield env.timeout(10)
        sim.submit(Job(0, "d", 0, 2, 9), run_s=2)

    sim.env.process(user(sim.env))
    sim.run()
    assert outcomes_of(sim.finish(), workload)["d"].start_s == 10


def ticker(env: simpy.Environment) -> Iterator[simpy.Event]:
    """Tick once a second, for ever."""
    while True:
        yield env.timeout(1)


def test_a_process_without_end_does_not_keep_a_run_going() -> None:
    """The run is over when the workload is."""
    sim = simulation(jobs(TABLE), 2, "fcfs")
    sim.env.process(ticker(sim.env))
    sim.run()
    assert sim.now_s == 20


def test_a_process_without_end_does_not_hide_a_stalled_policy() -> None:
    """Strangers' events alone will not start a job: after many of them the run is stopped."""
    sim = simulation(jobs("a 0 10 10 2"), 2, policy_of(lambda system: iter(())))
    sim.env.process(ticker(sim.env))
    with pytest.raises(StalledPolicy, match="leaves jobs a waiting"):
        sim.run()


def test_run_until_with_nothing_left_moves_the_clock() -> None:
    """As SimPy's own `run(until)`; a job submitted later still runs."""
    workload = jobs("a 0 1 1 1")
    sim = simulation(workload, 1, "fcfs")
    sim.run(until=100)
    assert (sim.now_s, sim.is_finished) == (100, True)
    sim.submit(Job(0, "late", 0, 1, 5), run_s=5)
    assert not sim.is_finished
    sim.run()
    assert outcomes_of(sim.finish(), workload)["late"].end_s == 105


def test_failures_are_refused_for_now() -> None:
    """Rather than ignored."""
    sim = stepped()
    for call in (sim.fail, sim.repair):
        with pytest.raises(Unsupported, match=r"cannot be simulated yet\. Leave them out\."):
            call([0])
