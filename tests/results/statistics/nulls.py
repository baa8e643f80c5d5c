"""Series of paired differences without a true difference, correlated as those of queues are.

Each null is a function of a generator that returns old values, new values and the week of each job.
Both sides have the same distribution, so that the true difference of any statistic is 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Null = Callable[[np.random.Generator], tuple[Values, Values, NDArray[np.int64]]]

WARM_UP = 2_000


def lindley_wait_s(gap_s: Values, service_s: Values) -> Values:
    """Return the waits of a queue with one server: W' = max(0, W + service - gap), the empty queue first."""
    walk = np.concatenate([[0.0], np.cumsum(service_s[:-1] - gap_s[1:])])
    return walk - np.minimum.accumulate(walk)


def queue(weeks: int, load: float, jobs: int) -> Null:
    """Return a null of two queues with the same arrivals and two draws of the same service times.

    Poisson arrivals, *jobs* a week; log-normal service times (sigma 1). Waits of neighbouring jobs
    hardly differ, and at a high load those of neighbouring weeks do not differ much.
    """

    def draw(generator: np.random.Generator) -> tuple[Values, Values, NDArray[np.int64]]:
        count = WARM_UP + weeks * jobs
        gap_s = generator.exponential(1.0, count)
        old, new = (lindley_wait_s(gap_s, load * generator.lognormal(-0.5, 1.0, count))[WARM_UP:] for _ in "ab")
        arrival_s = np.cumsum(gap_s)[WARM_UP:]
        week = ((arrival_s - arrival_s[0]) / jobs).astype(int)
        is_inside = week < weeks
        return old[is_inside], new[is_inside], week[is_inside]

    return draw


def autoregression(weeks: int, phi: float, jobs: int = 50) -> Null:
    """Return a null whose weekly differences are an AR(1) series, with noise of each job and random numbers of jobs."""

    def draw(generator: np.random.Generator) -> tuple[Values, Values, NDArray[np.int64]]:
        level = np.zeros(weeks)
        level[0] = generator.normal(0, 1 / np.sqrt(1 - phi**2))
        for week in range(1, weeks):
            level[week] = phi * level[week - 1] + generator.normal()
        week = np.repeat(np.arange(weeks), generator.poisson(jobs, weeks) + 1)
        return np.zeros(len(week)), level[week] + generator.normal(0, 2, len(week)), week

    return draw
