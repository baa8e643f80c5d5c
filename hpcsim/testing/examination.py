"""What all checks of one policy share: its runs, and the answer to "which rule does this fault break?".

A policy with one defect should fail one check. So a fault belongs to one check, its owner, and the
others pass over it.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from hpcsim.errors import Clairvoyance, HpcsimError, InvalidDecision, InvariantViolation, StalledPolicy
from hpcsim.recorder import Recorder
from hpcsim.testing.sampling import EDGES, edges, samples
from hpcsim.testing.search import Foreign, Judge, Untested, drawn, drawn_scenarios, smallest_violation
from hpcsim.testing.subject import Subject
from hpcsim.testing.trial import Fault, Scenario, Step, Trial, attempt, moment_before
from hpcsim.testing.violation import Violation, describe_step

EXAMPLES = 60
"""Scenarios that a check draws."""

_REPEATS = 3


class Examination:
    """A policy under test, with how hard to look."""

    def __init__(self, subject: Subject, *, examples: int = EXAMPLES, seed: int = 0) -> None:
        self.subject = subject
        self.examples = examples
        self.seed = seed
        self._first_runs: dict[Scenario, Trial] = {}

    def attempt(self, scenario: Scenario, *, recorders: Sequence[Recorder] = ()) -> Trial:
        """Run a new copy of the policy."""
        return attempt(self.subject.make(), scenario, seed=self.seed, recorders=recorders)

    def first_run(self, scenario: Scenario) -> Trial:
        """Return one run of the policy on *scenario*, the same one for all checks."""
        if scenario not in self._first_runs:
            self._first_runs[scenario] = self.attempt(scenario)
        return self._first_runs[scenario]

    def search(self, judge: Judge, more: Any = None) -> Violation | None:
        """Return a small violation that *judge* finds; *more* is a strategy for what it needs beside scenarios."""
        extras = [None] * self.examples if more is None else drawn(more, self.examples)
        return smallest_violation(judge, drawn_scenarios(self.examples), extras)

    def fault_of(self, trial: Trial, check: str) -> Violation | None:
        """Return the fault of *trial* as a violation if it is *check*'s own; None without a fault.

        Raises:
            Foreign: the fault is another check's.
        """
        if trial.fault is None:
            return None
        owner = self.owner_of(trial.fault)
        if owner != check:
            raise Foreign(owner)
        return violation_of(trial.fault, trial)

    def owner_of(self, fault: Fault) -> str:
        """Return the name of the check that *fault* belongs to."""
        error = fault.error
        if isinstance(error, InvalidDecision):
            return "never-over-allocates" if error.rule in {"capacity", "node-ids"} else "legal-decisions"
        if isinstance(error, Clairvoyance):
            return "sees-no-future"
        if isinstance(error, InvariantViolation) or not isinstance(error, HpcsimError):
            return "mutates-nothing"
        return self._edge_of(fault) or "drains"

    def _edge_of(self, fault: Fault) -> str:
        """Return the edge at which a policy that raises or stalls does so; empty if at none or, stalling, at all."""
        is_stall = isinstance(fault.error, StalledPolicy)
        if fault.moment is None:
            return ""
        if not is_stall and not fault.moment.queue and _is_in_schedule(fault.error):
            return "empty-queue"
        same = [name for name, signatures in self._edge_signatures.items() if fault.signature in signatures]
        return "" if not same or (is_stall and len(same) == len(EDGES)) else same[0]

    @cached_property
    def _edge_signatures(self) -> dict[str, set[tuple[Any, ...]]]:
        """Faults that show on the edges, by the edge's name."""
        found = {}
        for name in EDGES:
            faults = [self.attempt(scenario).fault for scenario in edges(name)]
            found[name] = {fault.signature for fault in faults if fault is not None}
        return found

    @cached_property
    def _is_repeatable(self) -> bool:
        return all(self.first_run(scenario).steps == self.attempt(scenario).steps for scenario in samples())

    def need_repeatable(self) -> None:
        """Refuse to compare runs of a policy whose runs differ by themselves.

        Raises:
            Untested: the same seed does not give the same decisions.
        """
        if not self._is_repeatable:
            raise Untested("same-seed")

    def is_steady_on(self, scenario: Scenario) -> bool:
        """Tell whether the policy does the same on *scenario* time and again."""
        first = self.attempt(scenario).steps
        return all(self.attempt(scenario).steps == first for _ in range(_REPEATS))

    def step_violation(
        self, sentence: str, scenario: Scenario, steps: Sequence[Step], at: int, remedy: str
    ) -> Violation:
        """Return a violation by decision number *at* of a run of *scenario* whose decisions are *steps*."""
        if at >= len(steps):
            return Violation(sentence, scenario, None, "none, where there was one", remedy)
        moment = moment_before(self.subject.make(), scenario, at, seed=self.seed)
        return Violation(sentence, scenario, moment, describe_step(steps[at], scenario.workload), remedy)


def violation_of(fault: Fault, trial: Trial) -> Violation:
    """Return a fault as what a person reads."""
    error = fault.error
    cause = error.cause if isinstance(error, HpcsimError) else f"{type(error).__name__}: {error}"
    remedy = error.remedy if isinstance(error, HpcsimError) else "Change nothing that belongs to the engine."
    last = describe_step(trial.steps[-1], trial.scenario.workload) if trial.steps else "none"
    decision = "" if isinstance(error, InvalidDecision) else f"none; the last one was {last}" if trial.steps else ""
    return Violation(cause, trial.scenario, fault.moment, decision, remedy)


def first_difference(some: Sequence[Any], others: Sequence[Any]) -> int | None:
    """Return the first place at which two sequences differ, None if they are equal."""
    for place, (one, other) in enumerate(zip(some, others, strict=False)):
        if one != other:
            return place
    return None if len(some) == len(others) else min(len(some), len(others))


def _is_in_schedule(error: Exception) -> bool:
    cause = error.__cause__
    return cause is not None and any(frame.name == "schedule" for frame in traceback.extract_tb(cause.__traceback__))
