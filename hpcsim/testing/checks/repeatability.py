"""Does the policy decide by what it is given alone: its parameters, the seed and the run so far?"""

from __future__ import annotations

from typing import Any

from hpcsim.errors import HpcsimError
from hpcsim.testing.checks.check import PolicyCheck
from hpcsim.testing.examination import Examination, first_difference
from hpcsim.testing.rebuild import decisions_elsewhere
from hpcsim.testing.sampling import edges, samples
from hpcsim.testing.search import Foreign
from hpcsim.testing.trial import Scenario, attempt
from hpcsim.testing.violation import Violation


def _find_other_decisions(examination: Examination) -> Violation | None:
    def judge(scenario: Scenario, _: Any) -> Violation | None:
        first, again = examination.first_run(scenario), examination.attempt(scenario)
        at = first_difference(first.steps, again.steps)
        if at is None:
            examination.fault_of(first, "same-seed")
            return None
        return examination.step_violation(
            f"Two runs with seed {examination.seed} differ from decision {at + 1} on.",
            scenario,
            again.steps,
            at,
            "Draw random numbers from the rng that reset() gets, and iterate over nothing unordered.",
        )

    return examination.search(judge)


def _find_memory(examination: Examination) -> Violation | None:
    examination.need_repeatable()
    before = samples()[-1]

    def judge(scenario: Scenario, _: Any) -> Violation | None:
        fresh = examination.first_run(scenario)
        examination.fault_of(fresh, "reset-forgets")
        used = examination.subject.make()
        attempt(used, before, seed=examination.seed)
        again = attempt(used, scenario, seed=examination.seed)
        at = first_difference(fresh.steps, again.steps)
        if (at is None and again.fault is None) or not examination.is_steady_on(scenario):
            return None
        fault = f": {again.fault.error}" if again.fault else "."
        return examination.step_violation(
            f"After a run of another workload it decides otherwise than a new one does{fault}",
            scenario,
            fresh.steps,
            len(fresh.steps) if at is None else at,
            "Set all state in reset(), and none in the constructor or the class.",
        )

    return examination.search(judge)


def _find_other_self(examination: Examination) -> Violation | None:
    examination.need_repeatable()
    scenarios = (*edges("one-job"), *edges("equal-submits"), *samples())
    here = [examination.first_run(scenario) for scenario in scenarios]
    if all(trial.fault for trial in here):
        raise Foreign(examination.owner_of(here[0].fault))  # type: ignore[arg-type]
    try:
        elsewhere = decisions_elsewhere(examination.subject.spec(), scenarios, examination.seed)
    except HpcsimError as error:
        return Violation(error.cause, remedy=error.remedy)
    for trial, steps in zip(here, elsewhere, strict=True):
        at = first_difference(trial.steps, steps)
        if at is not None:
            return examination.step_violation(
                "Made anew from its class and parameters in another process, it decides otherwise.",
                trial.scenario,
                trial.steps,
                at,
                "Keep what it decides by in parameters (annotated attributes), and do not depend on the order of sets.",
            )
    return None


CHECKS = (
    PolicyCheck("same-seed", "decides alike with the same seed", _find_other_decisions),
    PolicyCheck("reset-forgets", "forgets earlier runs in reset()", _find_memory),
    PolicyCheck("rebuilt-elsewhere", "can be made anew in another process", _find_other_self),
)
