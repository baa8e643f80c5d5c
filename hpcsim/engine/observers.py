"""Who wants to hear what: only hooks that somebody overrides are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hpcsim.policy import Policy
from hpcsim.recorder import Recorder

Hook = Callable[..., None]


class Observers:
    """The overridden hooks of the policy (first) and of the recorders, a tuple each."""

    def __init__(self, policy: Policy | None, recorders: Sequence[Recorder]) -> None:
        self.submit = _hooks("on_submit", policy, recorders)
        self.start = _hooks("on_start", policy, recorders)
        self.end = _hooks("on_end", policy, recorders)
        self.decision = _hooks("on_decision", None, recorders)
        self.closed = _hooks("on_pass", None, recorders)


def _hooks(name: str, policy: Policy | None, recorders: Sequence[Recorder]) -> tuple[Hook, ...]:
    hooks: list[Hook] = []
    if policy is not None and _overrides(policy, Policy, name):
        hooks.append(getattr(policy, name))
    hooks += [getattr(recorder, name) for recorder in recorders if _overrides(recorder, Recorder, name)]
    return tuple(hooks)


def _overrides(thing: Any, base: type, name: str) -> bool:
    return getattr(type(thing), name) is not getattr(base, name)
