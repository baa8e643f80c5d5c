"""gres.conf: the GPUs of nodes whose node lines in slurm.conf name none, and where the two disagree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hpcsim.workloads.clusters.conf_lines import Entry
from hpcsim.workloads.clusters.conf_values import LARGEST, count
from hpcsim.workloads.clusters.hostlists import hosts
from hpcsim.workloads.clusters.slurm_nodes import Node
from hpcsim.workloads.clusters.slurm_remarks import Remarks

_OF_THE_DEVICE = {"name", "nodename", "type", "count", "file", "multiplefiles", "cores", "cpus", "links", "flags"}


def with_gpus(nodes: Mapping[str, Node], lines: Iterable[list[Entry]], remarks: Remarks) -> dict[str, Node]:
    """Return *nodes* with the GPUs of gres.conf. Where slurm.conf has a Gres it holds, as in Slurm.

    Raises:
        ClusterError: a line of gres.conf makes no sense.
    """
    found: dict[str, int] = {}
    where: dict[str, Entry] = {}
    for line in lines:
        keys = {entry.key: entry for entry in line}
        remarks.left_out((e for e in line if e.key not in _OF_THE_DEVICE), _OF_THE_DEVICE)
        if "name" not in keys:
            continue
        if keys["name"].value.lower() != "gpu":
            remarks.add(keys["name"], "of the resources only GPUs are kept")
            continue
        amount = _devices(keys)
        for name in _hosts_of(keys, nodes, remarks):
            found[name] = min(found.get(name, 0) + amount, LARGEST)
            where[name] = keys["name"]
    return {name: _merged(node, found.get(name), where.get(name), remarks) for name, node in nodes.items()}


def _devices(keys: Mapping[str, Entry]) -> int:
    """Return how many devices a line stands for: its Count, else the number of its files, else 1."""
    if "count" in keys:
        return count(keys["count"])
    if "file" in keys:
        return max(len(hosts(keys["file"], keys["file"].value.replace("/", "_"))), 1)
    return 1


def _hosts_of(keys: Mapping[str, Entry], nodes: Mapping[str, Node], remarks: Remarks) -> list[str]:
    """Return the nodes that a line is about, all where it names none; others than the cluster's are told."""
    if "nodename" not in keys:
        return list(nodes)
    named = hosts(keys["nodename"])
    missing = [name for name in named if name not in nodes]
    if missing:
        remarks.add(keys["nodename"], f"{len(missing)} of these nodes are not in slurm.conf, {missing[0]} among them")
    return [name for name in named if name in nodes]


def _merged(node: Node, gpus: int | None, where: Entry | None, remarks: Remarks) -> Node:
    if gpus is None or where is None or gpus == node.gpus:
        return node
    if node.gres is not None:
        remarks.add(where, f"gives {gpus} GPUs to nodes to which slurm.conf gives {node.gpus}; slurm.conf holds")
        return node
    remarks.add(where, f"{gpus} GPUs a node by gres.conf alone; Slurm wants them in slurm.conf as well")
    return replace(node, gpus=gpus)
