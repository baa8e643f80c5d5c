"""Planning by estimates instead of limits; killing is by the limit all the same."""

from __future__ import annotations

from typing import Any

import pytest

from hpcsim.estimator import Estimator
from hpcsim.policies import Backfill
from tests.schedules import jobs, outcomes, starts


class Half(Estimator):
    """Half of the limit."""

    def limit_s(self, job: Any, system: Any) -> float:
        """Return it in seconds."""
        return job.limit_s / 2


class LastRunTime(Estimator):
    """The run time of the job that ended last, else the limit."""

    def reset(self) -> None:
        """Forget."""
        self.last_s: float | None = None
        self.states: list[str] = []

    def limit_s(self, job: Any, system: Any) -> float:
        """Return it in seconds."""
        return job.limit_s if self.last_s is None else self.last_s

    def on_end(self, job: Any, outcome: Any, system: Any) -> None:
        """Learn."""
        self.last_s = outcome.run_s
        self.states.append(outcome.state)


TABLE = "a 0 20 20 3\n b 1 10 10 4\n d 2 18 18 1"


@pytest.mark.parametrize(("estimates", "d"), [(None, 2), (Half(), 30)])
@pytest.mark.parametrize("reservations", [1, 2])
def test_the_shadow_time_follows_the_estimates(reservations: int, estimates: Any, d: float) -> None:
    """By limits a ends at 20 and d (2 + 18) by then: it starts. By halves a ends at 10 and d at 11: it waits for b.

    Past 10 a counts as ending one second later, which is no room for d either.
    """
    options = {"estimates": estimates} if estimates else {}
    policy = Backfill(reservations=reservations, **options)
    assert starts(jobs(TABLE), 4, policy) == {"a": 0, "b": 20, "d": d}


@pytest.mark.parametrize("reservations", [0, 1, 2, "all"])
def test_killing_is_by_the_limit(reservations: Any) -> None:
    """a would run 25 s, has a limit of 20 and an estimate of 10: it is killed at 20."""
    policy = Backfill(reservations=reservations, estimates=Half())
    result = outcomes(jobs("a 0 25 20 2\n b 1 3 8 2"), 2, policy)
    assert (result["a"].end_s, result["a"].state) == (20, "TIMEOUT")
    assert (result["b"].start_s, result["b"].end_s) == (20, 23)


def test_an_estimator_learns_from_ended_jobs_and_forgets_between_runs() -> None:
    """z runs 4 s of its 50; from its end on every job is planned for 4 s.

    a (limit 20) is then planned to end at 9, before it does, so that b's shadow time is 9. d, planned
    for 4 s at 6, would end at 10 and waits: until b, which starts when a ends at 25, has ended at 35.
    """
    policy = Backfill(estimates=LastRunTime())
    table = "z 0 4 50 1\n a 5 20 20 3\n b 6 10 10 4\n d 6 3 18 1"
    first = starts(jobs(table), 4, policy)
    assert first == {"z": 0, "a": 5, "b": 25, "d": 35}
    assert policy.estimates.states == ["COMPLETED"] * 4
    assert starts(jobs(table), 4, policy) == first
