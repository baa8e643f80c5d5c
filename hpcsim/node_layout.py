"""Which nodes may a job use, and which does it take? The bookkeeping of machines whose nodes differ. Pure.

A *state* says what is free at one instant: one number for each place. A *claim* says what one job
holds: places and amounts. Where nodes are exclusive a place is a class of like nodes, and the number
counts idle ones: any of them is as good as another. Where jobs share nodes each node is on its own,
see `hpcsim.shared_nodes`. The engine's ledger and the plans of policies use the same rules.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from hpcsim.cluster import Cluster, NodeGroup
from hpcsim.job import Job

State = Any
"""Amounts by place: a list, or a NumPy array where every node has places of its own."""

Claim = tuple[tuple[int, float], ...]
"""(place, amount) of what a job holds."""

_MOST_KNOWN = 20_000  # jobs whose choices are remembered


class NodeClass(NamedTuple):
    """Nodes *low* to *high*, which no request can tell apart; *group* is the first of their groups."""

    low: int
    high: int
    groups: tuple[str, ...]
    group: NodeGroup

    @property
    def nodes(self) -> int:
        """How many."""
        return self.high - self.low + 1


class Choice(NamedTuple):
    """One way to place a job: *nodes* nodes out of these classes, within one partition."""

    classes: tuple[int, ...]
    nodes: int
    partition: str


class Eligible(NamedTuple):
    """Where a job may run: the choices, the preferred first, and the names of all groups in them."""

    choices: tuple[Choice, ...]
    groups: frozenset[str]
    only: tuple[int, int] | None = None
    """Class and nodes, where there is one choice of one class."""
    places: frozenset[int] | None = None
    """The places of a state that decide whether there is room; None: any may."""


class NodeLayout:
    """Classes of exclusive nodes, each with a count of idle ones."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.classes = _classes(cluster)
        self._highs = [kind.high for kind in self.classes]
        self._class_of_group = {name: at for at, kind in enumerate(self.classes) for name in kind.groups}
        self._limits = tuple(partition.max_limit_s for partition in cluster.partitions)
        self._by_request: dict[Any, Eligible] = {}
        self._by_row: dict[int, tuple[Job, Eligible]] = {}

    def whole(self) -> State:
        """Return the state of the idle machine."""
        return [kind.nodes for kind in self.classes]

    def eligible(self, job: Job) -> Eligible:
        """Return where *job* may run; no choice at all if it can never run."""
        known = self._by_row.get(job.row)
        if known is not None and known[0] is job:
            return known[1]
        within = tuple([job.limit_s <= longest_s for longest_s in self._limits]) if self._limits else ()
        request = (
            *(job.nodes, job.partitions, within, job.cores_per_node, job.gpus_per_node),
            *(job.memory_bytes_per_node, job.features),
        )
        found = self._by_request.get(request)
        if found is None:
            found = self._by_request[request] = self._work_out(job)
        if len(self._by_row) > _MOST_KNOWN:
            self._by_row.clear()
        self._by_row[job.row] = (job, found)
        return found

    def fits(self, job: Job, state: State) -> bool:
        """Tell whether *state* has room for *job*."""
        choices, _, only, _ = self.eligible(job)
        if only:
            at, nodes = only
            return bool(state[at] >= nodes)
        for classes, nodes, _ in choices:
            if len(classes) == 1:
                if state[classes[0]] >= nodes:
                    return True
            elif sum([state[at] for at in classes]) >= nodes:
                return True
        return False

    def claim(self, job: Job, state: State, avoid: frozenset[str] = frozenset()) -> Claim | None:
        """Return what *job* would take of *state*: the preferred choice with room, lowest ids first; None: no room.

        Nodes of the groups in *avoid* are taken last.
        """
        choices, _, only, _ = self.eligible(job)
        if only:
            return (only,) if state[only[0]] >= only[1] else None
        for choice in choices:
            claim = self._claim_of(job, choice, state, avoid)
            if claim is not None:
                return claim
        return None

    def claims(self, job: Job, state: State, avoid: frozenset[str]) -> list[Claim]:
        """Return one claim for each choice that has room, with nodes of the groups in *avoid* taken last."""
        found = [self._claim_of(job, choice, state, avoid) for choice in self.eligible(job).choices]
        return [claim for claim in found if claim is not None]

    def _claim_of(self, job: Job, choice: Choice, state: State, avoid: frozenset[str]) -> Claim | None:
        classes, nodes, _ = choice
        if len(classes) == 1:
            at = classes[0]
            return ((at, nodes),) if state[at] >= nodes else None
        if sum([state[at] for at in classes]) < nodes:
            return None
        taken = []
        for at in self._preferred(classes, avoid):
            some = min(state[at], nodes)
            if some:
                taken.append((at, some))
                nodes -= some
            if not nodes:
                break
        return tuple(taken)

    def _preferred(self, classes: tuple[int, ...], avoid: frozenset[str]) -> Sequence[int]:
        if not avoid:
            return classes
        return sorted(classes, key=lambda at: not avoid.isdisjoint(self.classes[at].groups))

    def claim_of(self, job: Job, node_ids: Sequence[int]) -> Claim:
        """Return the claim of *job* on these nodes."""
        return tuple((at, len(list(some))) for at, some in groupby(sorted(map(self.class_of, node_ids))))

    def on_nodes(self, claim: Claim) -> Claim:
        """Return the part of a claim that is on nodes."""
        return claim

    def class_of(self, node: int) -> int:
        """Return the class of a node id."""
        return bisect_left(self._highs, node)

    def nodes_of(self, claim: Claim) -> int:
        """Return how many nodes a claim holds."""
        return int(sum([amount for _, amount in claim]))

    def is_counted(self, job: Job) -> bool:
        """Whether *job* fits into a span of time if it fits into each of its instants: it counts nodes of one class."""
        return self.eligible(job).only is not None

    def is_equal(self, first: State, second: State) -> bool:
        """Tell whether the same is free."""
        return bool(first == second)

    def most_nodes(self, state: State) -> int:
        """Return how many nodes a job can get of *state* at most."""
        return sum(state[: len(self.classes)])

    def lowest(self, first: State, second: State) -> State:
        """Return, place by place, the smaller amount."""
        return [min(pair) for pair in zip(first, second, strict=True)]

    def _work_out(self, job: Job) -> Eligible:
        choices = []
        for way in self.cluster.ways(job):
            names = [self.cluster.groups[at].name for at in way.groups]
            classes = dict.fromkeys(self._class_of_group[name] for name in names)
            choices.append(Choice(tuple(classes), way.nodes, way.partition))
        used = {at for choice in choices for at in choice.classes}
        groups = frozenset(name for at in used for name in self.classes[at].groups)
        return Eligible(tuple(choices), groups, self._only(choices), self._places(used))

    def _only(self, choices: Sequence[Choice]) -> tuple[int, int] | None:
        is_plain = len(choices) == 1 and len(choices[0].classes) == 1
        return (choices[0].classes[0], choices[0].nodes) if is_plain else None

    def _places(self, classes: set[int]) -> frozenset[int] | None:
        return frozenset(classes)


def add(state: State, claim: Claim) -> None:
    """Give *claim* back to *state*."""
    for place, amount in claim:
        state[place] += amount


def subtract(state: State, claim: Claim) -> None:
    """Take *claim* out of *state*."""
    for place, amount in claim:
        state[place] -= amount


def _classes(cluster: Cluster) -> list[NodeClass]:
    """Return the machine's classes: neighbouring groups that no request and no bill tells apart are one."""
    found: list[NodeClass] = []
    low = 0
    for _, groups in groupby(cluster.groups, key=lambda group: _likeness(cluster, group)):
        some = list(groups)
        high = low + sum(group.nodes for group in some) - 1
        found.append(NodeClass(low, high, tuple(group.name for group in some), some[0]))
        low = high + 1
    return found


def _likeness(cluster: Cluster, group: NodeGroup) -> tuple[Any, ...]:
    """Return what makes two groups one class where it is equal; those with allocation sizes stay apart."""
    partitions = tuple(part.name for part in cluster.partitions if group.name in part.groups)
    alone = group.name if group.allocation_sizes else None
    return (group.cores, group.gpus, group.memory_bytes, group.features, group.power, partitions, alone)
