"""Time: a SimPy environment whose events stand at absolute instants, in a fixed order within one.

SimPy schedules by delay, and now + (t - now) need not be t. Events of ours are pushed at t itself,
so that integral times stay exact. At one instant: completions (and the events of users' own
processes), then faults and announced changes, then arrivals; one scheduling pass follows the last.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Any

import simpy

COMPLETION = 1  # simpy.events.NORMAL
CHANGE = 2


def _act(event: Any) -> None:
    event.action(event)


def _pass_by(event: Any) -> None:
    pass


class Happening(simpy.Event):
    """An event of ours, which stands at an absolute instant and has one action.

    SimPy's own `step` processes it as well; `step` below needs less ado.
    """

    action: Callable[[Any], None]
    callbacks = (_act,)  # type: ignore[assignment]
    _value = None
    _ok = True

    def __init__(self) -> None:
        """Leave everything to `happen_at`: a subclass may exist before its time is known."""

    def happen_at(self, env: simpy.Environment, time_s: float, priority: int, action: Callable[[Any], None]) -> None:
        """Put this event at *time_s*, at the rank *priority* within that instant."""
        self.action = action
        heappush(env._queue, (time_s, priority, next(env._eid), self))  # type: ignore[misc]

    def annul(self) -> None:
        """Let the event pass without effect."""
        self.action = _pass_by


def pending_events(env: simpy.Environment) -> list[Any]:
    """Return SimPy's own heap of pending events, the next first: (time in s, priority, serial number, event)."""
    return env._queue


def step(env: simpy.Environment) -> None:
    """Process the next event as `simpy.Environment.step` does, with less ado for events of ours."""
    event = env._queue[0][3]
    if isinstance(event, Happening):
        env._now = heappop(env._queue)[0]
        event.action(event)
    else:
        env.step()


@contextmanager
def paused_collector() -> Iterator[None]:
    """Pause the cyclic garbage collector: a run makes many objects and no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
