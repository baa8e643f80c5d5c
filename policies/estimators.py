"""Estimators of run time for planning. Jobs are killed by their request all the same."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import deque

from hpcsim.errors import HpcsimError
from hpcsim.estimator import Estimator
from hpcsim.job import Job, JobOutcome
from hpcsim.system import System

CORRECTIONS_S = (60, 300, 900, 1800, *(hours * 3600 for hours in (1, 2, 5, 10, 20, 50, 100)))
"""By how much a prediction that was too short is raised, each time a step more.

Source: Tsafrir, Etsion and Feitelson, IEEE TPDS 18(6), 2007.
"""


class Requested(Estimator):
    """The requested time: what the user asked for, and what the machine enforces."""

    def limit_s(self, job: Job, system: System) -> float:
        """Return the job's limit in seconds."""
        return job.limit_s


class Actual(Estimator):
    """The true run time, cut at the limit: perfect knowledge, which no real scheduler has."""

    clairvoyant = True

    def limit_s(self, job: Job, system: System) -> float:
        """Return the seconds that the job will truly run."""
        return min(system.true_run_time_s(job), job.limit_s)


class History(Estimator):
    """Base of estimators by the run times of a user's ended jobs, however they ended.

    A prediction is made once, at arrival, is at least one second, and never exceeds the request.
    Where nothing is known of the user it is the request.
    """

    def reset(self) -> None:
        """Forget all users and predictions."""
        self._runs_s: dict[int | str, deque[float]] = {}
        self._predicted_s: dict[int, float] = {}

    def on_submit(self, job: Job, system: System) -> None:
        """Predict by what is known at arrival."""
        self._predicted_s[job.row] = self._predict_s(job)

    def on_change(self, old: Job, new: Job, system: System) -> None:
        """Predict anew for a changed request."""
        self._predicted_s[new.row] = self._predict_s(new)

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """Learn the run time of a job that ran."""
        self._predicted_s.pop(job.row, None)
        if job.user_id is not None and outcome.attempts:
            self._runs_s.setdefault(job.user_id, deque(maxlen=self.remembered())).append(outcome.run_s)

    def limit_s(self, job: Job, system: System) -> float:
        """Return the prediction in seconds."""
        return self._predicted_s.get(job.row) or self._predict_s(job)

    def expired(self, job: Job, system: System) -> float:
        """Return the request, the one bound that is left."""
        return job.limit_s

    @abstractmethod
    def remembered(self) -> int:
        """Return how many of a user's last run times are kept."""

    @abstractmethod
    def typical_s(self, runs_s: deque[float]) -> float | None:
        """Return the estimate from a user's last run times, the newest last, or None if they are too few."""

    def _predict_s(self, job: Job) -> float:
        runs_s = None if job.user_id is None else self._runs_s.get(job.user_id)
        typical_s = self.typical_s(runs_s) if runs_s else None
        return job.limit_s if typical_s is None else min(max(typical_s, 1), job.limit_s)


class LastTwo(History):
    """The mean run time of the user's last two ended jobs, at most the request; raised step by step if too short.

    Source: Tsafrir, Etsion and Feitelson, IEEE TPDS 18(6), 2007.
    """

    def remembered(self) -> int:
        """Return two."""
        return 2

    def typical_s(self, runs_s: deque[float]) -> float | None:
        """Return the mean of two run times in seconds; fewer are too few."""
        return sum(runs_s) / 2 if len(runs_s) == 2 else None

    def expired(self, job: Job, system: System) -> float:
        """Return the prediction raised by as many of `CORRECTIONS_S` as it takes, at most the request."""
        run_s = system.now_s - system.started_s(job)
        estimate_s = self.limit_s(job, system)
        for correction_s in CORRECTIONS_S:
            estimate_s += correction_s
            if estimate_s > run_s:
                return min(estimate_s, job.limit_s)
        return job.limit_s


class UserQuantile(History):
    """A quantile of the run times of the user's last jobs, at most the request.

    Parameters:
        quantile: 0.9 is the run time that nine of ten did not exceed.
        jobs: how many of the user's ended jobs count, the last ones.
        at_least: with fewer ended jobs the request stands.
    """

    quantile: float = 0.9
    jobs: int = 50
    at_least: int = 5

    def __post_init__(self) -> None:
        if not 0 <= self.quantile <= 1:
            raise HpcsimError(f"quantile is {self.quantile!r}.", "Give a number from 0 to 1.")
        are_whole = all(isinstance(number, int) for number in (self.jobs, self.at_least))
        if not are_whole or not 1 <= self.at_least <= self.jobs:
            raise HpcsimError(
                f"at_least is {self.at_least!r} and jobs {self.jobs!r}.", "Give whole numbers, 1 <= at_least <= jobs."
            )

    def remembered(self) -> int:
        """Return how many run times are kept."""
        return self.jobs

    def typical_s(self, runs_s: deque[float]) -> float | None:
        """Return the quantile in seconds: the smallest run time that the share *quantile* did not exceed."""
        if len(runs_s) < self.at_least:
            return None
        ascending = sorted(runs_s)
        return ascending[max(math.ceil(self.quantile * len(ascending)) - 1, 0)]
