"""Does the policy decide without knowing the future?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hpcsim.testing.checks.check import PolicyCheck
from hpcsim.testing.examination import Examination, first_difference
from hpcsim.testing.search import NotDeclared
from hpcsim.testing.trial import Scenario, Trial
from hpcsim.testing.violation import Violation
from hpcsim.workload import Workload


class Twist(NamedTuple):
    """Another future after *now_s*: run times become their distance from *pivot_s*, arrivals come *delay_s* later."""

    now_s: int
    pivot_s: int
    delay_s: int


def other_future(trial: Trial, twist: Twist) -> Workload:
    """Return the workload of *trial* with another future: what had happened by `Twist.now_s` happens alike.

    Jobs that have not ended by then get other run times, with which they have still not ended;
    jobs that have not arrived come later.
    """
    workload, now_s = trial.scenario.workload, twist.now_s
    started_s = {step.row: step.now_s for step in trial.steps if step.kind == "Start" and step.now_s <= now_s}
    submit_s, run_s = workload.columns["submit_s"].copy(), workload.columns["run_s"].copy()
    for row in range(len(workload)):
        if trial.end_s.get(row, now_s + 1) > now_s:
            least_s = now_s - started_s[row] + 1 if row in started_s else 0
            run_s[row] = max(abs(twist.pivot_s - run_s[row]), least_s)
    submit_s = np.where(submit_s > now_s, submit_s + twist.delay_s, submit_s)
    return Workload(workload.columns | {"submit_s": submit_s, "run_s": run_s})


def _find_foresight(examination: Examination) -> Violation | None:
    if examination.subject.policy.clairvoyant:
        raise NotDeclared("it declares itself clairvoyant")
    examination.need_repeatable()

    def judge(scenario: Scenario, twist: Twist) -> Violation | None:
        trial = examination.first_run(scenario)
        if trial.fault is not None:
            return examination.fault_of(trial, "sees-no-future")
        changed = Scenario(other_future(trial, twist), scenario.cluster)
        by_now = [step for step in trial.steps if step.now_s <= twist.now_s]
        again = [step for step in examination.attempt(changed).steps if step.now_s <= twist.now_s]
        at = first_difference(by_now, again)
        if at is None or not (examination.is_steady_on(scenario) and examination.is_steady_on(changed)):
            return None
        columns = changed.workload.columns
        return examination.step_violation(
            f"What happens only after t = {twist.now_s} s changes a decision made by then. It is another one where the "
            f"run times are {columns['run_s'].tolist()} and the submits {columns['submit_s'].tolist()}.",
            scenario,
            trial.steps,
            at,
            "Decide by what the view shows.",
        )

    from hypothesis import strategies as st

    return examination.search(judge, st.builds(Twist, st.integers(0, 20), st.integers(0, 12), st.integers(1, 30)))


CHECKS = (PolicyCheck("sees-no-future", "decides without what is still to come", _find_foresight),)
