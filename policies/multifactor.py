"""Multifactor priority, as Slurm's plug-in of that name computes it.

Source: Slurm's documentation, "Multifactor Priority Plugin" and slurm.conf(5); the fair-share factor is
the classic one, 2^(-usage / share / dampening). Usage is exact here at each instant, where Slurm
updates it every few minutes, and priorities are not rounded to whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import field
from numbers import Real
from typing import Any

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.errors import HpcsimError
from hpcsim.job import Job, JobOutcome
from hpcsim.policies.decayed_usage import DecayedUsage
from hpcsim.policy import Order
from hpcsim.system import System

DAY_S = 86_400
EVERYBODY = object()
"""Stands for all users together in the books of usage."""


class Multifactor(Order):
    """Largest weighted sum of age, size, partition, QOS and fair share first, as in Slurm.

    Each factor lies between 0 and 1. Names of partitions, QOS and users are the log's own.

    Parameters:
        weight_age: of wait / *max_age_s*, at most 1 (PriorityWeightAge).
        weight_fair_share: of 2^(-(usage share / share) / *dampening*) (PriorityWeightFairshare).
        weight_job_size: of nodes / machine, or 1 minus it with *favor_small* (PriorityWeightJobSize).
        weight_partition: of the partition's priority / the highest one (PriorityWeightPartition).
        weight_qos: of the QOS's priority / the highest one (PriorityWeightQOS).
        max_age_s: waits count up to here, in seconds (PriorityMaxAge).
        half_life_s: after which past usage counts half, in seconds; 0: it never decays
            (PriorityDecayHalfLife).
        dampening: divides the usage in the fair-share factor (FairShareDampeningFactor).
        favor_small: small jobs have the larger size factor (PriorityFavorSmall).
        partition_priorities: partition -> PriorityJobFactor; one not named has 0. A job that may run in
            several counts by the highest.
        qos_priorities: QOS -> priority; one not named has 0.
        shares: user -> shares; one not named has 1. A user's share is its part of those of all users
            seen so far.
    """

    weight_age: float = 1_000
    weight_fair_share: float = 10_000
    weight_job_size: float = 0
    weight_partition: float = 0
    weight_qos: float = 0
    max_age_s: float = 7 * DAY_S
    half_life_s: float = 7 * DAY_S
    dampening: float = 1
    favor_small: bool = False
    partition_priorities: Mapping[str, float] = field(default_factory=dict)
    qos_priorities: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)

    is_dynamic = True
    invariances = ("time-shift",)

    def __post_init__(self) -> None:
        for name in ("weight_age", "weight_fair_share", "weight_job_size", "weight_partition", "weight_qos"):
            weight = getattr(self, name)
            _demand(_is_number(weight) and 0 <= weight < math.inf, name, self, "a number from 0")
        for name in ("half_life_s", "max_age_s", "dampening"):
            _demand(_is_number(getattr(self, name)), name, self, "a number")
        _demand(self.half_life_s >= 0, "half_life_s", self, "0 seconds or more")
        _demand(self.max_age_s > 0, "max_age_s", self, "seconds above 0")
        _demand(self.dampening > 0, "dampening", self, "a number above 0")
        for name in ("partition_priorities", "qos_priorities", "shares"):
            table = getattr(self, name)
            _demand(isinstance(table, Mapping), name, self, "a table of numbers, as {normal = 1, high = 10}")
            _demand(all(_is_number(n) and n >= 0 for n in table.values()), name, self, "numbers of 0 or more")

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget who has used what."""
        super().reset(cluster, rng)
        self._nodes = cluster.nodes
        self._usage = DecayedUsage(self.half_life_s)
        self._shares: dict[Hashable, float] = {}
        self._all_shares = 0.0
        self._partition_top = max(self.partition_priorities.values(), default=0) or 1
        self._qos_top = max(self.qos_priorities.values(), default=0) or 1

    def on_submit(self, job: Job, system: System) -> None:
        """Take the user into the books."""
        user = job.user_id
        if user not in self._shares:
            self._shares[user] = self.shares.get(str(user), 1)
            self._all_shares += self._shares[user]

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """The user uses more nodes from now on."""
        self._use(job.user_id, job.nodes, system.now_s)

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """The user uses fewer nodes from now on."""
        if outcome.attempts:
            self._use(job.user_id, -job.nodes, system.now_s)

    def key(self, job: Job, system: System) -> Any:
        """Return the priority, negated."""
        return -self.priority(job, system)

    def priority(self, job: Job, system: System) -> float:
        """Return the weighted sum of the job's factors now."""
        size = job.nodes / self._nodes
        partition = max((self.partition_priorities.get(name, 0) for name in job.partitions), default=0)
        priority = self.weight_age * min((system.now_s - job.submit_s) / self.max_age_s, 1)
        priority += self.weight_job_size * (1 - size if self.favor_small else size)
        priority += self.weight_partition * partition / self._partition_top
        priority += self.weight_qos * self.qos_priorities.get(str(job.qos), 0) / self._qos_top
        if self.weight_fair_share:
            priority += self.weight_fair_share * self.fair_share(job.user_id, system.now_s)
        return priority

    def fair_share(self, user: Hashable, now_s: float) -> float:
        """Return the user's factor now: 1 without usage, 1/2 where usage is just the user's share."""
        share, all_used = self._shares[user], self._usage.node_s(EVERYBODY, now_s)
        if not all_used:
            return 1.0
        if not share:
            return 0.0
        used_share = self._usage.node_s(user, now_s) / all_used
        return float(2 ** -(used_share / (share / self._all_shares) / self.dampening))

    def _use(self, user: Hashable, nodes: int, now_s: float) -> None:
        self._usage.change(user, nodes, now_s)
        self._usage.change(EVERYBODY, nodes, now_s)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _demand(holds: bool, name: str, order: Multifactor, wanted: str) -> None:
    if not holds:
        raise HpcsimError(f"{name} is {getattr(order, name)!r}.", f"Give {wanted}.")
