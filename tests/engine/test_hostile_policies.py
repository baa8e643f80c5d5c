"""Policies that do wrong are stopped with one sentence that says what and what to do, and nothing changes."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hpcsim.decision import Reject, Reserve, Start, WakeAt
from hpcsim.engine.passes import PATIENCE
from hpcsim.errors import Clairvoyance, HpcsimError, InvalidDecision, PolicyFailed, StalledPolicy
from hpcsim.job import Job
from hpcsim.policies import EASY, FCFS
from hpcsim.policy import Policy
from tests.schedules import jobs, outcomes, policy_of, simulation, starts

TABLE = "a 0 10 10 3\n b 1 5 5 3\n c 2 5 5 1"
STRANGER = Job(99, "stranger", 0, 1, 5)


def stopped(schedule: Callable[[Any], Any], kind: type[HpcsimError], *words: str, **members: Any) -> HpcsimError:
    """Run *schedule* on four nodes; demand an error of *kind* with a cause, a remedy and all *words*."""
    with pytest.raises(kind) as caught:
        starts(jobs(TABLE), 4, policy_of(schedule, **members))
    error = caught.value
    assert error.cause, f"no cause: {error!r}"
    assert error.remedy, f"no remedy: {error!r}"
    for word in (*words, "PolicyOfATest"):
        assert word in str(error)
    return error


def refused(decide: Callable[[Any], Any], rule: str, *words: str) -> InvalidDecision:
    """As `stopped`, for a policy that yields *decide(system)* once; check the rule."""
    error = stopped(lambda system: iter([decide(system)]), InvalidDecision, *words)
    assert isinstance(error, InvalidDecision)
    assert error.rule == rule
    return error


def test_starting_nothing() -> None:
    """An idle machine, waiting jobs and nothing to come: the waiting jobs are named."""
    stopped(lambda system: iter(()), StalledPolicy, "t = 2 s", "a, b, c waiting", "yield WakeAt")


def test_returning_none() -> None:
    """A plain function that decides nothing is a policy that starts nothing."""
    stopped(lambda system: None, StalledPolicy, "a, b, c waiting")


def test_a_long_queue_is_not_named_in_full() -> None:
    """Five names and a count are enough."""
    table = "\n".join(f"j{number} 0 1 1 1" for number in range(40))
    with pytest.raises(StalledPolicy, match="j0, j1, j2, j3, j4 and 35 more waiting"):
        starts(jobs(table), 4, policy_of(lambda system: iter(())))


def test_starting_a_job_twice() -> None:
    """The second Start of the same job names it and says that it runs."""
    error = stopped(lambda s: (Start(job) for job in [s.queue[0]] * 2), InvalidDecision, "job a", "already running")
    assert (error.rule, error.job_id, error.time_s) == ("not-waiting", "a", 0)  # type: ignore[attr-defined]


def test_starting_a_finished_job() -> None:
    """a is kept from the first pass and started again at 10, when it has ended."""
    kept: list[Job] = []

    def schedule(system: Any) -> Iterator[Start]:
        kept.append(system.queue[0])
        if system.now_s in (0, 10):
            yield Start(kept[0])

    stopped(schedule, InvalidDecision, "t = 10 s", "job a", "is not waiting", "system.queue")


def test_starting_an_unknown_job() -> None:
    """A job of the policy's own making."""
    refused(lambda system: Start(STRANGER), "not-waiting", "job stranger", "is not waiting")


@pytest.mark.parametrize("what", ["a", 0, None])
def test_starting_what_is_no_job(what: Any) -> None:
    """An id, a row or nothing."""
    refused(lambda system: Start(what), "not-waiting", repr(what))


def test_starting_a_tampered_copy() -> None:
    """A copy with fewer nodes would fit; it is not what the user asked for."""
    refused(lambda system: Start(dataclasses.replace(system.queue[0], nodes=1)), "tampered", "changed copy of job a")


def test_an_equal_copy_is_the_same_job() -> None:
    """A copy that differs in nothing (from another process, say) starts the queue's own job."""

    def schedule(system: Any) -> Iterator[Start]:
        for job in system.queue:
            if system.fits(job):
                yield Start(dataclasses.replace(job))

    assert starts(jobs(TABLE), 4, policy_of(schedule)) == {"a": 0, "b": 10, "c": 2}


def test_over_allocation() -> None:
    """a (3 of 4 nodes) and then b (3): the sentence has both counts, and so has the error."""
    error = stopped(lambda s: map(Start, list(s.queue)), InvalidDecision, "job b, which needs 3 nodes while 1 are free")
    assert isinstance(error, InvalidDecision)
    assert (error.rule, error.wanted, error.free, error.time_s) == ("capacity", 3, 1, 1)
    assert "system.fits(job)" in error.remedy


