"""Who holds which nodes now, and until when by their limits. Mutable, nobody else's.

`CountingLedger` serves identical, exclusive nodes: whether a job fits is one comparison of counts.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Protocol

from hpcsim.cluster import Cluster
from hpcsim.engine.blame import policy_failed
from hpcsim.engine.clock import Happening
from hpcsim.engine.free_nodes import FreeNodes
from hpcsim.errors import InvariantViolation, PolicyFailed
from hpcsim.job import Job
from hpcsim.node_ids import Interval, count_nodes, format_intervals
from hpcsim.placement import Placement
from hpcsim.profile import Profile, Release, Shadow, first_fit


class Allocation(Happening):
    """Nodes held by a running job, and the event of its end.

    `limit_end_s` is the job's latest end by its request, `energy_j` what it has drawn, NaN where nobody measures.
    """

    def __init__(self, job: Job, start_s: float, intervals: Sequence[Interval]) -> None:
        self.job = job
        self.start_s = start_s
        self.limit_end_s = start_s + job.limit_s
        self.intervals = intervals
        self.energy_j = math.nan
        self._node_ids: str | None = None
        self.run_s: float
        self.end_state: int

    @property
    def node_ids(self) -> str:
        """The nodes held, written ``"0-127,130"``; they stay the same as long as it holds them."""
        if self._node_ids is None:
            self._node_ids = format_intervals(self.intervals)
        return self._node_ids


class Ledger(Protocol):
    """What the engine asks of its books, whatever the nodes are like."""

    cluster: Cluster
    nodes: int
    free_nodes: FreeNodes

    @property
    def running(self) -> Mapping[int, Allocation]:
        """Allocations by job row, in order of start."""

    def start(self, job: Job, now_s: float, intervals: Sequence[Interval] | None) -> Allocation:
        """Give a job that fits its nodes: *intervals*, or the default choice."""

    def end(self, row: int) -> Allocation:
        """Take the nodes of a running job back."""

    def profile(self, now_s: float) -> Profile:
        """Return free nodes over future time."""

    def shadow(self, now_s: float, nodes: int) -> Shadow:
        """Return when so many nodes come free, and what is left beside them then."""

    def releases(self, now_s: float) -> list[Release]:
        """Return when how many nodes come free by the limits of what runs."""


class CountingLedger:
    """Identical nodes, each held by one job at a time."""

    def __init__(self, cluster: Cluster, placement: Placement | None, limits_bind: bool) -> None:
        """*limits_bind* says that no job outlives its limit, so that no planned end is ever past."""
        self.cluster = cluster
        self.nodes = cluster.nodes
        self.running: dict[int, Allocation] = {}
        self.free_nodes = FreeNodes(cluster.nodes)
        self._placement = placement
        self._limits_bind = limits_bind
        self._releases: list[Release] = []

    @property
    def free(self) -> int:
        """Nodes that nobody holds."""
        return self.free_nodes.count

    def start(self, job: Job, now_s: float, intervals: Sequence[Interval] | None) -> Allocation:
        """Give *job* its nodes: *intervals*, which must be free, or what the placement chooses."""
        if intervals is None and self._placement is None:
            intervals = self.free_nodes.take_lowest(job.nodes)
        else:
            if intervals is None:
                assert self._placement is not None
                intervals = placed(self._placement, job, self.free_nodes.intervals(), self.cluster)
            self.free_nodes.take(intervals)
        allocation = Allocation(job, now_s, intervals)
        self.running[job.row] = allocation
        insort(self._releases, (allocation.limit_end_s, job.row, job.nodes))
        return allocation

    def end(self, row: int) -> Allocation:
        """Take the nodes of a running job back."""
        allocation = self.running.pop(row)
        self.free_nodes.give_back(allocation.intervals)
        releases = self._releases
        at = bisect_left(releases, (allocation.limit_end_s, row))
        if releases[at][1] != row:
            raise InvariantViolation(f"Job row {row} has no planned end.")
        del releases[at]
        return allocation

    def profile(self, now_s: float) -> Profile:
        """Return free nodes over future time by the limits of what runs."""
        return Profile(now_s, self.free_nodes.count, self.releases(now_s))

    def releases(self, now_s: float) -> list[Release]:
        """Return when how many nodes come free by the limits of what runs.

        A limit already passed counts as "ends one second later".
        """
        return self._releases_ahead(now_s).copy()

    def shadow(self, now_s: float, nodes: int) -> Shadow:
        """Return what `profile` would say about *nodes*, without making one."""
        releases = self._releases if self._limits_bind else self._releases_ahead(now_s)
        return first_fit(now_s, self.free_nodes.count, releases, nodes)

    def _releases_ahead(self, now_s: float) -> list[Release]:
        releases = self._releases
        if not self._limits_bind and releases and releases[0][0] <= now_s:
            return sorted(self._release_ahead(release, now_s) for release in releases)
        return releases

    def _release_ahead(self, release: Release, now_s: float) -> Release:
        end_s, row, nodes = release
        is_overdue = end_s <= now_s and self.running[row].start_s < now_s
        return (now_s + 1 if is_overdue else end_s, row, nodes)


def placed(placement: Placement, job: Job, free: Sequence[Interval], cluster: Cluster) -> Sequence[Interval]:
    """Ask *placement* for nodes out of *free*, and check its answer.

    Raises:
        PolicyFailed: it raised an error, or chose other nodes or another number of them.
    """
    name = type(placement).__name__
    try:
        intervals = sorted((int(low), int(high)) for low, high in placement.place(job, free, cluster))
    except Exception as error:
        raise policy_failed(f"{name}.place", error) from error
    ascending = all(high < low for (_, high), (low, _) in pairwise(intervals))
    if count_nodes(intervals) != job.nodes or not ascending or not _all_within(intervals, free):
        raise PolicyFailed(
            f"{name} placed job {job.job_id}, which needs {job.nodes} nodes, on "
            f"{format_intervals(intervals) or 'none'}.",
            "A placement must choose exactly so many of the free nodes.",
        )
    return intervals


def _all_within(intervals: Sequence[Interval], free: Sequence[Interval]) -> bool:
    """Tell whether each interval lies in one of *free*, which are sorted and disjoint."""
    lows = [low for low, _ in free]
    for low, high in intervals:
        at = bisect_right(lows, low) - 1
        if low > high or at < 0 or free[at][1] < high:
            return False
    return True
