"""Plug-ins that raise, leave, or answer nonsense: nothing is lost, and the error says whose fault it is."""

from __future__ import annotations

from typing import Any

import pytest

from hpcsim.cluster import Cluster
from hpcsim.decision import Reserve, Start, WakeAt
from hpcsim.errors import HpcsimError, InvalidDecision, InvariantViolation, PolicyFailed
from hpcsim.estimator import Estimator
from hpcsim.placement import Placement
from hpcsim.policies import EASY, FCFS, SJF, Backfill, Conservative
from hpcsim.recorder import Recorder
from hpcsim.results.run import simulate
from tests.schedules import jobs, outcomes, policy_of, run, starts

TABLE = "a 0 10 10 2\n b 1 10 10 2"


def placing(answer: Any) -> Placement:
    """Return a placement that gives *answer*, or raises it."""

    class Odd(Placement):
        def place(self, job: Any, free: Any, cluster: Any) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    return Odd()


@pytest.mark.parametrize("answer", [ValueError("no idea"), None, [(0,)], ["0-1"], [(0, 0)]])
def test_a_placement_that_fails_leaves_a_partial_result_without_lost_jobs(answer: Any) -> None:
    """a was to start at 0 and still waits: it is UNFINISHED; b was never submitted."""
    with pytest.raises(PolicyFailed, match="Odd") as caught:
        simulate(jobs(TABLE), Cluster.of_nodes(4), FCFS(), placement=placing(answer))
    assert caught.value.partial.jobs["state"].tolist() == ["UNFINISHED"]


def test_leaving_the_program_is_an_error_like_any_other() -> None:
    """SystemExit in a policy would end the command with success and no result."""

    def leave(system: Any) -> Any:
        raise SystemExit(0)

    with pytest.raises(PolicyFailed, match="PolicyOfATest raised SystemExit at t = 0"):
        starts(jobs(TABLE), 4, policy_of(leave))


@pytest.mark.parametrize(
    "decide",
    [
        lambda job: WakeAt("soon"),  # type: ignore[arg-type]
        lambda job: Reserve(job, "soon"),  # type: ignore[arg-type]
        lambda job: Reserve(job, float("nan")),
        lambda job: Reserve(job, 5, node_ids=[99]),
        lambda job: Start(job, 5),  # type: ignore[arg-type]
    ],
)
def test_decisions_of_wrong_types_are_refused(decide: Any) -> None:
    """With the policy's name and a remedy, as other illegal decisions."""

    def schedule(system: Any) -> Any:
        yield decide(system.queue[0])

    with pytest.raises(InvalidDecision, match="PolicyOfATest"):
        starts(jobs(TABLE), 4, policy_of(schedule))


def test_an_error_in_the_users_file_is_placed_there_and_ours_is_not_called_theirs() -> None:
    """The last frame outside the package counts; without one there is no file to mend."""
    with pytest.raises(PolicyFailed, match=r"test_plug_ins_that_fail\.py, line \d+\)\. Mend it there"):
        starts(jobs(TABLE), 4, policy_of(lambda system: 1 / 0))
    with pytest.raises(PolicyFailed, match=r"not iterable.*Check what it was given"):
        starts(jobs(TABLE), 4, policy_of(lambda system: 5))


def test_a_job_changed_behind_the_engines_back_is_noticed_by_the_checker() -> None:
    """Frozen is not armoured: `object.__setattr__` gets through, and the second books remember."""

    def shrink(system: Any) -> Any:
        for job in system.queue:
            object.__setattr__(job, "nodes", 1)
            yield Start(job)

    with pytest.raises(InvariantViolation, match="was changed while it waited"):
        starts(jobs("a 0 9 9 2\n b 0 9 9 2"), 2, policy_of(shrink))


