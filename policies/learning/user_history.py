"""What users' ended jobs tell about the run times of those that wait. Known at the instant, never the future."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.job import Job
from hpcsim.policies.learning.features import LOG_SCALE

REMEMBERED = 10
"""A user's ended jobs that count."""

REMEMBERED_OF_ALL = 100
"""Ended jobs of anybody that count in the machine's own mean."""

RATIO, COUNT, WAITING, SHIFT, LAST_TWO = range(5)
"""Rows of `UserHistory.table`: in the order of the features that are made of them, the last of a job."""

UNKNOWN = 0
"""Number of the user of jobs that name none: it has no history."""


class UserHistory:
    """Ended jobs by user, as columns that a whole window is looked up in at once.

    Attributes:
        table: float64 [5, users], a column a user: mean log10(run / request) / 3 within -1 to 1;
            log10(1 + ended jobs) / 3; waiting jobs; the mean again, / `LOG_SCALE`; log10 of the mean run of
            the last two / `LOG_SCALE`, ``inf`` where there are not two.
        log_ratio: mean log10(run / request) of the last jobs of all users, / 3.
    """

    def __init__(self) -> None:
        self._number: dict[Any, int] = {}
        self._ratios: list[deque[float]] = [deque()]
        self._runs_s: list[deque[float]] = [deque()]
        self._ended: list[int] = [0]
        self._all: deque[float] = deque(maxlen=REMEMBERED_OF_ALL)
        self.log_ratio = 0.0
        self.table = _blank(64)

    def number(self, job: Job) -> int:
        """Return the number of a job's user, a new one for a user not seen before."""
        if job.user_id is None:
            return UNKNOWN
        number = self._number.get(job.user_id)
        if number is None:
            number = self._number[job.user_id] = len(self._ratios)
            self._ratios.append(deque(maxlen=REMEMBERED))
            self._runs_s.append(deque(maxlen=2))
            self._ended.append(0)
            if number >= self.table.shape[1]:
                self._grow()
        return number

    def wait(self, number: int, change: int) -> None:
        """Count a job of a user in (1) or out (-1) of the queue; nobody counts those of the unknown."""
        if number != UNKNOWN:
            self.table[WAITING, number] += change

    def learn(self, ended: Sequence[tuple[Job, float]]) -> None:
        """Learn from jobs that have run, each with its run time in seconds, in the order in which they ended."""
        changed = set()
        for job, run_s in ended:
            ratio = math.log10(max(run_s, 1) / max(job.limit_s, 1)) if job.limit_s < math.inf else 0.0
            self._all.append(ratio)
            number = self.number(job)
            if number != UNKNOWN:
                changed.add(number)
                self._ratios[number].append(ratio)
                self._runs_s[number].append(run_s)
                self._ended[number] += 1
        if ended:
            self.log_ratio = _clipped(sum(self._all) / len(self._all))
        for number in changed:
            self.table[:, number] = self._describe(number)

    def _describe(self, number: int) -> tuple[float, ...]:
        """Return a column of the table."""
        ratios, runs_s = self._ratios[number], self._runs_s[number]
        mean = sum(ratios) / len(ratios)
        last_two = math.log10(max(sum(runs_s) / 2, 1)) / LOG_SCALE if len(runs_s) == 2 else math.inf
        count = min(math.log10(1 + self._ended[number]) / 3, 1)
        return (_clipped(mean), count, float(self.table[WAITING, number]), mean / LOG_SCALE, last_two)

    def _grow(self) -> None:
        self.table = np.concatenate([self.table, _blank(self.table.shape[1])], axis=1)


def _blank(users: int) -> NDArray[np.float64]:
    """Return the columns of users of whom nothing is known."""
    table = np.zeros((LAST_TWO + 1, users))
    table[LAST_TWO] = math.inf
    return table


def _clipped(mean: float) -> float:
    return min(max(mean / 3, -1.0), 1.0)
