"""Do the declared invariances hold: is a shifted or a stretched workload scheduled alike?"""

from __future__ import annotations

from hpcsim.testing.checks.check import PolicyCheck
from hpcsim.testing.examination import Examination, first_difference
from hpcsim.testing.search import NotDeclared
from hpcsim.testing.trial import Scenario
from hpcsim.testing.violation import Violation
from hpcsim.workload import Workload


def _shifted(workload: Workload, by_s: int) -> Workload:
    return Workload(workload.columns | {"submit_s": workload.columns["submit_s"] + by_s})


def _stretched(workload: Workload, factor: int) -> Workload:
    times = ("submit_s", "run_s", "limit_s")
    return Workload(workload.columns | {name: workload.columns[name] * factor for name in times})


def _find_change(examination: Examination, name: str) -> Violation | None:
    """Return a workload whose schedule changes otherwise than its times."""
    if name not in examination.subject.policy.invariances:
        raise NotDeclared("not declared")
    examination.need_repeatable()
    is_shift = name == "time-shift"

    def judge(scenario: Scenario, amount: int) -> Violation | None:
        trial = examination.first_run(scenario)
        examination.fault_of(trial, name)
        changed = (_shifted if is_shift else _stretched)(scenario.workload, amount)
        again = examination.attempt(Scenario(changed, scenario.cluster))
        expected = [
            step._replace(now_s=step.now_s + amount if is_shift else step.now_s * amount) for step in trial.schedule
        ]
        at = first_difference(expected, again.schedule)
        if at is None or not examination.is_steady_on(scenario):
            return None
        place = trial.steps.index(trial.schedule[at]) if at < len(trial.schedule) else len(trial.steps)
        how = f"{amount} s later" if is_shift else f"{amount} times as long and as far apart"
        return examination.step_violation(
            f"The same jobs, {how}, are scheduled otherwise.",
            scenario,
            trial.steps,
            place,
            f"Decide by differences of times, or do not declare '{name}'."
            if is_shift
            else f"Decide by ratios of times, or do not declare '{name}'.",
        )

    from hypothesis import strategies as st

    return examination.search(judge, st.integers(1, 10**6) if is_shift else st.integers(2, 50))


CHECKS = (
    PolicyCheck("time-shift", "schedules alike what comes later as a whole", lambda e: _find_change(e, "time-shift")),
    PolicyCheck("time-scale", "schedules alike what takes k times as long", lambda e: _find_change(e, "time-scale")),
)
