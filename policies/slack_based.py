"""Slack-based backfilling: conservative promises with a margin that later jobs may use up.

Source: Talby and Feitelson, "Supporting priorities and improving utilization of the IBM SP scheduler
using slack-based backfilling", IPPS 1999. Theirs weighs many schedules by a cost and gives slack by
priority; here the slack is proportional to the job's length and the first schedule that keeps all
deadlines is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.decision import Decision, Reserve, Start, WakeAt
from hpcsim.errors import HpcsimError
from hpcsim.estimator import Estimator
from hpcsim.job import Job, JobOutcome
from hpcsim.listener import Listener
from hpcsim.policies.backfill import Backfill
from hpcsim.policies.backfill_options import check_depth, check_kind
from hpcsim.policies.composition import declare, each_once
from hpcsim.policies.conservative import Claim, ConservativePlan
from hpcsim.policies.estimators import Requested
from hpcsim.policies.identical_nodes import need_identical_nodes
from hpcsim.policies.orders import FCFS
from hpcsim.policy import Order, Policy
from hpcsim.profile import Profile
from hpcsim.system import System


class SlackBased(Policy):
    """Conservative backfilling in which promises have slack: a job may pass others that can afford to wait.

    At arrival a job is planned at its earliest start, and promised that start plus its slack,
    ``slack_factor`` times its planned run time: its deadline. A later job that fits now starts if all
    others, planned anew in order behind it, still meet their deadlines.

    Parameters:
        order: in which order jobs are planned.
        slack_factor: 0 is conservative backfilling.
        depth: how many of the waiting jobs that fit are tried at each pass; None: all.
        estimates: how long jobs are planned to run.

    Source: after Talby and Feitelson, IPPS 1999.
    """

    order: Order = field(default_factory=FCFS)
    slack_factor: float = 0.5
    depth: int | None = 10
    estimates: Estimator = field(default_factory=Requested)

    invariances = ("time-shift",)

    def __post_init__(self) -> None:
        check_kind("order", self.order, Order)
        check_kind("estimates", self.estimates, Estimator)
        check_depth(self.depth)
        if not isinstance(self.slack_factor, int | float) or not 0 <= self.slack_factor < math.inf:
            raise HpcsimError(f"slack_factor is {self.slack_factor!r}.", "Give a number from 0.")
        declare(self, (self.order, self.estimates))

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything."""
        self.order.reset(cluster, rng)
        self.estimates.reset()
        plan = Backfill(order=self.order, estimates=self.estimates, reservations="all")
        self._plan = SlackPlan(plan, self.slack_factor, self.depth)

    def begin(self, system: System) -> None:
        """Refuse nodes that differ."""
        need_identical_nodes("SlackBased", system)

    def listeners(self) -> Sequence[Listener]:
        """Return the parts that hear what happens."""
        return each_once(self.estimates, *self.order.listeners(), self._plan)

    def schedule(self, system: System) -> Iterable[Decision]:
        """Start what may start by the rules above."""
        return self._plan.schedule(system)


class SlackPlan(ConservativePlan):
    """A conservative plan that may be remade behind a job as long as nobody misses a deadline."""

    def __init__(self, policy: Backfill, slack_factor: float, depth: int | None) -> None:
        super().__init__(policy)
        self._slack_factor = slack_factor
        self._depth = depth
        self._deadlines_s: dict[int, float] = {}

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """A deadline has been met."""
        super().on_start(job, node_ids, system)
        self._deadlines_s.pop(job.row, None)

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """Forget the deadline of a job that left without a start."""
        super().on_end(job, outcome, system)
        self._deadlines_s.pop(job.row, None)

    def schedule(self, system: System) -> Iterator[Decision]:
        """Hold a conservative pass, in which promises are deadlines; then let jobs pass that nobody is late by."""
        for decision in super().schedule(system):
            if type(decision) is not Reserve:
                yield decision
            elif decision.job.row not in self._deadlines_s:
                yield Reserve(decision.job, self._set_deadline(decision.job, decision.start_s))
        if not self._has_overdue(system.now_s):
            yield from self._let_pass(system)

    def _set_deadline(self, job: Job, start_s: float) -> float:
        slack_s = self._slack_factor * self._promised[job.row].length_s if self._slack_factor else 0
        self._deadlines_s[job.row] = start_s + slack_s
        return start_s + slack_s

    def _let_pass(self, system: System) -> Iterator[Decision]:
        tried = 0
        for claim in self._in_order(system):
            if claim.job.nodes > system.free or claim.job.row not in self._promised:
                continue
            if tried == self._depth or not self._slack_factor:
                return
            tried += 1
            if self._replan_behind(claim, system):
                yield Start(claim.job)
                yield from self._start_due(system)
                yield from self._wake_for_next(system)

    def _replan_behind(self, first: Claim, system: System) -> bool:
        """Plan *first* now and all others behind it, in order, unless one would miss its deadline."""
        now_s = system.now_s
        plan = self._profile_of_running(system)
        if plan.least_free(now_s, now_s + first.length_s) < first.job.nodes:
            return False
        plan.take(now_s, now_s + first.length_s, first.job.nodes)
        starts_s = [(first, now_s)]
        for claim in self._in_order(system):
            if claim is first:
                continue
            start_s = plan.earliest_s(claim.job.nodes, claim.length_s, now_s)
            if start_s > self._deadlines_s[claim.job.row]:
                return False
            plan.take(start_s, start_s + claim.length_s, claim.job.nodes)
            starts_s.append((claim, start_s))
        self._profile = plan
        for claim, start_s in starts_s:
            claim.start_s, claim.end_s = start_s, start_s + claim.length_s
        return True

    def _profile_of_running(self, system: System) -> Profile:
        return system.profile(None if type(self._estimates) is Requested else self._estimates)

    def _wake_for_next(self, system: System) -> Iterator[Decision]:
        self._next_s = min((claim.start_s for claim in self._promised.values()), default=math.inf)
        if system.now_s < self._next_s < math.inf and self._next_s != self._wake_s:
            self._wake_s = self._next_s
            yield WakeAt(self._wake_s)
