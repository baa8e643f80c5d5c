"""Scheduling passes: one an instant, after its completions and arrivals, driven by the policy."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

from hpcsim.decision import DECISIONS, Decision
from hpcsim.engine.blame import policy_failed
from hpcsim.engine.checker import InvariantChecker
from hpcsim.engine.clock import CHANGE, Happening
from hpcsim.engine.decisions import Decider
from hpcsim.engine.jobs import JobLife
from hpcsim.engine.observers import Observers
from hpcsim.errors import HpcsimError, InvalidDecision, StalledPolicy
from hpcsim.policy import Policy
from hpcsim.system import System

PATIENCE = 10_000
"""Wake-only passes in a row, or decisions in a pass beyond the queue, after which a policy is stopped."""


class Passes:
    """Opens a pass when something happened, lets the policy decide, and closes it."""

    def __init__(
        self,
        life: JobLife,
        policy: Policy | None,
        checker: InvariantChecker | None,
        decider: type[Decider] = Decider,
    ) -> None:
        """*decider* is the kind of rules that decisions are held to."""
        self.is_woken = False
        self.is_open = False
        self._life = life
        self._env = life.env
        self._policy = policy
        self.name = type(policy).__name__ if policy else "the caller"
        self._checker = checker
        self._woken_only = 0
        self._wakes: set[float] = set()
        self._decider = decider(life, self._wake_at, self.name)
        self._observers: Observers
        self._system: System

    def connect(self, observers: Observers, system: System) -> None:
        """Set what exists only after this object does."""
        self._observers, self._system = observers, system
        self._is_watched = bool(self._checker or observers.closed)
        self._apply = self.apply if observers.decision else self._decider.apply

    def apply(self, decision: Decision) -> None:
        """Validate and apply one decision; tell the recorders."""
        self._decider.apply(decision)
        self._observers.tell(self._observers.decision, decision, self._system)

    def close(self) -> None:
        """End the pass: check the counts, tell the recorders."""
        self.is_open = False
        if self._checker:
            life = self._life
            self._checker.counts(self._env._now, life.ledger.free_nodes.count, len(life.queue))
        self._observers.tell(self._observers.closed, self._system)

    @property
    def has_wakes(self) -> bool:
        """Whether a wake that a policy asked for is still to come."""
        return bool(self._wakes)

    def open(self) -> None:
        """Open the pass that is due: the policy decides and it closes, or it stays open for a caller.

        With an empty queue there is nothing to decide.
        """
        life = self._life
        if life.has_news:
            self._woken_only = 0
        life.has_news = self.is_woken = False
        if len(life.queue):
            if self._policy is None:
                self.is_open = True
                return
            try:
                decisions = self._policy.schedule(self._system)
                if decisions:
                    self._follow(decisions)
            except HpcsimError:
                raise
            except (Exception, SystemExit) as error:
                raise policy_failed(self.name, error, self._env._now) from error
        if self._is_watched:
            self.close()

    def _follow(self, decisions: Iterable[Decision]) -> None:
        """Apply each decision before the generator goes on; throw a refused one back into it."""
        apply = self._apply
        if type(decisions) in DECISIONS:
            raise TypeError("schedule() returned one decision, which is not iterable as decisions: yield it")
        iterator = iter(decisions)
        left = len(self._life.queue) + PATIENCE
        for decision in iterator:
            try:
                apply(decision)
            except InvalidDecision as error:
                self._throw(iterator, error)
            left -= 1
            if left < 0:
                raise self._stalled(f"made over {PATIENCE} decisions more than there are waiting jobs in one pass")

    def _throw(self, iterator: Iterator[Decision], error: InvalidDecision) -> None:
        """Tell a generator that its decision was refused; apply what it decides instead, if anything."""
        for _ in range(PATIENCE):
            if not isinstance(iterator, Generator):
                raise error
            try:
                decision = iterator.throw(error)
            except StopIteration:
                return
            try:
                self._apply(decision)
            except InvalidDecision as another:
                error = another
            else:
                return
        raise self._stalled(f"made {PATIENCE} invalid decisions in one pass")

    def _wake_at(self, time_s: float) -> None:
        if time_s not in self._wakes:
            self._wakes.add(time_s)
            Happening().happen_at(self._env, time_s, CHANGE, self._wake)

    def _wake(self, event: Any) -> None:
        self._wakes.discard(self._env._now)
        self._woken_only += 1
        if self._woken_only > PATIENCE:
            raise self._stalled(f"was woken {PATIENCE} times in a row and nothing else happened")
        self.is_woken = True

    def _stalled(self, fault: str) -> StalledPolicy:
        return StalledPolicy(f"At t = {self._env._now} s {self.name} {fault}.", "Mend the policy: it does not end.")
