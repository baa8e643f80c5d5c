"""Lookahead backfilling: of all sets of jobs that the reservation allows, start one that fills most nodes.

Source: Shmueli and Feitelson, "Backfilling with lookahead to optimize the packing of parallel jobs",
J. Parallel Distrib. Comput. 65(9), 2005 (the LOS scheduler).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import NamedTuple

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.decision import Decision
from hpcsim.estimator import Estimator
from hpcsim.job import Job
from hpcsim.listener import Listener
from hpcsim.policies.backfill import Backfill
from hpcsim.policies.backfill_options import check_depth, check_kind
from hpcsim.policies.composition import declare, each_once
from hpcsim.policies.estimators import Requested
from hpcsim.policies.identical_nodes import need_identical_nodes
from hpcsim.policies.orders import FCFS
from hpcsim.policies.shadow import ShadowPass
from hpcsim.policy import Order, Policy
from hpcsim.system import System


class Lookahead(Policy):
    """EASY that packs: beside the reservation it starts the set of jobs that fills the free nodes best.

    Among sets that fill as many nodes, it takes one with the fewest nodes beyond the shadow time,
    and of those the one with the jobs that come first.

    Parameters:
        order: who comes first.
        depth: among how many jobs behind the first blocked one the set is looked for; None: all.
        estimates: how long jobs are planned to run.

    Source: Shmueli and Feitelson, J. Parallel Distrib. Comput. 65(9), 2005.
    """

    order: Order = field(default_factory=FCFS)
    depth: int | None = 50
    estimates: Estimator = field(default_factory=Requested)

    guarantees = ("no-head-delay",)
    invariances = ("time-shift",)

    def __post_init__(self) -> None:
        check_kind("order", self.order, Order)
        check_kind("estimates", self.estimates, Estimator)
        check_depth(self.depth)
        keeps = isinstance(self.order, FCFS) and type(self.estimates) is Requested
        declare(self, (self.order, self.estimates), keeps_guarantees=keeps)

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything."""
        self.order.reset(cluster, rng)
        self.estimates.reset()
        self._pass = PackingPass(Backfill(order=self.order, estimates=self.estimates, depth=self.depth))

    def begin(self, system: System) -> None:
        """Refuse nodes that differ."""
        need_identical_nodes("Lookahead", system)

    def listeners(self) -> Sequence[Listener]:
        """Return the parts that hear what happens."""
        return each_once(self.estimates, *self.order.listeners(), self._pass)

    def schedule(self, system: System) -> Iterable[Decision]:
        """Start what may start by the rules above."""
        return self._pass.schedule(system)


class PackingPass(ShadowPass):
    """A shadow pass that chooses among its candidates by how much they fill together."""

    def __init__(self, policy: Backfill) -> None:
        super().__init__(policy)
        self._can_skip = False  # a late arrival can make another set the best one

    def _chosen(self, candidates: Sequence[Job], system: System) -> list[Job]:
        """Return the candidates that fill the free nodes best beside the reservation."""
        free, now_s, estimates = system.free, system.now_s, self._policy.estimates
        offers = [
            Offer(job, now_s + estimates.limit_s(job, system) > self._latest_end_s)
            for job in candidates
            if job.nodes <= free
        ]
        return best_fill([offer for offer in offers if not offer.is_long or offer.job.nodes <= self._extra],
                         free, self._extra)  # fmt: skip


class Offer(NamedTuple):
    """A job that could start, and whether it would run beyond the shadow time, on extra nodes."""

    job: Job
    is_long: bool


def best_fill(offers: Sequence[Offer], free: int, extra: int) -> list[Job]:
    """Return the jobs that fill most of *free* nodes, the long ones among them at most *extra*.

    Long and short jobs are two sums of node counts that only meet in *free*, so each is a subset-sum
    problem of its own. Sums are bits of an integer: bit n is set if some subset takes n nodes.
    """
    short, long = _sums_behind(offers, free, is_long=False), _sums_behind(offers, min(free, extra), is_long=True)
    short_left, long_left = _best_pair(short[0], long[0], free)
    chosen = []
    for place, (job, is_long) in enumerate(offers, start=1):
        left = (long_left if is_long else short_left) - job.nodes
        if left >= 0 and (long if is_long else short)[place] >> left & 1:
            chosen.append(job)
            if is_long:
                long_left = left
            else:
                short_left = left
    return chosen


def _sums_behind(offers: Sequence[Offer], most: int, *, is_long: bool) -> list[int]:
    """Return, for each place, the sums up to *most* that the long (or short) offers from there on can make."""
    mask = (1 << (most + 1)) - 1
    sums = [1]
    for offer in reversed(offers):
        last = sums[-1]
        sums.append((last | last << offer.job.nodes) & mask if offer.is_long is is_long else last)
    return sums[::-1]


def _best_pair(short: int, long: int, free: int) -> tuple[int, int]:
    """Return the sums of short and long jobs that make the most of *free*; of equals, with the fewest long nodes."""
    best = (0, 0)
    for long_nodes in range(long.bit_length()):
        if long >> long_nodes & 1:
            short_nodes = (short & ((1 << (free - long_nodes + 1)) - 1)).bit_length() - 1
            best = max(best, (short_nodes, long_nodes), key=sum)
    return best
