"""A bound on starvation in proportion to the load: who has waited longer than the work before it explains?

Orders that prefer small jobs let large ones wait without end. A fixed cap on waiting cures that on one
machine and is wrong on the next: too short where the queue is always long, too long where it never is.
So the measure is the queue itself: first come, first served would start a job once the work that was there
before it is done. That work is known by its limits, and by how much of their limits jobs have used so far.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.errors import InvalidArgument
from hpcsim.job import Job, JobOutcome
from hpcsim.listener import Listener
from hpcsim.policies.composition import declare, each_once
from hpcsim.policies.orders import SAF
from hpcsim.policy import Order
from hpcsim.system import System

PATIENCE = 2.0
"""Chosen on the first 60 % of the logs KTH and CTC: the largest of 1, 1.5, 2, 3 with which no job of PPO-GTrXL
waited longer than twice EASY's longest wait."""


class Patience(Listener):
    """Notes when each waiting job will be overdue.

    A job that arrives at *t* is overdue after *t* + *patience* x (u W / machine + own limit). W sums nodes x
    limit of the jobs that wait and nodes x time left, by its limit, of those that run; u is the share of the
    node-seconds they asked for that all jobs ended so far have used, 1 before the first. Where one of these
    limits is missing the job never is.

    Args:
        patience: 0 or more; ``inf``: nobody is ever overdue.

    Raises:
        InvalidArgument: it is no such number.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        if not isinstance(patience, int | float) or isinstance(patience, bool) or not patience >= 0:
            raise InvalidArgument(f"patience is {patience!r}.", "Give a number of 0 or more, or inf for no bound.")
        self._patience = patience

    def reset(self, cluster: Cluster) -> None:
        """Forget all jobs; the next run is on *cluster*."""
        self._nodes = cluster.nodes
        self._waiting: dict[int, Job] = {}
        self._due_s: dict[int, float] = {}
        self._by_due: list[tuple[float, int]] = []
        self._area_node_s = 0.0
        self._unlimited = 0
        self._used_node_s = self._asked_node_s = 0.0

    def on_submit(self, job: Job, system: System) -> None:
        """Note when *job* will be overdue, by what waits and runs now."""
        before_s = self._work_node_s(system) * self._share_used() / self._nodes
        allowed_s = self._patience * (before_s + job.limit_s)  # infinite patience with a job of no length: NaN
        due_s = system.now_s + allowed_s if math.isfinite(allowed_s) else math.inf
        self._due_s[job.row] = due_s
        if due_s < math.inf:
            heapq.heappush(self._by_due, (due_s, job.row))
        self._add(job)

    def on_leave(self, job: Job, system: System) -> None:
        """Forget *job*."""
        self._remove(job)
        del self._due_s[job.row]

    def on_change(self, old: Job, new: Job, system: System) -> None:
        """Keep the place of a job that was changed by advice."""
        self._remove(old)
        self._add(new)

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """Learn how much of what they ask for jobs use."""
        if not math.isnan(outcome.start_s) and math.isfinite(job.limit_s):
            self._used_node_s += job.nodes * min(system.now_s - outcome.start_s, job.limit_s)
            self._asked_node_s += job.area_node_s

    def due_s(self, job: Job) -> float:
        """Return when a waiting job will be overdue; ``inf``: never."""
        return self._due_s[job.row]

    def overdue(self, system: System, hidden: Collection[int] = ()) -> Job | None:
        """Return the waiting job that has been overdue for longest, None if there is none.

        None, too, while that job is one of the rows *hidden*.
        """
        while self._by_due and self._due_s.get(self._by_due[0][1]) != self._by_due[0][0]:
            heapq.heappop(self._by_due)  # it has left
        if not self._by_due or self._by_due[0][0] >= system.now_s or self._by_due[0][1] in hidden:
            return None
        return self._waiting[self._by_due[0][1]]

    def _share_used(self) -> float:
        return self._used_node_s / self._asked_node_s if self._asked_node_s else 1.0

    def _work_node_s(self, system: System) -> float:
        if self._unlimited:
            return math.inf
        now_s = system.now_s
        running = sum((each.limit_end_s - now_s) * each.job.nodes for each in system.running)
        return self._area_node_s + running

    def _add(self, job: Job) -> None:
        self._waiting[job.row] = job
        if math.isinf(job.limit_s):
            self._unlimited += 1
        else:
            self._area_node_s += job.area_node_s

    def _remove(self, job: Job) -> None:
        del self._waiting[job.row]
        if math.isinf(job.limit_s):
            self._unlimited -= 1
        else:
            self._area_node_s -= job.area_node_s
        if not self._waiting:
            self._area_node_s = 0.0  # what rounding has left


class Patient(Order):
    """Another order, but whoever is overdue comes first, longest overdue first.

    Parameters:
        order: of all others.
        patience: see `Patience`.
    """

    order: Order = field(default_factory=SAF)
    patience: float = PATIENCE

    is_dynamic = True
    invariances = ("time-shift", "time-scale")

    def __post_init__(self) -> None:
        if not isinstance(self.order, Order):
            raise InvalidArgument(f"order is {self.order!r}.", "Give an order, as SAF().")
        Patience(self.patience)  # refuses what is none
        declare(self, (self.order,))

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget the queue, and what the other order knows."""
        super().reset(cluster, rng)
        self._patience = Patience(self.patience)
        self._patience.reset(cluster)
        self.order.reset(cluster, rng)

    def begin(self, system: System) -> None:
        """Let the other order see the view, too."""
        super().begin(system)
        self.order.begin(system)

    def listeners(self) -> Sequence[Listener]:
        """Return this order, its patience, and whoever listens of the other order."""
        return each_once(self, self._patience, *self.order.listeners())

    def key(self, job: Job, system: System) -> Any:
        """Return a pair: 0 and when it was due, for a job that is overdue; else 1 and the other order's key."""
        due_s = self._patience.due_s(job)
        return (0, due_s) if due_s < system.now_s else (1, self.order.key(job, system))
