"""Run every check on one policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from hpcsim.errors import PolicyCheckFailed, UnknownName, closest
from hpcsim.testing.checks import CHECKS, PolicyCheck
from hpcsim.testing.examination import EXAMPLES, Examination
from hpcsim.testing.extra import need_hypothesis
from hpcsim.testing.subject import Subject
from hpcsim.testing.verdict import CheckOutcome, Status, Verdict


def check_policy(
    policy: Any,
    *,
    expected_failures: Mapping[str, str] | None = None,
    checks: Sequence[str] | None = None,
    examples: int = EXAMPLES,
    seed: int = 0,
    on_fail: Literal["raise", "return"] = "raise",
    callback: Callable[[CheckOutcome], None] | None = None,
) -> Verdict:
    """Check that *policy* keeps the rules of the contract and what it declares.

    Each check tries the policy on small workloads that Hypothesis draws, the same ones each time in
    one program, and makes the one that breaks a rule as small as it can. A built-in policy takes a few seconds;
    a slow one, such as a network, less with fewer *examples*.

    Args:
        policy: a `Policy`, its class, a registry name, ``module:Class``, ``file.py:Class``, or a
            `PolicySpec`, which has parameters.
        expected_failures: check -> reason, for checks that are known to fail. One that holds all
            the same fails: its declaration is out of date.
        checks: names of the checks to run; default: all of `CHECKS`.
        examples: workloads that each check draws.
        seed: what the policy's random numbers come from.
        on_fail: ``"raise"``, or ``"return"`` to get the verdict in any case.
        callback: is given each outcome as it comes.

    Returns:
        The outcomes of all checks; ``str(verdict)`` is a page to read.

    Raises:
        PolicyCheckFailed: a check failed, and *on_fail* is ``"raise"``.
        InvalidArgument: *policy* is none.
        UnknownName: there is no such policy, parameter or check.
        MissingExtra: Hypothesis is not installed, or what the policy itself needs.
    """
    need_hypothesis()
    expected = expected_failures or {}
    chosen = find_checks(checks)
    find_checks(expected)
    subject = Subject(policy)
    verdict = Verdict(repr(subject))
    examination = Examination(subject, examples=examples, seed=seed)
    for outcome in _outcomes(examination, chosen, expected):
        verdict.outcomes.append(outcome)
        if callback is not None:
            callback(outcome)
    if on_fail == "raise" and not verdict.holds:
        raise PolicyCheckFailed(f"{verdict.policy} breaks {_rules(len(verdict.failures))}.\n{_explained(verdict)}")
    return verdict


def find_checks(names: Sequence[str] | Mapping[str, str] | None) -> list[PolicyCheck]:
    """Return the checks called *names*, in the order of `CHECKS`; None is all of them.

    Raises:
        UnknownName: there is no check of that name.
    """
    known = [check.name for check in CHECKS]
    for name in names or ():
        if name not in known:
            raise UnknownName(f"There is no check '{name}'.{closest(name, known)}", f"Known: {', '.join(known)}.")
    return [check for check in CHECKS if names is None or check.name in names]


def _outcomes(
    examination: Examination, checks: Sequence[PolicyCheck], expected: Mapping[str, str]
) -> Iterator[CheckOutcome]:
    for check in checks:
        outcome = check.examine(examination)
        if check.name in expected:
            outcome = _as_declared(outcome, expected[check.name])
        yield outcome


def _as_declared(outcome: CheckOutcome, reason: str) -> CheckOutcome:
    if outcome.status is Status.FAILED:
        return replace(outcome, status=Status.EXPECTED, reason=reason)
    if outcome.status is Status.PASSED:
        return replace(outcome, status=Status.FAILED, reason=f"It was declared to fail ({reason}), and holds.")
    return outcome


def _rules(count: int) -> str:
    return "a rule" if count == 1 else f"{count} rules"


def _explained(verdict: Verdict) -> str:
    return "\n".join(verdict.explanations())
