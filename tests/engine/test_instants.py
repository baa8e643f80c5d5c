"""What happens at one instant, and how jobs end: right values for the cases that break simulators."""

from __future__ import annotations

import math

import pytest

from hpcsim.errors import WorkloadError
from hpcsim.job import JobState
from hpcsim.recorder import Recorder
from hpcsim.workload import Workload
from tests.schedules import gantt, jobs, outcomes, outcomes_of, run, simulation, starts

POLICIES = ["fcfs", "sjf", "ljf", "saf", "easy", "conservative"]
every_policy = pytest.mark.parametrize("policy", POLICIES)


class Passes(Recorder):
    """Counts passes by instant."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def on_pass(self, system):  # type: ignore[no-untyped-def]
        """Keep the instant."""
        self.times.append(system.now_s)


@every_policy
def test_two_ends_and_a_submit_at_one_instant_make_one_pass(policy: str) -> None:
    """a and b end at 10, where c (both nodes) arrives: one pass sees both nodes free and starts c."""
    passes = Passes()
    columns = run(jobs("a 0 10 10 1\n b 0 10 10 1\n c 10 5 5 2"), 2, policy, recorders=[passes])
    assert list(columns.attempt_start_s) == [0, 0, 10]
    assert passes.times.count(10) == 1


@every_policy
def test_limit_and_natural_end_at_one_instant(policy: str) -> None:
    """Run time 10 under a limit of 10 is a natural end; 11 is a kill; both end at 10."""
    a, b = outcomes(jobs("a 0 10 10 1\n b 0 11 10 1"), 2, policy).values()
    assert (a.end_s, a.state) == (10, JobState.COMPLETED)
    assert (b.end_s, b.state) == (10, JobState.TIMEOUT)


@every_policy
def test_everything_submitted_at_once(policy: str) -> None:
    """Fifty like jobs of two nodes on four: pairs start every 5 s, in the log's order."""
    table = "\n".join(f"j{number} 0 5 5 2" for number in range(50))
    assert starts(jobs(table), 4, policy) == {f"j{number}": 5 * (number // 2) for number in range(50)}


@every_policy
def test_back_to_back_on_one_node(policy: str) -> None:
    """b starts at the instant at which a ends, on the same node: never more than 100 % in use."""
    workload = jobs("a 0 10 10 1\n b 0 10 10 1")
    assert gantt(workload, 1, policy) == [("a", 0, "0"), ("b", 10, "0")]
    assert list(run(workload, 1, policy).ended_s) == [10, 20]


@every_policy
def test_a_job_that_never_fits_is_rejected_and_blocks_nobody(policy: str) -> None:
    """wide wants 5 of 4 nodes: REJECTED at its submission with both numbers, and b starts when it comes."""
    wide, b = outcomes(jobs("wide 1 10 10 5\n b 2 10 10 4"), 4, policy).values()
    assert (wide.state, wide.end_s, wide.node_ids) == (JobState.REJECTED, 1, "")
    assert math.isnan(wide.start_s)
    assert "wants 5 nodes" in wide.reason
    assert "4" in wide.reason
    assert b.start_s == 2


@every_policy
def test_a_workload_in_which_nothing_fits(policy: str) -> None:
    """All are rejected and the run ends, on a clock that stands at the last submission."""
    workload = jobs("a 1 10 10 5\n b 9 10 10 6")
    sim = simulation(workload, 4, policy)
    sim.run()
    assert {outcome.state for outcome in outcomes_of(sim.finish(), workload).values()} == {JobState.REJECTED}
    assert sim.now_s == 9


@every_policy
def test_the_whole_machine_fits_exactly(policy: str) -> None:
    """A job as wide as the machine runs, on all of it."""
    assert gantt(jobs("a 0 10 10 4\n b 0 10 10 4"), 4, policy) == [("a", 0, "0-3"), ("b", 10, "0-3")]


def test_a_run_that_is_cut_reports_what_is_open() -> None:
    """At 15, before anything happens there: a ended, b runs, c waits, d has not been submitted."""
    workload = jobs("a 0 10 10 2\n b 1 10 10 2\n c 2 10 10 2\n d 15 1 1 1")
    sim = simulation(workload, 2, "fcfs")
    sim.run(until=15)
    cut = outcomes_of(sim.finish(), workload)
    assert [outcome.state for outcome in cut.values()] == [
        JobState.COMPLETED,
        JobState.UNFINISHED,
        JobState.UNFINISHED,
        None,
    ]
    assert (cut["b"].start_s, cut["b"].node_ids) == (10, "0-1")
    assert math.isnan(cut["b"].end_s)
    assert math.isnan(cut["c"].start_s)


@every_policy
def test_cutting_and_resuming_changes_nothing(policy: str) -> None:
    """Cut at every second, the schedule is that of one run."""
    workload = jobs("a 0 7 10 3\n b 1 5 5 4\n c 2 3 3 1\n d 3 9 9 2\n e 4 0 4 1")
    sim = simulation(workload, 4, policy)
    for until in range(1, 40):
        sim.run(until=until)
        assert sim.now_s == until
    assert sim.is_finished
    assert outcomes_of(sim.finish(), workload) == outcomes(workload, 4, policy)


def test_until_stops_before_anything_happens_there() -> None:
    """a would be submitted at 5: a run until 5 has not seen it, a run until 5.5 has."""
    sim = simulation(jobs("z 0 1 1 1\n a 5 1 1 1"), 1, "fcfs")
    sim.run(until=5)
    assert sim.finish().attempt_of()[1] == -1
    sim.run(until=5.5)
    assert sim.finish().attempt_of()[1] == 1


@pytest.mark.parametrize(
    ("run_s", "end_s", "state"), [(12, 12, "COMPLETED"), (13, 13, "COMPLETED"), (14, 13, "TIMEOUT")]
)
def test_grace(run_s: float, end_s: float, state: str) -> None:
    """Limit 10 and 3 s of grace: a job may run 13 s and is then killed."""
    (a,) = outcomes(jobs(f"a 0 {run_s} 10 1"), 1, "easy", grace_s=3).values()
    assert (a.end_s, a.state) == (end_s, state)


@pytest.mark.parametrize("grace_s", [-1, math.nan, math.inf])
def test_a_grace_that_makes_no_sense(grace_s: float) -> None:
    """Negative, NaN and infinite grace are refused, with what to give."""
    with pytest.raises(WorkloadError, match=r"The grace period is .* s\. Give seconds, 0 or more\."):
        simulation(jobs("a 0 1 1 1"), 1, "easy", grace_s=grace_s)


def test_own_end_states() -> None:
    """A job ends in the state that the log says, unless its limit comes first."""
    workload = Workload.of(
        submit_s=[0] * 4, run_s=[5, 5, 5, 9], limit_s=[5, 6, 7, 8], nodes=[1] * 4, end_state=[0, 1, 2, 1]
    )
    assert [outcome.state for outcome in outcomes(workload, 4, "fcfs").values()] == [
        "COMPLETED",
        "FAILED",
        "CANCELLED",
        "TIMEOUT",
    ]


def test_times_before_zero_and_between_seconds() -> None:
    """Time is the log's own: it may be negative and fractional."""
    assert starts(jobs("a -5.5 3.25 4 1\n b -5 1 1 1"), 1, "easy") == {"a": -5.5, "b": -2.25}


def test_large_integral_times_stay_exact() -> None:
    """Unix seconds in nanoseconds would not; unix milliseconds do, to the last one."""
    t = 1_700_000_000_123
    workload = Workload.of(submit_s=[t, t], run_s=[86_400_001, 7], nodes=[1, 1])
    columns = run(workload, 1, "easy")
    assert list(columns.attempt_start_s) == [t, t + 86_400_001]
    assert list(columns.ended_s) == [t + 86_400_001, t + 86_400_008]


def test_an_empty_workload() -> None:
    """Nothing happens, and that is no error."""
    sim = simulation(Workload.of(submit_s=[], run_s=[], nodes=[]), 4, "easy")
    sim.run()
    assert sim.is_finished
