"""The read-only view of the machine that a policy gets.

A policy can be tested without an engine: anything with these members will do. The engine's own
implementation is in `hpcsim.engine.view`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hpcsim.cluster import Cluster
from hpcsim.job import Job
from hpcsim.waiting import WaitingJobs

if TYPE_CHECKING:
    from hpcsim.estimator import Estimator
    from hpcsim.node_plan import NodePlan
    from hpcsim.profile import Profile, Shadow


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that holds nodes now. `limit_end_s` is start + limit: the latest end that its request allows."""

    job: Job
    start_s: float
    limit_end_s: float
    node_ids: str


class System(ABC):
    """What a policy may know at this instant. Times in seconds, counts in nodes."""

    __slots__ = ()

    @property
    @abstractmethod
    def now_s(self) -> float:
        """The simulation clock."""

    @property
    @abstractmethod
    def cluster(self) -> Cluster:
        """The machine's description."""

    @property
    @abstractmethod
    def queue(self) -> WaitingJobs:
        """Waiting jobs that are eligible, a sequence by (eligible, submit, position in the log).

        Iterating survives the start of the job just yielded. Held jobs and dependents are not in it.
        """

    @property
    @abstractmethod
    def running(self) -> Collection[RunningJob]:
        """Jobs that hold nodes now, in order of start."""

    @abstractmethod
    def started_s(self, job: Job) -> float:
        """Return when a running job started. Raises KeyError for one that does not run."""

    @property
    @abstractmethod
    def free(self) -> int:
        """Nodes that no job holds and that could be started on."""

    @property
    @abstractmethod
    def ends_seen(self) -> int:
        """How many times nodes came free or a waiting job left without a start, since the run began.

        While it stands still nothing but arrivals and starts has happened.
        """

    @property
    @abstractmethod
    def promised(self) -> Mapping[int, float]:
        """Promised start by `Job.row`, as the policy's `Reserve` decisions left it."""

    @property
    @abstractmethod
    def power_w(self) -> float:
        """Watts that the machine draws now; NaN where the cluster declares none."""

    @property
    def nodes_are_alike(self) -> bool:
        """Whether any free node serves any job, so that counts of nodes say all.

        False where node groups or partitions differ, or jobs share nodes: then `free`, `shadow` and
        `profile` still count nodes of all kinds together, `fits` and `earliest_start_s` are exact
        for each job, and `competes_for` and `plan` are what to reserve with.
        """
        return True

    @abstractmethod
    def fits(self, job: Job) -> bool:
        """Tell whether *job* could start now and run its whole limit."""

    @abstractmethod
    def earliest_start_s(self, job: Job) -> float:
        """Return the first instant at which *job* fits, by the limits of what runs; ``inf`` if none."""

    def shadow(self, nodes: int) -> Shadow:
        """Return when *nodes* come free by the limits of what runs, and what is left beside them."""
        return self.profile().shadow(nodes)

    @abstractmethod
    def profile(self, estimates: Estimator | None = None) -> Profile:
        """Return free nodes over future time, by limits or by *estimates*. Yours to change."""

    def competes_for(self, job: Job) -> frozenset[str]:
        """Return the names of the node groups that *job* may run on, and ``"power cap"`` under one.

        Two jobs whose sets are disjoint cannot delay each other.
        """
        return frozenset(group.name for group in self.cluster.groups)

    @abstractmethod
    def plan(self, estimates: Estimator | None = None) -> NodePlan:
        """Return the future of the nodes by their kinds, by limits or by *estimates*. Yours to change.

        What `profile` is to identical nodes, for any machine.
        """

    @abstractmethod
    def true_run_time_s(self, job: Job) -> float:
        """Return the run time that the log recorded.

        Raises:
            Clairvoyance: the policy's class does not say ``clairvoyant = True``.
        """

    def true_power_w(self, job: Job) -> float:
        """Return the mean power that *job* would really draw, in watts; NaN where nobody knows.

        Raises:
            Clairvoyance: as `true_run_time_s`.
        """
        self.true_run_time_s(job)
        return math.nan
