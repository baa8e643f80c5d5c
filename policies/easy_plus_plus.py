"""EASY++: EASY on predicted run times, predictions corrected when they expire, shortest predicted job first.

Source: Tsafrir, Etsion and Feitelson, "Backfilling using system-generated predictions rather than user
runtime estimates", IEEE TPDS 18(6), 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.decision import Decision, WakeAt
from hpcsim.estimator import Estimator
from hpcsim.job import Job, JobOutcome
from hpcsim.listener import Listener
from hpcsim.policies.backfill import Backfill
from hpcsim.policies.backfill_options import check_depth, check_kind
from hpcsim.policies.composition import declare, each_once
from hpcsim.policies.estimators import LastTwo
from hpcsim.policies.identical_nodes import need_identical_nodes
from hpcsim.policies.orders import FCFS
from hpcsim.policies.shadow import ShadowPass
from hpcsim.policy import Order, Policy
from hpcsim.system import System


class ShortestPredicted(Order):
    """Shortest job first, by an estimator instead of the request.

    Parameters:
        estimates: how long jobs are thought to run.
    """

    estimates: Estimator = field(default_factory=LastTwo)

    is_dynamic = True
    invariances = ("time-shift",)

    def __post_init__(self) -> None:
        check_kind("estimates", self.estimates, Estimator)
        declare(self, (self.estimates,))

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything, the estimator's knowledge too."""
        self.estimates.reset()

    def listeners(self) -> Sequence[Listener]:
        """Return the estimator and this order."""
        return (self.estimates, self)

    def key(self, job: Job, system: System) -> Any:
        """Return the estimate in seconds."""
        return self.estimates.limit_s(job, system)


class EasyPlusPlus(Policy):
    """EASY++: EASY by the mean of each user's last two run times, the shortest predicted job backfilled first.

    A prediction is made at arrival and never exceeds the request. One that a running job outlives is
    raised step by step, and a pass is held at that instant, for the reservation has moved.

    Parameters:
        order: who comes first.
        estimates: what predicts; its `expired` corrects.
        depth: how many jobs behind the first blocked one are tried; None: all.

    Source: Tsafrir, Etsion and Feitelson, IEEE TPDS 18(6), 2007.
    """

    order: Order = field(default_factory=FCFS)
    estimates: Estimator = field(default_factory=LastTwo)
    depth: int | None = None

    invariances = ("time-shift",)

    def __post_init__(self) -> None:
        check_kind("order", self.order, Order)
        check_kind("estimates", self.estimates, Estimator)
        check_depth(self.depth)
        declare(self, (self.order, self.estimates))

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything."""
        self.order.reset(cluster, rng)
        self.estimates.reset()
        shortest = ShortestPredicted(estimates=self.estimates)
        options = Backfill(order=self.order, backfill_order=shortest, estimates=self.estimates, depth=self.depth)
        self._pass = PredictivePass(options)

    def begin(self, system: System) -> None:
        """Refuse nodes that differ."""
        need_identical_nodes("EasyPlusPlus", system)

    def listeners(self) -> Sequence[Listener]:
        """Return the parts that hear what happens: the estimator first, so that orders can ask it."""
        return each_once(self.estimates, *self.order.listeners(), self._pass)

    def schedule(self, system: System) -> Iterable[Decision]:
        """Start what may start by the rules above."""
        return self._pass.schedule(system)


class PredictivePass(ShadowPass):
    """A shadow pass by predictions, which is also held whenever one of them expires."""

    def __init__(self, policy: Backfill) -> None:
        super().__init__(policy)
        self._predictions = policy.estimates
        self._running: dict[int, tuple[Job, float]] = {}
        self._wake_s = -1.0

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """A job runs: its prediction may expire."""
        self._running[job.row] = (job, system.now_s)

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """A job has ended."""
        self._running.pop(job.row, None)

    def schedule(self, system: System) -> Iterator[Decision]:
        """Hold the pass, then ask for the next one at the first predicted end."""
        yield from super().schedule(system)
        if not system.queue:
            return
        now_s = system.now_s
        wake_s = min((self._end_s(job, start_s, system) for job, start_s in self._running.values()), default=now_s)
        if now_s < wake_s < float("inf") and (wake_s < self._wake_s or self._wake_s <= now_s):
            self._wake_s = wake_s
            yield WakeAt(wake_s)

    def _end_s(self, job: Job, start_s: float, system: System) -> float:
        """Return when a running job is predicted to end, later than now."""
        end_s = start_s + self._predictions.limit_s(job, system)
        if end_s > system.now_s:
            return end_s
        return max(start_s + self._predictions.expired(job, system), system.now_s + 1)
