"""What a policy made of parts can say of itself: no more than its parts allow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hpcsim.listener import Listener
from hpcsim.policy import Policy


def each_once(*listeners: Listener) -> tuple[Listener, ...]:
    """Return *listeners* without repetition: a part that two others share hears everything once."""
    return tuple({id(listener): listener for listener in listeners}.values())


def declare(
    policy: Policy, parts: Iterable[Any], *, is_clairvoyant: bool = False, keeps_guarantees: bool = True
) -> None:
    """Set on *policy* itself what it declares, where its *parts* make that differ from its class.

    With *is_clairvoyant* or one clairvoyant part it is clairvoyant. It has the invariances that its
    class and every order among its parts have. Without *keeps_guarantees* it guarantees nothing.
    """
    declared = vars(policy)
    for part in parts:
        is_clairvoyant |= getattr(part, "clairvoyant", False)
        if isinstance(part, Policy):
            declared["invariances"] = tuple(name for name in policy.invariances if name in part.invariances)
    if is_clairvoyant:
        declared["clairvoyant"] = True
    if not keeps_guarantees:
        declared["guarantees"] = ()