@pytest.mark.parametrize("what", [42, "start", 1.5, Start, ("a", 1)], ids=repr)
def test_yielding_what_is_no_decision(what: Any) -> None:
    """Anything but the four kinds of decision."""
    refused(lambda system: what, "kind", "is no decision", "Yield Start, Reserve, Reject or WakeAt")


def test_yielding_none() -> None:
    """A bare ``yield`` is a slip and must not end the pass in silence."""
    refused(lambda system: None, "kind", "is no decision")


@pytest.mark.parametrize("start_s", [-1, math.nan, -math.inf])
def test_promising_the_past(start_s: float) -> None:
    """A promise must be for now or later."""
    refused(lambda system: Reserve(system.queue[0], start_s), "time", "job a", "Reserve for now or later")


def test_promising_to_a_stranger() -> None:
    """Only waiting jobs can be promised anything."""
    refused(lambda system: Reserve(STRANGER, 5), "not-waiting", "reserve job stranger")


def test_rejecting_a_stranger() -> None:
    """Only waiting jobs can be turned away."""
    refused(lambda system: Reject(STRANGER, "no"), "not-waiting", "reject job stranger")


@pytest.mark.parametrize("time_s", [0, -1, math.nan, math.inf])
def test_waking_at_no_later_time(time_s: float) -> None:
    """Now, before now, never and NaN."""
    refused(lambda system: WakeAt(time_s), "time", "Wake later than now")


def test_an_invalid_decision_changes_nothing_and_can_be_caught() -> None:
    """A policy that tries and catches goes on with a true view of the machine."""
    seen: list[tuple[int, str]] = []

    def schedule(system: Any) -> Iterator[Start]:
        for job in system.queue:
            try:
                yield Start(job)
            except InvalidDecision as error:
                seen.append((system.free, error.rule))

    assert starts(jobs(TABLE), 4, policy_of(schedule)) == {"a": 0, "b": 10, "c": 2}
    assert (1, "capacity") in seen


def test_deciding_for_ever() -> None:
    """Decisions without end in one pass are stopped."""
    stopped(lambda s: (Reserve(s.queue[0], 5) for _ in itertools.count()), StalledPolicy, str(PATIENCE), "one pass")


def test_deciding_for_ever_what_is_refused() -> None:
    """Catching every refusal is no way out."""

    def schedule(system: Any) -> Iterator[Start]:
        while True:
            with contextlib.suppress(InvalidDecision):
                yield Start(STRANGER)

    stopped(schedule, StalledPolicy, str(PATIENCE))


def test_waking_for_ever() -> None:
    """Ten thousand wakes in a row in which nothing happens are enough."""

    def schedule(system: Any) -> Iterator[WakeAt]:
        yield WakeAt(system.now_s + 1)

    stopped(schedule, StalledPolicy, f"woken {PATIENCE} times in a row")


def test_raising() -> None:
    """The policy's own error is the cause of ours, which says when and what."""

    def schedule(system: Any) -> Iterator[Start]:
        yield Start(system.queue[0])
        raise KeyError("lost my head")

    error = stopped(schedule, PolicyFailed, "KeyError", "t = 0 s", "lost my head")
    assert isinstance(error.__cause__, KeyError)


def test_raising_before_the_first_decision() -> None:
    """Also where `schedule` is no generator."""
    stopped(lambda system: 1 / 0, PolicyFailed, "ZeroDivisionError")


def test_returning_what_cannot_be_iterated() -> None:
    """A lone decision instead of a sequence of them."""
    stopped(lambda system: Start(system.queue[0]), PolicyFailed, "not iterable")


@pytest.mark.parametrize("hook", ["on_submit", "on_leave", "on_start", "on_end"])
def test_raising_in_a_hook(hook: str) -> None:
    """Hooks are the policy's code as well."""

    def fail(self: Any, *what: Any) -> None:
        raise KeyError("in a hook")

    stopped(FCFS().schedule, PolicyFailed, "KeyError", **{hook: fail})


def test_reading_the_true_run_time() -> None:
    """Refused by type, with what to use instead."""
    error = stopped(lambda s: iter([s.true_run_time_s(s.queue[0])]), Clairvoyance, "job a", "clairvoyant = True")
    assert isinstance(error, PermissionError)


