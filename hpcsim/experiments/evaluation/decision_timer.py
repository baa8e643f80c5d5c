"""How long a policy thinks: CPU time between being asked and answering, pass by pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from hpcsim.decision import Decision
from hpcsim.errors import InvalidDecision
from hpcsim.policy import Policy
from hpcsim.system import System


class DecisionTimes:
    """CPU times of a policy's answers, in nanoseconds. An answer is a decision, or that a pass has no more."""

    def __init__(self) -> None:
        self.answers_ns: list[int] = []

    def mean_us(self, decisions: int) -> float:
        """Return the policy's time over all passes divided by *decisions*, in microseconds; NaN without any."""
        return sum(self.answers_ns) / 1e3 / decisions if decisions else float("nan")

    def p99_us(self) -> float:
        """Return the 99th percentile of the times of answers in microseconds; NaN without any."""
        return float(np.percentile(self.answers_ns, 99)) / 1e3 if self.answers_ns else float("nan")


@contextmanager
def decisions_timed(policy: Policy) -> Iterator[DecisionTimes]:
    """Time what *policy* decides for as long as the context lasts; its hooks on arrivals and ends are not in it."""
    times = DecisionTimes()
    schedule = policy.schedule

    def timed(system: System) -> Iterator[Decision]:
        began_ns = time.thread_time_ns()
        decisions = iter(schedule(system))
        return _each_timed(decisions, times.answers_ns, time.thread_time_ns() - began_ns)

    vars(policy)["schedule"] = timed
    try:
        yield times
    finally:
        del vars(policy)["schedule"]


def _each_timed(decisions: Iterator[Decision], answers_ns: list[int], spent_ns: int) -> Iterator[Decision]:
    """Pass on *decisions*, and a refusal back to them; note each answer's time, the first with *spent_ns* before it."""
    ask: Callable[[], Decision] = decisions.__next__
    while True:
        began_ns = time.thread_time_ns()
        try:
            decision = ask()
        except StopIteration:
            return
        finally:
            answers_ns.append(time.thread_time_ns() - began_ns + spent_ns)
            spent_ns = 0
        ask = decisions.__next__
        try:
            yield decision
        except InvalidDecision as error:
            if not isinstance(decisions, Generator):
                raise
            ask = partial(decisions.throw, error)
