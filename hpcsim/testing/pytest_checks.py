"""A pytest test for each policy and check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hpcsim.errors import MissingExtra
from hpcsim.testing.checks import CHECKS
from hpcsim.testing.conformance import find_checks
from hpcsim.testing.specification import PolicySpec

if TYPE_CHECKING:
    import pytest

ExpectedFailures = Mapping[str, str] | Callable[[Any], Mapping[str, str]]


def parametrize_policy_checks(
    policies: Iterable[Any], *, expected_failures: ExpectedFailures | None = None
) -> pytest.MarkDecorator:
    """Return a decorator that makes a test of each check of each policy.

    ::

        @parametrize_policy_checks(["easy", FirstFit(depth=3)])
        def test_my_policies(policy, check):
            check(policy)

    Checks of what a policy does not declare are skipped. A policy with a random or missing name is
    named after its class.

    Args:
        policies: anything that `check_policy` takes.
        expected_failures: check -> reason, for all *policies*, or a function that returns such a
            mapping for one of them. Those tests are expected to fail, strictly.

    Raises:
        UnknownName: an expected failure names no check.
        MissingExtra: pytest is not installed.
    """
    try:
        import pytest
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "Policy checks become tests of pytest, which is not installed.", "Type: pip install pytest."
        ) from error
    parameters = []
    for policy in policies:
        reasons = (expected_failures(policy) if callable(expected_failures) else expected_failures) or {}
        find_checks(reasons)
        for check in CHECKS:
            reason = reasons.get(check.name)
            marks = () if reason is None else (pytest.mark.xfail(reason=reason, strict=True),)
            parameters.append(pytest.param(policy, check, id=f"{_name(policy)}-{check.name}", marks=marks))
    return pytest.mark.parametrize(("policy", "check"), parameters)


def _name(policy: Any) -> str:
    if isinstance(policy, PolicySpec):
        policy = policy.name
    if isinstance(policy, str):
        return policy.rpartition(":")[2]
    return getattr(policy, "__name__", type(policy).__name__)
