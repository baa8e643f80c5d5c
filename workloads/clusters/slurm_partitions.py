"""Partition lines of slurm.conf: over which nodes, with which limits, and what jobs of each are worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from hpcsim.workloads.clusters.conf_lines import Entry, shortened
from hpcsim.workloads.clusters.conf_values import count, is_yes, number, period_s, words
from hpcsim.workloads.clusters.hostlists import hosts
from hpcsim.workloads.clusters.slurm_nodes import Node
from hpcsim.workloads.clusters.slurm_remarks import Remarks

ALIASES = {"shared": "oversubscribe"}
_TAKEN = frozenset(
    {
        *("partitionname", "nodes", "default", "maxtime", "minnodes", "maxnodes", "oversubscribe", "prioritytier"),
        *("priorityjobfactor", "priority", "state"),
    }
)
_STATES = ("up", "down", "drain", "inactive")
_NO_LIMIT = ("unlimited", "infinite")


@dataclass(frozen=True, slots=True)
class PartitionLine:
    """One partition; *job_factor* is its PriorityJobFactor, *nodes* are names of nodes."""

    name: str
    nodes: frozenset[str]
    max_limit_s: float
    max_nodes: int | None
    job_factor: float
    is_default: bool
    is_up: bool
    entry: Entry


class PartitionLines:
    """Takes the lines that begin with PartitionName and NodeSet, once all nodes are known."""

    def __init__(self, nodes: Mapping[str, Node], remarks: Remarks) -> None:
        self.partitions: list[PartitionLine] = []
        self._nodes = nodes
        self._sets: dict[str, frozenset[str]] = {}
        self._defaults: dict[str, Entry] = {}
        self._remarks = remarks

    def add_set(self, line: list[Entry]) -> None:
        """Take a NodeSet line: nodes by name, by a feature, or both.

        Raises:
            ClusterError: it names a node that does not exist.
        """
        names: set[str] = set()
        for entry in line[1:]:
            if entry.key == "nodes":
                names |= self._named(entry)
            elif entry.key in {"feature", "features"}:
                names |= {node.name for node in self._nodes.values() if entry.value in node.features}
            else:
                self._remarks.left_out([entry], ("nodes", "feature"), f"of {shortened(line[0].value)} ")
        self._sets[line[0].value] = frozenset(names)

    def add(self, line: list[Entry]) -> None:
        """Take a PartitionName line.

        Raises:
            ClusterError: a value makes no sense, or a partition is named twice.
        """
        head, own = line[0], {ALIASES.get(entry.key, entry.key): entry for entry in line[1:]}
        self._remarks.left_out(
            (e for key, e in own.items() if key not in _TAKEN), _TAKEN, f"of {shortened(head.value)} "
        )
        if head.value.upper() == "DEFAULT":
            self._defaults |= own
            return
        if not head.value:
            raise head.refused("is no name")
        for partition in self.partitions:
            if partition.name == head.value:
                raise head.refused(f"is described in line {partition.entry.line} already")
        self.partitions.append(self._partition(head, self._defaults | own))

    def _partition(self, head: Entry, line: Mapping[str, Entry]) -> PartitionLine:
        self._tell_lost(line)
        factor = line.get("priorityjobfactor", line.get("priority"))
        return PartitionLine(
            name=head.value,
            nodes=self._named(line["nodes"]) if "nodes" in line else frozenset(),
            max_limit_s=_max_limit_s(line["maxtime"]) if "maxtime" in line else math.inf,
            max_nodes=_max_nodes(line["maxnodes"]) if "maxnodes" in line else None,
            job_factor=number(factor) if factor is not None else 1.0,
            is_default=is_yes(line["default"]) if "default" in line else False,
            is_up=_state(line["state"]) == "up" if "state" in line else True,
            entry=head,
        )

    def _tell_lost(self, line: Mapping[str, Entry]) -> None:
        """Say which values of keys that are read have no counterpart."""
        if "minnodes" in line and count(line["minnodes"]) > 1:
            self._remarks.add(line["minnodes"], "a least number of nodes has no counterpart here, left out")
        tier = line.get("prioritytier", line.get("priority"))
        if tier is not None and number(tier) != 1:
            self._remarks.add(tier, "tiers have no counterpart here, left out")
        shared = line.get("oversubscribe")
        if shared is not None and shared.value.lower() not in {"no", "exclusive"}:
            self._remarks.add(shared, "cores held by several jobs at once have no counterpart here, left out")

    def _named(self, entry: Entry) -> frozenset[str]:
        """Return the nodes of a value: hosts, node sets, ALL."""
        if entry.value.upper() == "ALL":
            return frozenset(self._nodes)
        names: set[str] = set()
        plain = [word for word in words(entry) if word not in self._sets]
        for word in set(words(entry)) & set(self._sets):
            names |= self._sets[word]
        for name in hosts(entry, ",".join(plain)):
            if name not in self._nodes:
                raise entry.refused(f"there is no node or node set {name}")
            names.add(name)
        return frozenset(names)


def _max_limit_s(entry: Entry) -> float:
    seconds = math.inf if entry.value == "-1" else period_s(entry)
    if not seconds:
        raise entry.refused("allows no job at all")
    return seconds


def _max_nodes(entry: Entry) -> int | None:
    return None if entry.value.lower() in _NO_LIMIT else count(entry, least=1)


def _state(entry: Entry) -> str:
    word = entry.value.lower()
    if word not in _STATES:
        raise entry.refused(f"is no state of a partition; known: {', '.join(_STATES).upper()}")
    return word
