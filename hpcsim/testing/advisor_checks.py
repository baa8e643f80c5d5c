"""Does my advisor keep the rules? Each check is a rule, tried on moldable jobs whose truth only the engine knows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from time import perf_counter
from typing import Literal

import numpy as np

from hpcsim import registry
from hpcsim.advisor import Advisor
from hpcsim.errors import HpcsimError, InvalidArgument, PolicyCheckFailed
from hpcsim.results.run import simulate
from hpcsim.testing.advisor_trials import (
    ADVICE,
    MOST_LIMIT_S,
    Trial,
    machine,
    moldable_jobs,
    tried,
    with_another_future,
)
from hpcsim.testing.verdict import CheckOutcome, Status, Verdict
from hpcsim.testing.verification import verify

JOBS = 150


class Examinee:
    """An advisor under test, with one run of it that all checks look at."""

    def __init__(self, advisor: Advisor, jobs: int, seed: int) -> None:
        self.advisor = advisor
        self.jobs, self.seed = jobs, seed

    @cached_property
    def trial(self) -> Trial:
        """The run."""
        return tried(self.advisor, moldable_jobs(self.jobs, self.seed), self.seed)


def _answers(examinee: Examinee) -> str:
    refused = int((examinee.trial.advice["advice"] == "kept-error").sum())
    errors = examinee.trial.result.provenance["advice"]["errors_of_hooks"]
    if not refused + errors:
        return ""
    return f"{refused} answers were refused, {errors} hooks raised. {examinee.trial.first_error}"


def _keeps_limits(examinee: Examinee) -> str:
    jobs = examinee.trial.result.jobs
    jobs = jobs[(jobs["advice"] == "advised") & (jobs["attempts"] == 1)]
    short = jobs[jobs["limit_s"] < jobs["requested_limit_s"]]
    if len(short):
        job = short.iloc[0]
        limits = f"{job['limit_s']:g} s and had asked for {job['requested_limit_s']:g} s"
        return f"Job {job['job_id']} got a limit of {limits}."
    long = jobs[jobs["limit_s"] > MOST_LIMIT_S]
    return f"Job {long.iloc[0]['job_id']} got a limit beyond its partition's." if len(long) else ""


def _sees_no_future(examinee: Examinee) -> str:
    first = examinee.trial
    submit_s = first.workload.columns["submit_s"]
    for share in (0.3, 0.7):
        now_s = float(np.quantile(submit_s, share))
        other = tried(examinee.advisor, with_another_future(first, now_s), examinee.seed)
        known = submit_s <= now_s
        columns = ["nodes", "limit_s", "advice"]
        is_final = known & (first.advice["attempts"] == 1).to_numpy() & (other.advice["attempts"] == 1).to_numpy()
        differ = (first.advice[columns] != other.advice[columns]).any(axis=1).to_numpy() & is_final
        if differ.any():
            job_id = first.workload.columns["job_id"][differ][0]
            return f"Advice about job {job_id} changed when only what happened after t = {now_s:g} s did."
    return ""


def _repeats(examinee: Examinee) -> str:
    again = tried(examinee.advisor, examinee.trial.workload, examinee.seed)
    same = again.advice.equals(examinee.trial.advice)
    return "" if same else "The same seed gave other advice the second time: use the generator that reset gets."


def _forgets(examinee: Examinee) -> str:
    runs = [simulate(examinee.trial.workload, machine(), "easy", advisor=examinee.advisor) for _ in range(2)]
    first, second = (run.jobs.sort_values("row")[ADVICE].reset_index(drop=True) for run in runs)
    return (
        ""
        if first.equals(second)
        else "A second run of the same object gave other advice: reset must forget the first."
    )


def _gives_possible_results(examinee: Examinee) -> str:
    try:
        verify(examinee.trial.result, examinee.trial.workload, machine())
    except HpcsimError as error:
        return str(error)
    return ""


Finder = Callable[[Examinee], str]

ADVISOR_CHECKS: dict[str, tuple[str, Finder]] = {
    "answers": ("every answer is advice that the engine can use", _answers),
    "keeps-limits": ("no limit is under the request or over the partition's maximum", _keeps_limits),
    "sees-no-future": ("advice at t is unchanged when anything after t changes", _sees_no_future),
    "repeats": ("the same seed gives the same advice", _repeats),
    "forgets": ("reset forgets the run before", _forgets),
    "possible": ("what results is possible: nodes, times, energy", _gives_possible_results),
}
"""Name -> the rule in a line, and what looks for a violation."""


def check_advisor(
    advisor: Advisor | str, *, jobs: int = JOBS, seed: int = 0, on_fail: Literal["raise", "return"] = "raise"
) -> Verdict:
    """Check that *advisor*, an object or a registry name, keeps the rules of `ADVISOR_CHECKS`.

    It is tried on moldable jobs of the model ``synth-pm100`` on a crowded machine of 32 nodes. An advisor that
    is declared clairvoyant is not asked to see no future.

    Raises:
        PolicyCheckFailed: a check failed, and *on_fail* is ``"raise"``.
        InvalidArgument: *advisor* is none.
    """
    made = registry.make("advisors", advisor) if isinstance(advisor, str) else advisor
    if not isinstance(made, Advisor):
        raise InvalidArgument(f"{advisor!r} is no advisor.", "Give an object of a class that inherits hpcsim.Advisor.")
    examinee = Examinee(made, jobs, seed)
    verdict = Verdict(repr(made))
    for name, (rule, find) in ADVISOR_CHECKS.items():
        began_s = perf_counter()
        if name == "sees-no-future" and made.clairvoyant:
            verdict.outcomes.append(CheckOutcome(name, rule, Status.NOT_DECLARED, "it is clairvoyant"))
            continue
        fault = find(examinee)
        status = Status.FAILED if fault else Status.PASSED
        verdict.outcomes.append(CheckOutcome(name, rule, status, fault, None, perf_counter() - began_s))
    if on_fail == "raise" and not verdict.holds:
        raise PolicyCheckFailed(f"{verdict.policy} breaks the rules of advisors.\n" + "\n".join(verdict.explanations()))
    return verdict
