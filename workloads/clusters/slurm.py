"""A cluster from Slurm's own configuration, slurm.conf and gres.conf.

Source: slurm.conf(5) and gres.conf(5). Nodes that are alike, in resources, weight and partitions, make
one group; groups stand by their weight, so that placements by node id take the lightest first.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.derived_cluster import DerivedCluster
from hpcsim.errors import ClusterError
from hpcsim.workloads.clusters.conf_lines import Entry, conf_lines, refused
from hpcsim.workloads.clusters.conf_values import count
from hpcsim.workloads.clusters.hostlists import folded
from hpcsim.workloads.clusters.slurm_gres import with_gpus
from hpcsim.workloads.clusters.slurm_nodes import Node, NodeLines
from hpcsim.workloads.clusters.slurm_partitions import PartitionLine, PartitionLines
from hpcsim.workloads.clusters.slurm_remarks import Remarks
from hpcsim.workloads.clusters.slurm_scheduling import TAKEN, policy_of

_POWER = {"suspendtime": "idle_timeout_s", "resumetimeout": "boot_s", "suspendtimeout": "shutdown_s"}
_OF_CLUSTER = TAKEN | {*_POWER, "clustername", "nodename", "partitionname", "nodeset"}


def from_slurm(
    path: str | os.PathLike[str], *, gres: str | os.PathLike[str] | None = None, keep_down: bool = False
) -> DerivedCluster:
    """Return the machine, and the policy, that a slurm.conf describes.

    Args:
        path: slurm.conf; files that it includes are read where they stand in its own folder.
        gres: gres.conf, for nodes that have no Gres in slurm.conf.
        keep_down: keep nodes and partitions that the file has as down, drained or future.

    Raises:
        ClusterError: a file cannot be read, or a line makes no sense; with path and line.
    """
    path, remarks = Path(path), Remarks()
    nodes, partition_lines, cluster = _sorted_lines(path, remarks)
    every = nodes.nodes
    if gres is not None:
        every = with_gpus(every, conf_lines(Path(gres)), remarks)
    partitions = PartitionLines(every, remarks)
    for line in partition_lines:
        partitions.add_set(line) if line[0].key == "nodeset" else partitions.add(line)
    taken = _nodes_taken(every, path, remarks, keep_down=keep_down)
    kept = _partitions_taken(partitions.partitions, taken, remarks, keep_down=keep_down)
    policy, settings = policy_of(cluster, partitions.partitions, remarks)
    notes = _notes(cluster, remarks)
    _tell_default(kept, remarks)
    remarks.left_out((entry for key, entry in cluster.items() if key not in _OF_CLUSTER), _OF_CLUSTER)
    return DerivedCluster(
        cluster=_cluster(taken, kept, cluster.get("clustername"), path),
        policy=policy,
        settings=settings,
        notes=notes,
        remarks=remarks.sorted(),
    )


def _sorted_lines(path: Path, remarks: Remarks) -> tuple[NodeLines, list[list[Entry]], dict[str, Entry]]:
    """Return the nodes, the lines on partitions, and the entries of the cluster, the last of each key."""
    nodes, down, partitions, cluster = NodeLines(remarks), [], [], dict[str, Entry]()
    for line in conf_lines(path):
        match line[0].key:
            case "nodename":
                nodes.add(line)
            case "downnodes":
                down.append(line)
            case "partitionname" | "nodeset":
                partitions.append(line)
            case _:
                for entry in line:
                    if entry.key in {"nodename", "partitionname"}:
                        raise entry.refused("does not begin its line")
                    if entry.key in cluster and entry.key != "slurmctldhost":  # one line a controller
                        remarks.add(cluster[entry.key], f"given again in line {entry.line}, which holds")
                    cluster[entry.key] = entry
    for line in down:
        nodes.take_down(line)
    return nodes, partitions, cluster


def _nodes_taken(nodes: Mapping[str, Node], path: Path, remarks: Remarks, *, keep_down: bool) -> dict[str, Node]:
    """Return the nodes that are up, or all; nodes left out are told."""
    taken = {name: node for name, node in nodes.items() if node.is_up or keep_down}
    for entry in dict.fromkeys(node.entry for node in nodes.values() if node.name not in taken):
        out = [node.name for node in nodes.values() if node.entry == entry and node.name not in taken]
        remarks.add(entry, f"{len(out)} of its nodes left out: down, drained or future")
    if not taken:
        raise refused(str(path), 1, "describes no node that is up", "Give a slurm.conf with NodeName lines.")
    return taken


def _partitions_taken(
    partitions: Sequence[PartitionLine], nodes: Mapping[str, Node], remarks: Remarks, *, keep_down: bool
) -> list[PartitionLine]:
    """Return the partitions that can run jobs; the others are told."""
    kept = []
    for partition in partitions:
        if not partition.is_up and not keep_down:
            remarks.add(partition.entry, "left out: its State is not UP")
        elif not any(name in nodes for name in partition.nodes):
            remarks.add(partition.entry, "left out: it has no node that is up")
        else:
            kept.append(partition)
    return kept


def _tell_default(partitions: Sequence[PartitionLine], remarks: Remarks) -> None:
    for partition in partitions if len(partitions) > 1 else ():
        if partition.is_default:
            remarks.add(partition.entry, "the default: here a job that names no partition may use every one")


def _notes(cluster: Mapping[str, Entry], remarks: Remarks) -> tuple[str, ...]:
    """Return power saving as lines to fill in: without watts it would make all energies nought."""
    times = {key: _seconds(cluster[key]) for key in _POWER if key in cluster}
    for key, seconds in times.items():
        kept = "in the comments: it works once the groups' watts are known" if seconds is not None else "off"
        remarks.add(cluster[key], f"power saving is {kept}")
    known = [f"{_POWER[key]} = {seconds}" for key, seconds in times.items() if seconds is not None]
    if not known or times.get("suspendtime", 0) is None:
        return ()
    return ("Power saving, for [groups.power] of each group once its watts are known:", *known)


def _seconds(entry: Entry) -> int | None:
    """Return a time of power saving, which Slurm counts in seconds; None where it is off."""
    is_off = entry.value == "-1" or entry.value.upper() in {"INFINITE", "UNLIMITED"}
    return None if is_off else count(entry)


def _cluster(nodes: Mapping[str, Node], partitions: Sequence[PartitionLine], name: Entry | None, path: Path) -> Cluster:
    """Make groups of like nodes, the lightest first, and the partitions over them."""
    member_of: dict[str, list[str]] = {}
    for partition in partitions:
        for host in partition.nodes:
            member_of.setdefault(host, []).append(partition.name)
    groups, within = [], {partition.name: list[str]() for partition in partitions}
    for names, in_partitions in _alike(nodes, member_of):
        node = nodes[names[0]]
        group = NodeGroup(
            name=folded(names),
            nodes=len(names),
            cores=node.cores,
            gpus=node.gpus,
            memory_bytes=node.memory_bytes,
            features=node.features,
        )
        groups.append(group)
        for partition_name in in_partitions:
            within[partition_name].append(group.name)
    made = tuple(
        Partition(name=p.name, groups=tuple(within[p.name]), max_limit_s=p.max_limit_s, max_nodes=p.max_nodes)
        for p in partitions
    )
    try:
        return Cluster(groups=tuple(groups), partitions=made, name=name.value if name is not None else "cluster")
    except ClusterError as error:
        raise refused(str(path), 1, error.cause.rstrip("."), error.remedy) from error


def _alike(nodes: Mapping[str, Node], member_of: Mapping[str, list[str]]) -> list[tuple[list[str], tuple[str, ...]]]:
    """Return names of nodes that are alike, with their partitions; the lightest first, else in the file's order."""
    alike: dict[tuple[Hashable, ...], list[str]] = {}
    for name, node in nodes.items():
        kind = (node.weight, node.cores, node.gpus, node.memory_bytes, node.features, *member_of.get(name, ()))
        alike.setdefault(kind, []).append(name)
    by_weight = sorted(alike.values(), key=lambda names: nodes[names[0]].weight)
    return [(names, tuple(member_of.get(names[0], ()))) for names in by_weight]
