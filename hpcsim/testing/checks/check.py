"""One check: a name, a rule in a sentence, and a way to look for a violation."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from hpcsim.errors import PolicyCheckFailed
from hpcsim.testing.examination import EXAMPLES, Examination
from hpcsim.testing.search import Foreign, NotDeclared, Untested
from hpcsim.testing.subject import Subject
from hpcsim.testing.verdict import CheckOutcome, Status
from hpcsim.testing.violation import Violation


@dataclass(frozen=True)
class PolicyCheck:
    """A rule that policies keep. Call it with a policy, as a test does.

    Attributes:
        name: by which failures are reported and declared.
        rule: what holds of a policy that passes.
        find: returns a violation, or None.
    """

    name: str
    rule: str
    find: Callable[[Examination], Violation | None]

    def __repr__(self) -> str:
        return self.name

    def __call__(self, policy: Any, *, examples: int = EXAMPLES, seed: int = 0) -> None:
        """Check *policy*, given in any form that `check_policy` takes.

        Raises:
            PolicyCheckFailed: it breaks the rule.
            unittest.SkipTest: it does not claim what the rule is about, or its runs end before
                there is anything to say. pytest reports that as skipped.
        """
        outcome = self.examine(Examination(Subject(policy), examples=examples, seed=seed))
        if outcome.status is Status.FAILED:
            raise PolicyCheckFailed(f"{self.name}: {outcome.reason}")
        if outcome.status is not Status.PASSED:
            raise unittest.SkipTest(outcome.reason)

    def examine(self, examination: Examination) -> CheckOutcome:
        """Return what this check says of the policy of *examination*."""
        began_s = perf_counter()
        status, reason, violation = Status.PASSED, "", None
        try:
            violation = self.find(examination)
        except NotDeclared as claim:
            status, reason = Status.NOT_DECLARED, str(claim)
        except (Untested, Foreign) as owner:
            status, reason = Status.UNTESTED, f"cannot say: it fails {owner}"
        if violation is not None:
            status, reason = Status.FAILED, str(violation)
        return CheckOutcome(self.name, self.rule, status, reason, violation, perf_counter() - began_s)
