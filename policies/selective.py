"""Selective reservations: a job gets one once it has waited long for its size.

Source: Srinivasan, Kettimuthu, Subramani and Sadayappan, "Selective reservation strategies for
backfill job scheduling", JSSPP 2002.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.decision import Decision, Reserve, Start
from hpcsim.errors import HpcsimError
from hpcsim.estimator import Estimator
from hpcsim.job import Job
from hpcsim.listener import Listener
from hpcsim.policies.backfill_options import check_kind
from hpcsim.policies.composition import declare, each_once
from hpcsim.policies.estimators import Requested
from hpcsim.policies.identical_nodes import need_identical_nodes
from hpcsim.policies.orders import FCFS
from hpcsim.policy import Order, Policy
from hpcsim.system import System


class Selective(Policy):
    """Backfilling that reserves only for jobs whose expansion factor has passed a threshold.

    The expansion factor of a waiting job is (wait + planned run time) / planned run time. Jobs past
    the threshold are given reservations, derived anew at each pass; all others start, in order,
    where there is room beside them.

    Parameters:
        order: who comes first, among the jobs with a reservation and among those without.
        threshold: the expansion factor from which on a job has a reservation; 1: all jobs have one.
        estimates: how long jobs are planned to run.

    Source: Srinivasan, Kettimuthu, Subramani and Sadayappan, JSSPP 2002.
    """

    order: Order = field(default_factory=FCFS)
    threshold: float = 2.0
    estimates: Estimator = field(default_factory=Requested)

    invariances = ("time-shift",)

    def __post_init__(self) -> None:
        check_kind("order", self.order, Order)
        check_kind("estimates", self.estimates, Estimator)
        if not isinstance(self.threshold, int | float) or not self.threshold >= 1:
            raise HpcsimError(f"threshold is {self.threshold!r}.", "Give a number from 1.")
        declare(self, (self.order, self.estimates))

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything."""
        self.order.reset(cluster, rng)
        self.estimates.reset()

    def begin(self, system: System) -> None:
        """Refuse nodes that differ."""
        need_identical_nodes("Selective", system)

    def listeners(self) -> Sequence[Listener]:
        """Return the parts that hear what happens."""
        return each_once(self.estimates, *self.order.listeners())

    def schedule(self, system: System) -> Iterable[Decision]:
        """Reserve for those who have waited long, then start what fits beside them."""
        now_s = system.now_s
        waiting = list(self.order.in_order(system))
        is_overdue = {job.row: self._expansion(job, system) >= self.threshold for job in waiting}
        profile = system.profile(None if type(self.estimates) is Requested else self.estimates)
        for job in sorted(waiting, key=lambda job: not is_overdue[job.row]):
            length_s = self._length_s(job, system)
            if is_overdue[job.row]:
                start_s = profile.earliest_s(job.nodes, length_s)
                profile.take(start_s, start_s + length_s, job.nodes)
                yield from _start_or_reserve(job, start_s, system)
            elif job.nodes <= system.free and profile.least_free(now_s, now_s + length_s) >= job.nodes:
                profile.take(now_s, now_s + length_s, job.nodes)
                yield Start(job)

    def _expansion(self, job: Job, system: System) -> float:
        length_s = self._length_s(job, system)
        return 1.0 if length_s == math.inf else (system.now_s - job.submit_s + length_s) / length_s

    def _length_s(self, job: Job, system: System) -> float:
        """Return a job's planned run time, at least one second."""
        return max(self.estimates.limit_s(job, system), 1)


def _start_or_reserve(job: Job, start_s: float, system: System) -> Iterator[Decision]:
    """Start *job* if its reservation is for now, else record it where it has changed."""
    if start_s <= system.now_s and system.fits(job):
        yield Start(job)
    elif system.promised.get(job.row, math.inf) != start_s:
        yield Reserve(job, start_s)
