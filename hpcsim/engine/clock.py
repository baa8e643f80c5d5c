"""Time: a SimPy environment whose events stand at absolute instants, in a fixed order within one.

SimPy schedules by delay, and now + (t - now) need not be t. Events of ours are pushed at t itself,
so that integral times stay exact. At one instant: completions (and the events of users' own
processes), then faults and announced changes, then arrivals; one scheduling pass follows the last.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import heappush
from typing import Any

import simpy

COMPLETION = 1  # simpy.events.NORMAL
CHANGE = 2
ARRIVAL = 3


class Instant(simpy.Event):
    """An event that happens at *time_s*, at the rank *priority* within that instant."""

    def __init__(
        self,
        env: simpy.Environment,
        time_s: float,
        priority: int,
        callback: Callable[[Any], None] | None = None,
        subject: Any = None,
    ) -> None:
        self.env = env
        self.callbacks = [] if callback is None else [callback]
        self._value = None
        self._ok = True
        self.subject = subject
        heappush(env._queue, (time_s, priority, next(env._eid), self))  # type: ignore[misc]

    def annul(self) -> None:
        """Let the event pass without effect."""
        self.callbacks = []


def pending_events(env: simpy.Environment) -> list[Any]:
    """Return SimPy's own heap of pending events, the next first: (time in s, priority, serial number, event)."""
    return env._queue


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
