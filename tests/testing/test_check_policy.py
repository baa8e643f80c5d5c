"""How a policy is given, how failures are declared, and what is said of them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any
from unittest import SkipTest, mock

import pytest

import hpcsim.testing
from hpcsim import Policy
from hpcsim.errors import InvalidArgument, MissingExtra, PolicyCheckFailed, UnknownName
from hpcsim.policies import EASY, SJF, Backfill
from hpcsim.testing import CHECKS, PolicySpec, Status, check_policy, parametrize_policy_checks
from hpcsim.testing.search import drawn_scenarios
from hpcsim.testing.subject import Subject
from tests.testing.broken_policies import IgnoresFree, Sound

QUICK = {"checks": ["one-job"], "examples": 5}
MINE = """
from hpcsim import Policy, Start

class Mine(Policy):
    depth: int = 2

    def schedule(self, system):
        for job in system.queue[: self.depth]:
            if system.fits(job):
                yield Start(job)
"""


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("fcfs", "FCFS()"),
        ("hpcsim.policies.orders:SJF", "SJF()"),
        (Sound, "Sound()"),
        (Sound(), "Sound()"),
        (PolicySpec("backfill", {"order": SJF(), "depth": 3}), "Backfill(order=SJF(), backfill_order=None, reserv"),
    ],
    ids=str,
)
def test_policy_is_given_in_many_forms(given: Any, shown: str) -> None:
    verdict = check_policy(given, **QUICK)  # type: ignore[arg-type]
    assert verdict.policy.startswith(shown)
    assert verdict.holds


def test_policy_in_a_file_with_parameters_is_rebuilt_elsewhere(policy_file: Path) -> None:
    spec = PolicySpec(f"{policy_file}:Mine", {"depth": 7})
    assert check_policy(spec, checks=["rebuilt-elsewhere"]).policy == "Mine(depth=7)"
    instance = spec.make()
    assert PolicySpec.of(instance) == PolicySpec(f"{policy_file.resolve()}:Mine", {"depth": 7})
    check_policy(instance, checks=["rebuilt-elsewhere"])


@pytest.mark.parametrize("given", [3, int, None, Policy.schedule], ids=["number", "class", "none", "function"])
def test_what_is_no_policy_is_refused(given: Any) -> None:
    with pytest.raises(InvalidArgument, match="is no policy"):
        check_policy(given)


def test_unknown_check_is_refused_with_the_closest() -> None:
    with pytest.raises(UnknownName, match=r"no check 'one-jobs'.*'one-job'"):
        check_policy("fcfs", checks=["one-jobs"])
    with pytest.raises(UnknownName, match="drain"):
        check_policy("fcfs", expected_failures={"drain": "because"})


def test_failure_shows_workload_clock_queue_and_decision() -> None:
    with pytest.raises(PolicyCheckFailed) as caught:
        check_policy(IgnoresFree)
    text = str(caught.value)
    for line in (
        "IgnoresFree() breaks a rule.",
        "never-over-allocates",
        "At t = 0 s IgnoresFree tried to start job 2, which needs 1 nodes while 0 are free.",
        "Clock:    0 s, 0 nodes free; running: job 1 (1 node, until 1 s at most)",
        "Queue:    job 2 (1 node, limit 1 s)",
        "Workload, on Cluster.of_nodes(1):",
        "Again:    Workload.of(submit_s=[0, 0], run_s=[0, 0], limit_s=[1, 1], nodes=[1, 1], user_id=[1, 1])",
    ):
        assert line in text
    assert isinstance(caught.value, AssertionError)


def test_violation_can_be_run_again() -> None:
    (failure,) = check_policy(IgnoresFree, on_fail="return").failures
    assert failure.violation is not None
    assert failure.violation.scenario is not None
    with pytest.raises(hpcsim.InvalidDecision):
        hpcsim.simulate(*failure.violation.scenario, IgnoresFree())


def test_expected_failures_are_declared_with_reasons_and_are_strict() -> None:
    why = {"never-over-allocates": "it is broken for a test"}
    verdict = check_policy(IgnoresFree, expected_failures=why)
    declared = [outcome for outcome in verdict.outcomes if outcome.status is Status.EXPECTED]
    assert [(outcome.check, outcome.note) for outcome in declared] == list(why.items())
    with pytest.raises(PolicyCheckFailed, match=r"declared to fail \(no reason\), and holds"):
        check_policy("fcfs", expected_failures={"one-job": "no reason"}, **QUICK)  # type: ignore[arg-type]


def test_outcomes_are_told_as_they_come() -> None:
    heard: list[str] = []
    check_policy("fcfs", examples=2, callback=lambda outcome: heard.append(outcome.check))
    assert heard == [check.name for check in CHECKS]


def test_one_check_is_called_like_a_test() -> None:
    by_name = {check.name: check for check in CHECKS}
    by_name["fcfs-order"]("fcfs", examples=5)
    with pytest.raises(PolicyCheckFailed, match="never-over-allocates: At t = 0 s"):
        by_name["never-over-allocates"](IgnoresFree)
    with pytest.raises(SkipTest, match="not declared"):
        by_name["fcfs-order"]("easy", examples=5)


def test_policy_that_cannot_be_copied_is_made_anew() -> None:
    policy = EASY()
    policy._lock = threading.Lock()  # type: ignore[attr-defined]
    assert type(Subject(policy).make()) is EASY
    check_policy(policy, examples=5)


def test_copies_share_nothing_with_the_policy_that_was_given() -> None:
    policy = Backfill(order=SJF())
    one, other = (Subject(policy).make() for _ in range(2))
    assert one is not policy
    assert one.order is not other.order  # type: ignore[attr-defined]


def test_missing_hypothesis_says_what_to_type() -> None:
    with mock.patch("hpcsim.testing.extra.find_spec", return_value=None):
        for ask in (lambda: check_policy("fcfs"), lambda: hpcsim.testing.workloads):
            with pytest.raises(MissingExtra, match=r"pip install 'hpcsim-des\[testing\]'"):
                ask()


def test_kit_is_loaded_without_hypothesis(root: Path) -> None:
    from tests.test_public_names import loaded_after

    assert "hypothesis" not in loaded_after("import hpcsim.testing; hpcsim.testing.verify", root)


def test_draws_are_the_same_each_time() -> None:
    first = [scenario.workload.sha256() for scenario in drawn_scenarios(10)]
    drawn_scenarios.cache_clear()
    assert [scenario.workload.sha256() for scenario in drawn_scenarios(10)] == first


def because_it_is_broken(policy: Any) -> dict[str, str]:
    return {"never-over-allocates": "broken for a test"} if policy is IgnoresFree else {}


@parametrize_policy_checks(["fcfs", IgnoresFree], expected_failures=because_it_is_broken)
def test_checks_become_tests(policy: Any, check: Any) -> None:
    check(policy, examples=10)


def test_parametrized_checks_have_names_and_marks() -> None:
    parameters = parametrize_policy_checks([IgnoresFree, "easy"], expected_failures=because_it_is_broken).args[1]
    assert [parameter.id for parameter in parameters[:1]] == ["IgnoresFree-known-claims"]
    assert parameters[-1].id == "easy-time-scale"
    marked = [parameter for parameter in parameters if parameter.marks]
    assert [parameter.id for parameter in marked] == ["IgnoresFree-never-over-allocates"]
    assert marked[0].marks[0].kwargs == {"reason": "broken for a test", "strict": True}
