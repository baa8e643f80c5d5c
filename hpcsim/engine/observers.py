"""Who wants to hear what: only hooks that somebody overrides are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hpcsim.engine.blame import policy_failed
from hpcsim.errors import HpcsimError
from hpcsim.listener import Listener
from hpcsim.policy import Policy
from hpcsim.recorder import Recorder

Hook = Callable[..., None]


class Observers:
    """The overridden hooks of the policy's listeners (first) and of the recorders, a tuple each."""

    def __init__(self, policy: Policy | None, recorders: Sequence[Recorder]) -> None:
        listeners = [*(policy.listeners() if policy else ()), *recorders]
        self.submit = _overridden("on_submit", Listener, listeners)
        self.leave = _overridden("on_leave", Listener, listeners)
        self.change = tuple(change for one in (policy.listeners() if policy else ()) for change in _changes(one))
        self.start = _overridden("on_start", Listener, listeners)
        self.end = _overridden("on_end", Listener, listeners)
        self.decision = _overridden("on_decision", Recorder, recorders)
        self.power = _overridden("on_power", Recorder, recorders)
        self.closed = _overridden("on_pass", Recorder, recorders)

    @staticmethod
    def tell(hooks: Sequence[Hook], *news: Any) -> None:
        """Call *hooks*; an error of theirs becomes a `PolicyFailed` that names the hook.

        Raises:
            PolicyFailed: a hook raised an error of its own.
        """
        for hook in hooks:
            try:
                hook(*news)
            except HpcsimError:
                raise
            except (Exception, SystemExit) as error:
                owner = type(getattr(hook, "__self__", hook)).__name__
                raise policy_failed(f"{owner}.{hook.__name__}", error) from error


def _changes(listener: Listener) -> Iterator[Hook]:
    """Yield what tells *listener* that a waiting job has changed: its own hook, else those of leaving and coming."""
    if type(listener).on_change is not Listener.on_change:
        yield listener.on_change
        return
    yield lambda old, new, system: listener.on_leave(old, system)  # noqa: ARG005 - the arguments of on_change
    yield lambda old, new, system: listener.on_submit(new, system)  # noqa: ARG005


def _overridden(name: str, base: type, listeners: Sequence[Any]) -> tuple[Hook, ...]:
    return tuple(
        getattr(listener, name) for listener in listeners if getattr(type(listener), name) is not getattr(base, name)
    )
