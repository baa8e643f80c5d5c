"""The checks that a policy goes through, in the order in which they are run and shown."""

from __future__ import annotations

from hpcsim.testing.checks import conduct, edges, foresight, guarantees, invariances, repeatability, view
from hpcsim.testing.checks.check import PolicyCheck

CHECKS: tuple[PolicyCheck, ...] = (
    *conduct.CHECKS,
    *edges.CHECKS,
    *view.CHECKS,
    *repeatability.CHECKS,
    *foresight.CHECKS,
    *guarantees.CHECKS,
    *invariances.CHECKS,
)
"""Every check. `PolicyCheck.name` is what expected failures are declared by."""

__all__ = ["CHECKS", "PolicyCheck"]
