"""Estimators that learn from a user's past, and EASY++ on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hpcsim.errors import HpcsimError
from hpcsim.estimator import Estimator
from hpcsim.policies import EASY, Actual, Backfill, EasyPlusPlus, LastTwo, ShortestPredicted, UserQuantile
from hpcsim.policies.estimators import CORRECTIONS_S
from hpcsim.recorder import Recorder
from hpcsim.workload import Workload
from tests.schedules import jobs, outcomes, run, starts

HOUR_S = 3600


class Estimates(Recorder):
    """What an estimator says of each waiting job at the end of each pass, and of running ones."""

    def __init__(self, estimator: Estimator) -> None:
        self.estimator = estimator
        self.of_waiting: dict[Any, float] = {}

    def on_pass(self, system: Any) -> None:
        """Ask."""
        for job in system.queue:
            self.of_waiting[job.job_id] = self.estimator.limit_s(job, system)


def by_users(table: str, users: list[Any]) -> Workload:
    workload = jobs(table)
    return Workload(workload.columns | {"user_id": np.array(users)})


# One node: everybody waits for the one before. Ends are at 10, 40 and 41.
PAST = "a 0 10 99 1\n b 0 30 99 1\n c 0 1 1 1\n d 20 5 99 1\n e 41 5 99 1\n f 41 5 12 1\n g 41 5 99 1"
USERS = [1, 1, 2, 1, 1, 1, 2]


def test_last_two_is_their_mean_at_arrival_and_at_most_the_request() -> None:
    """d comes when one job of user 1 has ended: too few. e is predicted (10 + 30)/2, f no more than its 12."""
    estimator = LastTwo()
    seen = Estimates(estimator)
    run(by_users(PAST, USERS), 1, Backfill(estimates=estimator), recorders=[seen])
    assert seen.of_waiting == {"b": 99, "c": 1, "d": 99, "e": 20, "f": 12, "g": 99}


def test_quantile_is_a_run_time_that_the_share_did_not_exceed() -> None:
    """Of 10 and 30 the median is 10, the 90 % quantile 30; user 2 has one job and needs two."""
    for quantile, expected in ((0.5, 10), (0.9, 30), (0.0, 10), (1.0, 30)):
        estimator = UserQuantile(quantile=quantile, at_least=2)
        seen = Estimates(estimator)
        run(by_users(PAST, USERS), 1, Backfill(estimates=estimator), recorders=[seen])
        assert (seen.of_waiting["e"], seen.of_waiting["f"], seen.of_waiting["g"]) == (expected, min(expected, 12), 99)


@pytest.mark.parametrize("options", [{"quantile": 1.5}, {"at_least": 0}, {"at_least": 9, "jobs": 8}])
def test_impossible_quantiles_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(HpcsimError, match="Give"):
        UserQuantile(**options)


def test_a_user_who_is_not_known_has_no_history() -> None:
    """-1 is "not known" in logs: those jobs do not share a past."""
    estimator = LastTwo()
    seen = Estimates(estimator)
    run(by_users(PAST, [-1] * 7), 1, Backfill(estimates=estimator), recorders=[seen])
    assert seen.of_waiting["e"] == 99


def test_actual_is_clairvoyance_and_says_so() -> None:
    """By limits c (30 s) would not end by b's shadow time of 20; in truth it takes 5."""
    workload = jobs("a 0 20 20 3\n b 1 10 10 4\n c 2 5 30 1")
    seer = EASY(estimates=Actual())
    assert starts(workload, 4, seer) == {"a": 0, "b": 20, "c": 2}
    assert starts(workload, 4, EASY()) == {"a": 0, "b": 20, "c": 30}
    assert (seer.clairvoyant, seer.guarantees, EASY().clairvoyant) == (True, (), False)


# x and y teach that user 1 runs for 100 s. Then r (request 10,000) runs 5,000 s on 3 of 4 nodes, h wants 4.
LESSON = "x 0 100 100 1\n y 0 100 100 1\n r 100 5000 10000 3\n h 101 10 10 4\n"


def test_easy_plus_plus_predicts_corrects_and_holds_a_pass_when_a_prediction_expires() -> None:
    """r is predicted to end at 200, so h's shadow time is 200 and q, of 250 s, has to wait at 102.

    At 200 r lives: 60 s more, until 260; then 300, until 560. The pass at 260, at which nothing else
    happens, finds that q's 250 s end by 560. By its request r would have kept h until 10,100, and q
    would have started at once.
    """
    workload = by_users(LESSON + "q 102 250 250 1", [1, 1, 1, 2, 3])
    assert starts(workload, 4, EasyPlusPlus()) == {"x": 0, "y": 0, "r": 100, "h": 5100, "q": 260}
    assert starts(workload, 4, EASY())["q"] == 102


def test_shortest_predicted_is_backfilled_first() -> None:
    """One node is left; p (request 90) is predicted 20 s by its user's past, s takes its request of 50: p first."""
    table = "x 0 20 99 1\n y 0 20 99 1\n r 20 5000 5000 3\n h 21 10 10 4\n s 22 50 50 1\n p 22 20 90 1"
    workload = by_users(table, [7, 7, 1, 2, 3, 7])
    blocked = by_users(table + "\n w 21 9 9 1", [7, 7, 1, 2, 3, 7, 4])
    assert starts(workload, 4, EasyPlusPlus())["p"] == 22
    assert starts(workload, 4, EasyPlusPlus())["s"] == 42
    assert starts(blocked, 4, EasyPlusPlus())["p"] == 30
    assert starts(blocked, 4, Backfill(backfill_order=ShortestPredicted()))["p"] == 30


def test_corrections_add_up_and_stop_at_the_request() -> None:
    """60, 300, 900, ... on top of each other; the request ends them, and the kill is at the request as ever."""

    class Clock:
        now_s = 0.0

        def started_s(self, job: Any) -> float:
            return 0

    estimator, clock = LastTwo(), Clock()
    estimator.reset()
    job = next(iter(jobs("a 0 1 40000 1").jobs()))
    estimator._predicted_s[job.row] = 100
    seen = []
    for _ in range(9):
        clock.now_s = seen[-1] if seen else 100
        seen.append(estimator.expired(job, clock))  # type: ignore[arg-type]
    sums = np.cumsum(CORRECTIONS_S) + 100
    assert seen == [*sums[sums < 40_000].tolist(), *[40_000] * (9 - int((sums < 40_000).sum()))]
    assert CORRECTIONS_S[-1] == 100 * HOUR_S


def test_easy_plus_plus_still_kills_at_the_request() -> None:
    workload = by_users("x 0 5 5 1\n y 5 5 5 1\n z 10 500 80 1\n w 11 5 5 1", [1, 1, 1, 1])
    assert outcomes(workload, 1, EasyPlusPlus())["z"].end_s == 90
