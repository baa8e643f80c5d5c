"""Does the policy decide by the contract, and does every run come to its end?"""

from __future__ import annotations

from hpcsim.policy import GUARANTEES, INVARIANCES
from hpcsim.testing.checks.check import PolicyCheck
from hpcsim.testing.examination import Examination
from hpcsim.testing.violation import Violation


def _own_faults(name: str, rule: str) -> PolicyCheck:
    """Return the check that fails where a run ends with a fault of its own."""

    def find(examination: Examination) -> Violation | None:
        return examination.search(lambda scenario, _: examination.fault_of(examination.first_run(scenario), name))

    return PolicyCheck(name, rule, find)


def _find_unknown_claims(examination: Examination) -> Violation | None:
    policy = examination.subject.policy
    claims = (("guarantees", policy.guarantees, GUARANTEES), ("invariances", policy.invariances, INVARIANCES))
    for what, declared, known in claims:
        entries = (declared,) if isinstance(declared, str) else declared
        for name in entries:
            if name not in known or isinstance(declared, str):
                return Violation(
                    f"It declares {what} = {declared!r}.",
                    remedy=f"Give a tuple of names out of: {', '.join(known)}.",
                )
    return None


CHECKS = (
    PolicyCheck("known-claims", "declares only what there is to declare", _find_unknown_claims),
    _own_faults("drains", "brings every workload to its end"),
    _own_faults("legal-decisions", "decides on waiting jobs, for times to come"),
    _own_faults("never-over-allocates", "starts jobs on free nodes only"),
)
