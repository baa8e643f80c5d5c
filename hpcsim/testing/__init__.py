"""Does my policy keep the rules? Checks, Hypothesis strategies and a state machine for one's own tests.

`check_policy` runs every check of `CHECKS` on a policy, `parametrize_policy_checks` makes a pytest
test of each, `verify` re-checks a result without the engine; `check_advisor` and `check_surrogate`
do for advisors and surrogates what `check_policy` does for policies. Strategies and `SimulationMachine` are
for properties of one's own. Hypothesis is loaded when something needs it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hpcsim.testing.advisor_checks import ADVISOR_CHECKS, check_advisor
from hpcsim.testing.checks import CHECKS, PolicyCheck
from hpcsim.testing.conformance import check_policy
from hpcsim.testing.extra import need_hypothesis
from hpcsim.testing.pytest_checks import parametrize_policy_checks
from hpcsim.testing.specification import PolicySpec
from hpcsim.testing.surrogate_checks import SURROGATE_CHECKS, check_surrogate
from hpcsim.testing.verdict import CheckOutcome, Status, Verdict
from hpcsim.testing.verification import verify

if TYPE_CHECKING:
    from hpcsim.testing.simulation_machine import SimulationMachine
    from hpcsim.testing.strategies import clusters, jobs, scenarios, workloads

# fmt: off
__all__ = [  # noqa: RUF022 - grouped by use; each group is sorted
    # check a policy
    "CHECKS", "CheckOutcome", "PolicyCheck", "PolicySpec", "Status", "Verdict", "check_policy",
    "parametrize_policy_checks",
    # check an advisor, a surrogate
    "ADVISOR_CHECKS", "SURROGATE_CHECKS", "check_advisor", "check_surrogate",
    # check a result
    "verify",
    # write properties
    "SimulationMachine", "clusters", "jobs", "scenarios", "workloads",
]
# fmt: on

_HOME = {
    "SimulationMachine": "simulation_machine",
    "clusters": "strategies",
    "jobs": "strategies",
    "scenarios": "strategies",
    "workloads": "strategies",
}
"""Names that need Hypothesis, and the modules that define them."""


def __getattr__(name: str) -> Any:
    """Import what needs Hypothesis when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module 'hpcsim.testing' has no attribute '{name}'")
    need_hypothesis()
    return getattr(importlib.import_module(f"hpcsim.testing.{_HOME[name]}"), name)
