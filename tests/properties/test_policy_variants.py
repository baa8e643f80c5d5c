"""What each policy declares of itself holds, and variants that must coincide do."""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hpcsim.job import Job
from hpcsim.policies import (
    EASY,
    F1,
    FCFS,
    SJF,
    WFP3,
    Actual,
    Backfill,
    Conservative,
    EasyPlusPlus,
    EasySJBF,
    Lookahead,
    Requested,
    Selective,
    SlackBased,
)
from hpcsim.policies.lookahead import Offer, best_fill
from hpcsim.registry import find, make
from hpcsim.workload import Workload
from tests.policies.rlscheduler import literal_starts
from tests.properties.test_backfilling import Promises, Shadows
from tests.properties.workloads import MACHINE, NAMES, workload_of, workloads
from tests.schedules import run, starts

IN_ARRIVAL_ORDER: list[Any] = [
    EASY,
    EasySJBF,
    Lookahead,
    lambda: EASY(depth=2),
    lambda: EASY(admit="shadow"),
    lambda: EASY(boundary="<"),
    lambda: Backfill(reservations=2),
]
FEW = settings(max_examples=settings.default.max_examples // 5)
"""For what is tried on each of the many policies."""


def with_exact_limits(workload: Workload) -> Workload:
    """Return *workload* with every limit set to the run time, which is 1 s at least."""
    run_s = workload.columns["run_s"].clip(1)
    return Workload(workload.columns | {"run_s": run_s, "limit_s": run_s.astype(float)})


@pytest.mark.parametrize("make_policy", IN_ARRIVAL_ORDER, ids=lambda make_policy: repr(make_policy()))
@given(workload=workloads())
def test_head_keeps_its_shadow_and_its_first_promise(make_policy: Any, workload: Workload) -> None:
    """Its shadow time never moves later while it is the head, and it starts by the first one it was promised."""
    shadows, promises = Shadows(), Promises()
    run(workload, MACHINE, make_policy(), recorders=[shadows, promises])
    for (head, shadow_s), (next_head, next_shadow_s) in pairwise(shadows.seen):
        assert next_head != head or next_shadow_s <= shadow_s
    if "no-head-delay" in make_policy().guarantees:
        assert all(promises.started[row] <= made[0] for row, made in promises.made.items())


def test_cqsim_tests_candidates_by_their_true_run_time() -> None:
    """Row 1 is promised 10, by the limit of row 0. Row 2 runs 8 s of its 20: at 2 CQSim starts it, EASY does not.

    By limits the head's shadow time moves from 10 to 22 then.
    """
    workload = workload_of([(0, 10, 10, 4), (1, 5, 5, 8), (2, 8, 20, 4)])
    assert starts(workload, MACHINE, Backfill(protocol="cqsim")) == {1: 0, 2: 10, 3: 2}
    assert starts(workload, MACHINE, EASY()) == {1: 0, 2: 10, 3: 15}


@given(workloads(), st.sampled_from([FCFS, SJF, F1]), st.sampled_from(["shadow", "shadow+extra"]))
def test_a_committed_head_starts_by_its_one_promise_in_any_order(workload: Workload, order: Any, admit: Any) -> None:
    promises = Promises()
    run(workload, MACHINE, Backfill(order=order(), protocol="rlscheduler", admit=admit), recorders=[promises])
    for row, made in promises.made.items():
        assert len(made) == 1
        assert promises.started[row] <= made[0]


@given(workloads(max_jobs=40), st.sampled_from([FCFS, SJF, WFP3]), st.sampled_from(["none", "shadow", "shadow+extra"]))
def test_the_protocol_of_rlscheduler_equals_its_definition(workload: Workload, order: Any, mode: str) -> None:
    """The policy and a loop over single events, which shares nothing with it, agree on every start."""
    options: Any = {"depth": 0} if mode == "none" else {"admit": mode}
    policy = Backfill(order=order(), protocol="rlscheduler", **options)
    ours = starts(workload, MACHINE, policy, kill_at_limit=False)
    assert list(ours.values()) == literal_starts(workload, MACHINE, order.__name__, mode)


@given(workloads(), st.sampled_from([0.0, 0.5, 3.0]), st.sampled_from([None, 1]))
def test_slack_keeps_every_deadline(workload: Workload, slack_factor: float, depth: int | None) -> None:
    promises = Promises()
    run(workload, MACHINE, SlackBased(slack_factor=slack_factor, depth=depth), recorders=[promises])
    assert set(promises.made) == set(range(len(workload)))
    for row, made in promises.made.items():
        assert len(made) == 1
        assert promises.started[row] <= made[0]


@given(workloads(has_unlimited=True))
def test_no_slack_is_conservative(workload: Workload) -> None:
    assert starts(workload, MACHINE, SlackBased(slack_factor=0)) == starts(workload, MACHINE, Conservative())


@given(workloads(has_unlimited=True))
def test_selective_lies_between_all_reservations_and_none(workload: Workload) -> None:
    """Below any expansion factor everybody has a reservation, above all of them nobody has."""
    every = starts(workload, MACHINE, Backfill(reservations=len(workload)))
    nobody = starts(workload, MACHINE, Backfill(reservations=0))
    finite = with_exact_limits(workload)
    assert starts(workload, MACHINE, Selective(threshold=math.inf)) == nobody
    assert every == starts(workload, MACHINE, Selective(threshold=1))
    assert len(starts(finite, MACHINE, Selective(threshold=2))) == len(workload)


@given(workloads())
def test_easy_plus_plus_by_requests_is_easy_sjbf(workload: Workload) -> None:
    plus = EasyPlusPlus(estimates=Requested())
    assert starts(workload, MACHINE, plus) == starts(workload, MACHINE, EasySJBF())


@given(workloads(max_jobs=40, has_unlimited=True), st.sampled_from(["sjf", "saf", "most-nodes", "lcfs"]))
def test_sorted_candidates_start_as_candidates_that_are_sorted_at_each_pass(workload: Workload, name: str) -> None:
    """A depth, even one without effect, makes the policy sort anew each time."""
    sorted_once, sorted_anew = (EASY(backfill_order=make("orders", name), depth=depth) for depth in (None, 10**6))
    assert starts(workload, MACHINE, sorted_once) == starts(workload, MACHINE, sorted_anew)


@given(workloads())
def test_perfect_requests_leave_clairvoyance_nothing_to_gain(workload: Workload) -> None:
    exact = with_exact_limits(workload)
    easy = starts(exact, MACHINE, EASY())
    assert starts(exact, MACHINE, EASY(estimates=Actual())) == easy
    assert starts(exact, MACHINE, Backfill(protocol="cqsim")) == easy


@given(
    st.lists(st.tuples(st.integers(1, 9), st.booleans()), max_size=9).map(
        lambda offers: [Offer(Job(row, row, 0, nodes), is_long) for row, (nodes, is_long) in enumerate(offers)]
    ),
    st.integers(0, 16),
    st.integers(0, 16),
)
def test_the_best_fill_is_the_best_of_all_sets(offers: list[Offer], free: int, extra: int) -> None:
    """By trying every set: most nodes, then fewest of long jobs, then the jobs that come first."""

    def rank(chosen: tuple[Offer, ...]) -> tuple[int, int, list[int]]:
        long = sum(offer.job.nodes for offer in chosen if offer.is_long)
        places = [offer.job.row for offer in chosen]
        return (sum(offer.job.nodes for offer in chosen), -long, [-row for row in places] + [1 - len(offers)])

    every = [chosen for size in range(len(offers) + 1) for chosen in combinations(offers, size)]
    allowed = [chosen for chosen in every if rank(chosen)[0] <= free and -rank(chosen)[1] <= extra]
    best = max(rank(chosen)[:2] for chosen in allowed)
    ours = tuple(offer for offer in offers if offer.job in best_fill(offers, free, extra))
    assert rank(ours)[:2] == best
    first = min([offer.job.row for offer in chosen] for chosen in allowed if rank(chosen)[:2] == best)
    assert [offer.job.row for offer in ours] == first


@pytest.mark.parametrize("name", NAMES)
@FEW
@example(workload=workload_of([(5, 3, 3, MACHINE)] * 4))
@given(workload=workloads(has_unlimited=True))
def test_declared_invariances_hold_and_a_run_leaves_nothing_behind(name: str, workload: Workload) -> None:
    """The same policy object, on the same jobs shifted and slowed down, starts them at the same places."""
    policy = make("policies", name)
    once = starts(workload, MACHINE, policy)
    assert starts(workload, MACHINE, policy) == once
    times = ("submit_s", "run_s", "limit_s")
    if "time-shift" in policy.invariances:
        shifted = Workload(workload.columns | {"submit_s": workload.columns["submit_s"] + 86_400})
        assert starts(shifted, MACHINE, policy) == {job: start_s + 86_400 for job, start_s in once.items()}
    if "time-scale" in policy.invariances:
        slowed = Workload(workload.columns | {key: workload.columns[key] * 3 for key in times})
        assert starts(slowed, MACHINE, policy) == {job: start_s * 3 for job, start_s in once.items()}


@pytest.mark.parametrize("name", NAMES)
def test_every_policy_copes_with_no_job_at_all(name: str) -> None:
    assert starts(Workload.of(submit_s=[], run_s=[], nodes=[]), MACHINE, name) == {}


def test_orders_are_policies_too() -> None:
    for name in ("lcfs", "wfp3", "multifactor"):
        assert find("orders", name) is find("policies", name)
