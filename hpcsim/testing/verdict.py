"""What the checks say of a policy, as data and as a page to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hpcsim.results.quantities import count
from hpcsim.testing.violation import Violation


class Status(StrEnum):
    """What one check says."""

    PASSED = "passed"
    FAILED = "failed"
    EXPECTED = "expected failure"
    NOT_DECLARED = "not declared"
    UNTESTED = "not tested"


@dataclass(frozen=True)
class CheckOutcome:
    """The outcome of one check.

    Attributes:
        check: its name.
        rule: what holds of a policy that passes, in a line.
        status: what it says.
        reason: why; the whole text of a failure. Empty where it passed.
        violation: the failure as data, or None.
        wall_s: seconds that it took.
    """

    check: str
    rule: str
    status: Status
    reason: str = ""
    violation: Violation | None = None
    wall_s: float = 0.0

    @property
    def note(self) -> str:
        """What to show beside the name in a line: the rule, or why nothing can be said of it."""
        return self.reason if self.status in (Status.EXPECTED, Status.UNTESTED) else self.rule

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data, the violation as its text."""
        return {
            "check": self.check,
            "rule": self.rule,
            "status": str(self.status),
            "reason": self.reason,
            "wall_s": round(self.wall_s, 3),
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> CheckOutcome:
        """Return the outcome that `to_dict` wrote, without the violation."""
        return cls(**plain | {"status": Status(plain["status"])})


@dataclass
class Verdict:
    """All outcomes of one policy, in the order of the checks."""

    policy: str
    outcomes: list[CheckOutcome] = field(default_factory=list)

    @property
    def failures(self) -> list[CheckOutcome]:
        """The outcomes of failed checks, those that were declared left out."""
        return [outcome for outcome in self.outcomes if outcome.status is Status.FAILED]

    @property
    def holds(self) -> bool:
        """Whether no check failed."""
        return not self.failures

    def __str__(self) -> str:
        width = max((len(outcome.check) for outcome in self.outcomes), default=0)
        lines = [_line(outcome, width) for outcome in self.outcomes]
        return "\n".join([f"{self.policy}\n", *lines, *self.explanations(), "", self.sentence()])

    def explanations(self) -> list[str]:
        """Return a text for each failure: the check's name, and below it what happened."""
        return [f"\n{outcome.check}\n{_indented(outcome.reason)}" for outcome in self.failures]

    def sentence(self) -> str:
        """Return the verdict in a sentence."""
        names = ", ".join(outcome.check for outcome in self.failures)
        counted = {status: sum(outcome.status is status for outcome in self.outcomes) for status in Status}
        others = ", ".join(
            f"{counted[s]} {s}" for s in Status if counted[s] and s not in (Status.PASSED, Status.FAILED)
        )
        held = f"{count(counted[Status.PASSED], 'check')} passed{f', {others}' if others else ''}."
        return f"Failed: {names}. {held}" if names else f"All that it claims holds: {held}"


def _line(outcome: CheckOutcome, width: int) -> str:
    return f"  {outcome.status:<16}  {outcome.check:<{width}}  {outcome.note}"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
