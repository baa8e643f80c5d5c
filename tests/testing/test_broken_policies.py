"""Each rule of the kit is broken by a policy of its own, which fails that check and no other."""

from __future__ import annotations

from typing import Any

import pytest

from hpcsim.testing import CHECKS, Status, check_policy
from tests.testing import broken_policies as broken

OWN_CHECKS: list[tuple[Any, str, str]] = [
    (broken.MisspelledClaim, "known-claims", "'fcfs-ordre'"),
    (broken.OneStringForATuple, "known-claims", "Give a tuple"),
    (broken.StartsTwice, "legal-decisions", "already running"),
    (broken.IgnoresFree, "never-over-allocates", "needs 1 nodes while 0 are free"),
    (broken.NamesTakenNodes, "never-over-allocates", "not all of them free"),
    (broken.NeverStarts, "drains", "leaves jobs 1 waiting"),
    (broken.LeavesLongJobs, "drains", "limit 10 s"),
    (broken.RaisesOnDeepQueues, "drains", "too many"),
    (broken.ReadsTheHeadUnasked, "empty-queue", "Queue:    empty"),
    (broken.ReadsTheHeadFirst, "empty-queue", "Asked with nobody waiting, it raised IndexError"),
    (broken.PairsOnly, "one-job", "leaves jobs 1 waiting"),
    (broken.KeepsANodeFree, "widest-job", "leaves jobs 1 waiting"),
    (broken.DemandsDistinctSubmits, "equal-submits", "two jobs at one instant"),
    (broken.RenamesJobs, "mutates-nothing", "Job 1 was changed"),
    (broken.EmptiesTheQueue, "mutates-nothing", "the engine counts 0 free nodes and"),
    (broken.KeepsTheView, "keeps-no-view", "the view, by KeepsTheView._view"),
    (broken.KeepsTheQueue, "keeps-no-view", "the view's queue, by KeepsTheQueue._deep"),
    (broken.FlipsACoin, "same-seed", "Two runs with seed 0 differ"),
    (broken.RemembersRuns, "reset-forgets", "After a run of another workload"),
    (broken.with_a_hidden_parameter(), "rebuilt-elsewhere", "in another process, it decides otherwise"),
    (broken.defined_inside(), "rebuilt-elsewhere", "defined inside a function"),
    (broken.AsksForRunTimes, "sees-no-future", "asked for the true run time of job 1"),
    (broken.PeeksAtRunTimes, "sees-no-future", "changes a decision made by then"),
    (broken.PeeksAtArrivals, "sees-no-future", "changes a decision made by then"),
    (broken.OvertakesInSecret, "fcfs-order", "which came first, waits"),
    (broken.DelaysTheHead, "no-head-delay", "was promised a start by"),
    (broken.PromisesNothing, "no-head-delay", "none of them has been promised"),
    (broken.PromisesTheMoon, "no-head-delay", "have long ended"),
    (broken.PromisesEverybodyTheMoon, "no-delay-of-any", "have long ended"),
    (broken.ForgetsLaterPromises, "no-delay-of-any", "was promised a start by"),
    (broken.RestsEvenSeconds, "time-shift", "s later, are scheduled otherwise"),
    (broken.CallsFiveSecondsShort, "time-scale", "times as long"),
]


def identify(value: Any) -> str:
    return value if isinstance(value, str) else getattr(value, "__name__", type(value).__name__)


@pytest.mark.parametrize(("policy", "check", "words"), OWN_CHECKS, ids=identify)
def test_broken_policy_fails_its_own_check_alone(policy: Any, check: str, words: str) -> None:
    verdict = check_policy(policy, on_fail="return")
    assert [outcome.check for outcome in verdict.failures] == [check]
    assert words in verdict.failures[0].reason
    assert all("drains" not in outcome.reason or check == "drains" for outcome in verdict.outcomes)


def test_every_rule_is_broken_by_somebody() -> None:
    assert {check for _, check, _ in OWN_CHECKS} == {check.name for check in CHECKS}


def test_sound_policy_passes_everything_it_claims() -> None:
    verdict = check_policy(broken.Sound)
    statuses = {outcome.check: outcome.status for outcome in verdict.outcomes}
    assert statuses.pop("no-head-delay") is statuses.pop("no-delay-of-any") is Status.NOT_DECLARED
    assert set(statuses.values()) == {Status.PASSED}


def test_clairvoyant_policy_is_not_held_to_ignorance() -> None:
    seer = type("Seer", (broken.AsksForRunTimes,), {"clairvoyant": True, "__module__": __name__})
    (outcome,) = check_policy(seer, checks=["sees-no-future"]).outcomes
    assert (outcome.status, outcome.reason) == (Status.NOT_DECLARED, "it declares itself clairvoyant")
