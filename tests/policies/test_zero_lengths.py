"""Jobs with a run time or a limit of zero, under every member of the family."""

from __future__ import annotations

from typing import Any

import pytest

from hpcsim.job import JobState
from hpcsim.policies import FCFS, SAF, SJF, Backfill
from hpcsim.policy import Policy
from tests.schedules import jobs, outcomes

KS: list[Any] = [0, 1, 2, 3, "all"]


@pytest.mark.parametrize("policy", [FCFS(), SJF(), SAF(), *[Backfill(reservations=k) for k in KS]], ids=repr)
def test_a_job_of_no_run_time_ends_where_it_starts(policy: Policy) -> None:
    """a ends at 0 on all nodes, which opens another round at 0: b starts there too."""
    a, b = outcomes(jobs("a 0 0 5 2\n b 0 7 7 2"), 2, policy).values()
    assert (a.start_s, a.end_s, a.state) == (0, 0, JobState.COMPLETED)
    assert (b.start_s, b.end_s, b.state) == (0, 7, JobState.COMPLETED)


@pytest.mark.parametrize("reservations", KS)
def test_a_limit_of_zero_kills_at_the_start(reservations: Any) -> None:
    """a would run 5 s and may run none: TIMEOUT at 0, and b starts at 0 in the next round."""
    a, b = outcomes(jobs("a 0 5 0 2\n b 0 7 7 2"), 2, Backfill(reservations=reservations)).values()
    assert (a.start_s, a.end_s, a.state) == (0, 0, JobState.TIMEOUT)
    assert (b.start_s, b.state) == (0, JobState.COMPLETED)


@pytest.mark.parametrize("reservations", KS)
def test_many_jobs_of_no_length_at_one_instant(reservations: Any) -> None:
    """Twenty of them in a row all start and end at 3."""
    table = "\n".join(f"j{number} 3 0 0 2" for number in range(20))
    for outcome in outcomes(jobs(table), 2, Backfill(reservations=reservations)).values():
        assert (outcome.start_s, outcome.end_s, outcome.state) == (3, 3, JobState.COMPLETED)
