"""Refuse options of backfilling outside their range, each with one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hpcsim.errors import HpcsimError
from hpcsim.estimator import Estimator
from hpcsim.policy import Order

if TYPE_CHECKING:
    from hpcsim.policies.backfill import Backfill

_CHOICES: dict[str, tuple[str, ...]] = {
    "admit": ("shadow+extra", "shadow"),
    "boundary": ("<=", "<"),
    "compress": ("early", "any"),
    "protocol": ("textbook", "rlscheduler", "cqsim"),
}


def check_options(policy: Backfill) -> None:
    """Refuse values outside each option's range.

    Raises:
        HpcsimError: an option has no such value, or two contradict each other.
    """
    for name, allowed in _CHOICES.items():
        if getattr(policy, name) not in allowed:
            raise HpcsimError(f"{name} is {getattr(policy, name)!r}.", f"Give one of {', '.join(allowed)}.")
    check_kind("order", policy.order, Order)
    if policy.backfill_order is not None:
        check_kind("backfill_order", policy.backfill_order, Order)
    check_kind("estimates", policy.estimates, Estimator)
    if policy.reservations != "all" and not is_count(policy.reservations):
        raise HpcsimError(f"reservations is {policy.reservations!r}.", "Give a whole number from 0, or 'all'.")
    check_depth(policy.depth)
    if policy.protocol != "textbook" and policy.reservations != 1:
        raise HpcsimError(
            f"protocol is {policy.protocol!r}, which has one reservation, and reservations is {policy.reservations!r}.",
            "Leave reservations out; depth=0 backfills nothing.",
        )


def check_kind(name: str, value: Any, kind: type) -> None:
    """Refuse a part of a policy that is no instance of *kind*.

    Raises:
        HpcsimError: it is none.
    """
    if not isinstance(value, kind):
        raise HpcsimError(f"{name} is {value!r}.", f"Give an {kind.__name__}, such as the registered ones.")


def check_depth(depth: Any) -> None:
    """Refuse a number of jobs that is none; None is all of them.

    Raises:
        HpcsimError: it is neither.
    """
    if depth is not None and not is_count(depth):
        raise HpcsimError(f"depth is {depth!r}.", "Give a whole number from 0, or leave it out.")


def is_count(value: Any) -> bool:
    """Tell whether *value* is a whole number of 0 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