def test_reading_the_true_run_time_when_declared() -> None:
    """Shortest true run time first: b (run 1, limit 9) before a (run 5, limit 5)."""

    def schedule(system: Any) -> Iterator[Start]:
        for job in sorted(system.queue, key=system.true_run_time_s):
            if system.fits(job):
                yield Start(job)

    table = "a 0 5 5 1\n b 0 1 9 1"
    assert starts(jobs(table), 1, policy_of(schedule, clairvoyant=True)) == {"a": 1, "b": 0}


def test_a_job_holds_nothing_of_its_future() -> None:
    """No attribute of what a policy is given holds the run time, 77, or the end state."""
    seen: list[str] = []

    def schedule(system: Any) -> Iterator[Start]:
        for job in system.queue:
            seen.append(repr(job) + repr(list(system.running)) + repr(system.queue))
            yield Start(job)

    starts(jobs("a 0 77 200 1"), 1, policy_of(schedule))
    assert "77" not in "".join(seen)
    assert "200" in "".join(seen)


MUTATIONS: dict[str, Callable[[Any], Any]] = {
    "a job": lambda s: setattr(s.queue[0], "nodes", 1),
    "the queue by append": lambda s: s.queue.append(s.queue[0]),
    "the queue by del": lambda s: s.queue.__delitem__(0),
    "a promise": lambda s: s.promised.__setitem__(0, 1.0),
    "the free count": lambda s: setattr(s, "free", 99),
    "the clock": lambda s: setattr(s, "now_s", 99),
    "running": lambda s: s.running.clear(),
    "the cluster": lambda s: setattr(s.cluster, "name", "mine"),
    "an attribute of its own": lambda s: setattr(s, "notes", 1),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_changing_what_it_was_given(mutation: str) -> None:
    """The view and all that it hands out are read-only: trying is an error of the policy."""
    stopped(lambda system: iter([MUTATIONS[mutation](system)]), PolicyFailed)


def test_changing_copies_is_allowed_and_harmless() -> None:
    """Profiles and slices of the queue are the policy's own."""

    def schedule(system: Any) -> Iterator[Start]:
        system.profile().take(0, math.inf, 4)
        waiting = system.queue[:]
        waiting.clear()
        for job in system.queue:
            if not system.fits(job):
                return
            yield Start(job)

    assert starts(jobs(TABLE), 4, policy_of(schedule)) == starts(jobs(TABLE), 4, "fcfs")


def test_state_kept_between_runs_is_reset() -> None:
    """One object in two runs, the second a shorter workload: both as with a fresh one."""
    policy = EASY()
    assert starts(jobs(TABLE), 4, policy) == starts(jobs(TABLE), 4, EASY())
    other = jobs("x 5 7 9 4\n y 6 2 2 2")
    assert starts(other, 4, policy) == starts(other, 4, EASY())


def test_reject_by_the_policy() -> None:
    """A policy turns b away with its own words; the others run."""

    def schedule(system: Any) -> Iterator[Any]:
        for job in system.queue:
            yield Reject(job, "not today") if job.job_id == "b" else Start(job)

    result = outcomes(jobs(TABLE), 4, policy_of(schedule))
    assert (result["b"].state, result["b"].reason, result["b"].end_s) == ("REJECTED", "not today", 1)
    assert (result["a"].start_s, result["c"].start_s) == (0, 2)


def test_a_wake_opens_a_pass_when_nothing_else_happens() -> None:
    """Start everything at 7, of which only the wake tells."""

    def schedule(system: Any) -> Iterator[Any]:
        if system.now_s < 7:
            yield WakeAt(7)
            return
        yield from FCFS().schedule(system)

    assert starts(jobs("a 0 1 1 1\n b 3 1 1 1"), 2, policy_of(schedule)) == {"a": 7, "b": 7}


def test_a_policy_without_schedule_cannot_be_made() -> None:
    """The contract's one duty."""

    class Idle(Policy):
        """Does nothing."""

    with pytest.raises(TypeError, match="schedule"):
        Idle()  # type: ignore[abstract]


def test_iterating_the_queue_survives_starts() -> None:
    """All of a queue start while it is iterated, none is skipped."""
    table = "\n".join(f"j{number} 0 1 1 1" for number in range(300))
    assert set(starts(jobs(table), 300, policy_of(lambda s: (Start(job) for job in s.queue))).values()) == {0}


def test_simulation_is_named_where_nobody_decides() -> None:
    """`run` without a policy says what to do."""
    with pytest.raises(HpcsimError, match=r"no policy to run\. Give one, or use run_to_decision"):
        simulation(jobs(TABLE), 4, None).run()
