"""Scheduling passes: one an instant, after its completions and arrivals, driven by the policy."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from hpcsim.decision import Decision
from hpcsim.engine.checker import InvariantChecker
from hpcsim.engine.clock import CHANGE, Instant
from hpcsim.engine.decisions import Decider
from hpcsim.engine.jobs import JobLife
from hpcsim.engine.observers import Observers
from hpcsim.errors import HpcsimError, InvalidDecision, PolicyFailed, StalledPolicy
from hpcsim.policy import Policy
from hpcsim.system import System

PATIENCE = 10_000
"""Wake-only passes in a row, or decisions in a pass beyond the queue, after which a policy is stopped."""


class Passes:
    """Opens a pass when something happened, lets the policy decide, and closes it."""

    def __init__(self, life: JobLife, policy: Policy | None, checker: InvariantChecker | None) -> None:
        self.is_due = False
        self.is_open = False
        self._life = life
        self._env = life.env
        self._policy = policy
        self._name = type(policy).__name__ if policy else "the caller"
        self._checker = checker
        self._woken_only = 0
        self._wakes: set[float] = set()
        self._decider = Decider(life, self._wake_at, self._name)
        self._observers: Observers
        self._system: System

    def connect(self, observers: Observers, system: System) -> None:
        """Set what exists only after this object does."""
        self._observers, self._system = observers, system

    def request(self) -> None:
        """Something happened: open a pass at the end of this instant."""
        self._woken_only = 0
        self.is_due = True

    def apply(self, decision: Decision) -> None:
        """Validate and apply one decision; tell the recorders."""
        self._decider.apply(decision)
        for hook in self._observers.decision:
            hook(decision, self._system)

    def close(self) -> None:
        """End the pass: check the counts, tell the recorders."""
        self.is_open = False
        if self._checker:
            life = self._life
            self._checker.counts(self._env._now, life.ledger.free_nodes.count, len(life.queue))
        for hook in self._observers.closed:
            hook(self._system)

    @property
    def has_wakes(self) -> bool:
        """Whether a wake that a policy asked for is still to come."""
        return bool(self._wakes)

    def open(self) -> None:
        """Open the pass that is due: the policy decides and it closes, or it stays open for a caller.

        With an empty queue there is nothing to decide.
        """
        self.is_due = False
        if self._life.queue:
            if self._policy is None:
                self.is_open = True
                return
            self._run_policy(self._policy)
        self.close()

    def _run_policy(self, policy: Policy) -> None:
        try:
            self._follow(policy.schedule(self._system))
        except HpcsimError:
            raise
        except Exception as error:
            raise PolicyFailed(
                f"{self._name} raised {type(error).__name__} at t = {self._env._now} s: {error}",
                "See the error it was raised from.",
            ) from error

    def _follow(self, decisions: Iterable[Decision] | None) -> None:
        """Apply each decision before the generator goes on; throw a refused one back into it."""
        apply = self.apply if self._observers.decision else self._decider.apply
        iterator = iter(decisions or ())
        left = len(self._life.queue) + PATIENCE
        for decision in iterator:
            while True:
                left -= 1
                if left < 0:
                    raise self._stalled(f"made over {PATIENCE} decisions more than there are waiting jobs in one pass")
                try:
                    apply(decision)
                    break
                except InvalidDecision as error:
                    if not isinstance(iterator, Generator):
                        raise
                    try:
                        decision = iterator.throw(error)  # noqa: PLW2901
                    except StopIteration:
                        return

    def _wake_at(self, time_s: float) -> None:
        if time_s not in self._wakes:
            self._wakes.add(time_s)
            Instant(self._env, time_s, CHANGE, self._wake)

    def _wake(self, event: Any) -> None:
        self._wakes.discard(self._env._now)
        woken = self._woken_only + 1
        if woken > PATIENCE:
            raise self._stalled(f"was woken {PATIENCE} times in a row and nothing else happened")
        self.request()
        self._woken_only = woken

    def _stalled(self, fault: str) -> StalledPolicy:
        return StalledPolicy(f"At t = {self._env._now} s {self._name} {fault}.", "Mend the policy: it does not end.")
