"""Does the policy live with the smallest, the widest and the simultaneous?"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from hpcsim.decision import WakeAt
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import HpcsimError
from hpcsim.testing.checks.check import PolicyCheck
from hpcsim.testing.examination import Examination
from hpcsim.testing.sampling import edges, samples, scenario_of
from hpcsim.testing.search import Foreign, Untested
from hpcsim.testing.trial import Moment, Scenario
from hpcsim.testing.violation import Violation

_MANY = 1_000


def _tolerates(name: str, rule: str) -> PolicyCheck:
    """Return the check that runs the scenarios of one edge."""
    return PolicyCheck(name, rule, lambda examination: _first_fault(examination, name, edges(name)))


def _first_fault(examination: Examination, name: str, scenarios: Iterable[Scenario]) -> Violation | None:
    """Return the first fault that is the check's own, the smallest scenario first."""
    owners, judged = [], 0
    for scenario in scenarios:
        try:
            violation = examination.fault_of(examination.first_run(scenario), name)
        except Foreign as foreign:
            owners.append(foreign.owner)
            continue
        if violation is not None:
            return violation
        judged += 1
    if owners and not judged:
        raise Untested(owners[0])
    return None


def _find_on_empty_queue(examination: Examination) -> Violation | None:
    """Ask the policy on an idle machine with nobody waiting; then look at what it does when the last job has gone."""
    scenario = scenario_of(2, [])
    return _asked_on_empty(examination, scenario) or _first_fault(
        examination, "empty-queue", (scenario, *edges("one-job"), *edges("equal-submits"), *samples())
    )


def _asked_on_empty(examination: Examination, scenario: Scenario) -> Violation | None:
    policy = examination.subject.make()
    try:
        system = Simulation(*scenario, policy, seed=examination.seed).system
    except HpcsimError:
        return None  # reset() fails, which another check reports
    moment, sentence = Moment.of(system), ""
    try:
        decisions = list(islice(policy.schedule(system) or (), _MANY))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the find
        sentence = f"Asked with nobody waiting, it raised {type(error).__name__}: {error}."
    else:
        wrong = [decision for decision in decisions if not isinstance(decision, WakeAt)]
        sentence = f"Asked with nobody waiting, it decided {wrong[0]!r}." if wrong else ""
    if not sentence:
        return None
    return Violation(sentence, scenario, moment, remedy="Yield nothing where system.queue is empty.")


CHECKS = (
    PolicyCheck("empty-queue", "decides nothing where nobody waits", _find_on_empty_queue),
    _tolerates("one-job", "runs a single job"),
    _tolerates("widest-job", "runs a job as wide as the machine"),
    _tolerates("equal-submits", "runs jobs submitted at one instant"),
)
