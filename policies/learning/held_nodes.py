"""Who holds which part of each node group, and until when by limits: group features of an observation."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from hpcsim.cluster import Cluster, NodeGroup
from hpcsim.job import Job
from hpcsim.node_ids import parse_intervals
from hpcsim.policies.learning.features import LOG_SCALE, NODE_FEATURES

_HAIR = 1e-9  # of a group: a share of nodes may be a sum of fractions


class Amounts(NamedTuple):
    """What a job holds of a group, or a group has: nodes (shared ones by cores), memory, GPUs."""

    nodes: float
    memory_bytes: float
    gpus: float


class GroupBook:
    """One node group, or several taken together: what is held of it, and the planned ends in order."""

    def __init__(self, groups: list[NodeGroup]) -> None:
        self.has = Amounts(
            sum(group.nodes for group in groups),
            sum(group.nodes * group.memory_bytes for group in groups),
            sum(group.nodes * group.gpus for group in groups),
        )
        self._held = [0.0, 0.0, 0.0]
        self._ends_s: list[float] = []
        self._nodes: list[float] = []
        self._wanted = [quarters / 4 * self.has.nodes * (1 - _HAIR) for quarters in range(1, 5)]

    def take(self, end_s: float, held: Amounts) -> None:
        """Note that a job holds so much until *end_s*."""
        at = bisect_right(self._ends_s, end_s)
        self._ends_s.insert(at, end_s)
        self._nodes.insert(at, held.nodes)
        for what, amount in enumerate(held):
            self._held[what] += amount

    def give_back(self, end_s: float, held: Amounts) -> None:
        """Note that such a job has ended."""
        at = self._nodes.index(held.nodes, bisect_left(self._ends_s, end_s))
        del self._ends_s[at], self._nodes[at]
        for what, amount in enumerate(held):
            self._held[what] = self._held[what] - amount if self._ends_s else 0.0

    @property
    def next_end_s(self) -> float:
        """The first planned end; ``inf`` if nothing runs."""
        return self._ends_s[0] if self._ends_s else math.inf

    def describe(self, now_s: float, machine_nodes: int) -> list[float]:
        """Return the features of `NODE_FEATURES`."""
        has, (nodes, memory_bytes, gpus) = self.has, self._held
        free = _share(has.nodes - nodes, has.nodes)
        memory = _share(has.memory_bytes - memory_bytes, has.memory_bytes) if has.memory_bytes else free
        free_gpus = _share(has.gpus - gpus, has.gpus) if has.gpus else 0.0
        return [1.0, has.nodes / machine_nodes, free, memory, free_gpus, *self._times_to_free(now_s)]

    def _times_to_free(self, now_s: float) -> list[float]:
        """Return the scaled times until each quarter is free; a limit already passed counts as one second."""
        free = self.has.nodes - self._held[0]
        coming = list(accumulate(self._nodes, initial=free))
        times = []
        for wanted in self._wanted:
            at = bisect_left(coming, wanted)
            times.append(log_time(max(self._ends_s[min(at, len(coming) - 1) - 1] - now_s, 1.0)) if at else 0.0)
        return times


class HeldNodes:
    """All groups of a machine, as *rows* books: the largest groups, the last book all others together."""

    def __init__(self, cluster: Cluster, rows: int) -> None:
        self.rows = rows
        self._nodes = cluster.nodes
        self._groups = cluster.groups
        largest = sorted(range(len(self._groups)), key=lambda at: (-self._groups[at].nodes, at))
        alone = sorted(largest[: rows if len(self._groups) <= rows else rows - 1])
        together = [at for at in range(len(self._groups)) if at not in alone]
        self._book_of = {at: row for row, at in enumerate(alone)} | dict.fromkeys(together, len(alone))
        members = [[at] for at in alone] + ([together] if together else [])
        self._books = [GroupBook([self._groups[at] for at in some]) for some in members]
        self._held: dict[int, list[tuple[int, float, Amounts]]] = {}

    def __len__(self) -> int:
        return len(self._held)

    @property
    def next_end_s(self) -> float:
        """The first planned end; ``inf`` if nothing runs."""
        return min([book.next_end_s for book in self._books])

    def start(self, job: Job, node_ids: str, now_s: float) -> None:
        """Note that *job* has started on *node_ids*."""
        held = [
            (self._book_of[at], now_s + job.limit_s, self._amounts(job, at, n)) for at, n in self._parts(job, node_ids)
        ]
        for book, end_s, amounts in held:
            self._books[book].take(end_s, amounts)
        self._held[job.row] = held

    def end(self, job: Job) -> None:
        """Note that *job* runs no longer; one that never ran is passed over."""
        for book, end_s, amounts in self._held.pop(job.row, ()):
            self._books[book].give_back(end_s, amounts)

    def describe(self, now_s: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        """Return `Observation.nodes`."""
        nodes = np.zeros((self.rows, len(NODE_FEATURES)), dtype=np.float32)
        for row, book in enumerate(self._books):
            nodes[row] = book.describe(now_s, self._nodes)
        return nodes

    def _parts(self, job: Job, node_ids: str) -> list[tuple[int, int]]:
        """Return (group, nodes in it) of a job's nodes; ids run through the groups in their order."""
        if len(self._groups) == 1:
            return [(0, job.nodes)]
        parts, first = [], 0
        intervals = parse_intervals(node_ids)
        for at, group in enumerate(self._groups):
            last = first + group.nodes - 1
            nodes = sum(max(min(high, last) - max(low, first) + 1, 0) for low, high in intervals)
            if nodes:
                parts.append((at, nodes))
            first = last + 1
        return parts

    def _amounts(self, job: Job, at: int, nodes: int) -> Amounts:
        """Return what *nodes* nodes of a job hold of group *at*: whole nodes unless it shares them."""
        group = self._groups[at]
        if job.exclusive:
            return Amounts(nodes, nodes * group.memory_bytes, nodes * group.gpus)
        cores = nodes * job.cores_per_node / group.cores
        return Amounts(cores, nodes * job.memory_bytes_per_node, nodes * job.gpus_per_node)


def log_time(seconds: float) -> float:
    """Return log10(1 + seconds) / 8, at most 1."""
    return min(math.log10(1 + seconds) / LOG_SCALE, 1.0)


def _share(part: float, whole: float) -> float:
    return min(max(part / whole, 0.0), 1.0)