@pytest.mark.parametrize(
    "options",
    [
        {"depth": 1.5},
        {"depth": True},
        {"depth": -1},
        {"reservations": True},
        {"reservations": "some"},
        {"order": 3},
        {"backfill_order": "sjf"},
        {"estimates": 5},
        {"admit": "all"},
        {"boundary": "="},
    ],
)
def test_backfill_refuses_options_out_of_range(options: dict[str, Any]) -> None:
    """When it is made, not in the middle of a run."""
    with pytest.raises(HpcsimError, match=next(iter(options))):
        Backfill(**options)


class Passes(Recorder):
    """Counts passes and remembers promises."""

    def __init__(self) -> None:
        self.count = 0
        self.promised: list[dict[int, float]] = []

    def on_pass(self, system: Any) -> None:
        """One more."""
        self.count += 1
        self.promised.append(dict(system.promised))


def test_a_promise_is_withdrawn_when_another_job_becomes_the_first() -> None:
    """Two nodes, shortest first. r holds one node until 100; a (2 nodes, 50 s) is promised 100 at t = 1.

    At t = 2 b (2 nodes, 20 s) comes first and has the one reservation: a's promise no longer holds.
    """
    passes = Passes()
    run(jobs("r 0 100 100 1\n a 1 50 50 2\n b 2 20 20 2"), 2, EASY(order=SJF()), recorders=[passes])
    assert passes.promised[1] == {1: 100}
    assert passes.promised[2] == {2: 100}


def test_conservative_does_not_wake_each_second_behind_an_overdue_job() -> None:
    """a has a limit of 10 s and runs 5,000; b behind it waits for its end, not for each second."""
    passes = Passes()
    found = outcomes(jobs("a 0 5000 10 2\n b 1 10 10 2"), 2, Conservative(), kill_at_limit=False, recorders=[passes])
    assert found["b"].start_s == 5000
    assert passes.count < 10


class TooShort(Estimator):
    """Plans no time at all, and a second more whenever that was too little."""

    def limit_s(self, job: Any, system: Any) -> float:
        return 0


def test_outliving_an_estimate_costs_no_search_through_what_runs() -> None:
    """A job that has outlived its estimate is planned to end a second from now: b (1 s) fits before c's start."""
    table = "a 0 50 50 3\n c 1 10 10 4\n b 5 1 1 1"
    assert starts(jobs(table), 4, EASY(estimates=TooShort())) == {"a": 0, "c": 50, "b": 5}


def test_a_limit_of_zero_counts_as_ending_now_in_its_own_pass() -> None:
    """z (limit 0) starts at 0 on 1 of 2 nodes; w wants both and could start at 0 by the plan: its shadow is 0."""
    seen: list[float] = []

    def schedule(system: Any) -> Any:
        for job in list(system.queue):
            if system.fits(job):
                yield Start(job)
            else:
                seen.append(system.shadow(job.nodes).start_s)
                seen.append(system.profile(TooShort()).shadow(job.nodes).start_s)

    run(jobs("z 0 0 0 1\n w 0 5 5 2"), 2, policy_of(schedule), kill_at_limit=False)
    assert seen[:2] == [0, 0]


def test_the_queue_is_indexed_without_copying() -> None:
    """By place, from the end, by slices, with and without jobs that left from the middle."""
    seen: list[Any] = []

    def schedule(system: Any) -> Any:
        queue = system.queue
        seen.append([queue[at].job_id for at in range(len(queue))])
        seen.append([queue[-1].job_id, *(job.job_id for job in queue[1:3]), *(job.job_id for job in queue[::2])])
        for job in list(queue):
            if system.fits(job):
                yield Start(job)
        seen.append([queue[at].job_id for at in range(len(queue))])
        if queue:
            with pytest.raises(IndexError, match="none at 9"):
                queue[9]

    run(jobs("a 0 9 9 2\n b 0 9 9 3\n c 0 9 9 1\n d 0 9 9 3"), 3, policy_of(schedule))
    assert seen[:3] == [["a", "b", "c", "d"], ["d", "b", "c", "a", "c"], ["b", "d"]]
