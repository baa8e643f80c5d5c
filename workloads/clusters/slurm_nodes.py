"""Node lines of slurm.conf: what each node has, defaults applied in the order of the lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hpcsim.workloads.clusters.conf_lines import Entry, shortened
from hpcsim.workloads.clusters.conf_values import LARGEST, MIB, count, gres, words
from hpcsim.workloads.clusters.hostlists import MOST_HOSTS, hosts
from hpcsim.workloads.clusters.slurm_remarks import Remarks

ALIASES = {"procs": "cpus", "feature": "features"}
_OUT = ("down", "drain", "fail", "failing", "future")
_UP = ("unknown", "cloud", "idle")
_TAKEN = frozenset(
    {
        *("nodename", "cpus", "boards", "sockets", "socketsperboard", "corespersocket", "threadspercore"),
        *("realmemory", "memspeclimit", "corespeccount", "cpuspeclist", "gres", "features", "weight", "state"),
    }
)


@dataclass(frozen=True, slots=True)
class Node:
    """What one node offers to jobs; *entry* is the NodeName that it comes from, *gres* its Gres if it has one."""

    name: str
    cores: int
    memory_bytes: int
    gpus: int
    features: frozenset[str]
    weight: int
    is_up: bool
    entry: Entry
    gres: Entry | None


class NodeLines:
    """Takes the lines that begin with NodeName, in order, then those that begin with DownNodes."""

    def __init__(self, remarks: Remarks) -> None:
        self.nodes: dict[str, Node] = {}
        self._defaults: dict[str, Entry] = {}
        self._remarks = remarks

    def add(self, line: list[Entry]) -> None:
        """Take a NodeName line.

        Raises:
            ClusterError: a value makes no sense, or a node is named twice.
        """
        own = {ALIASES.get(entry.key, entry.key): entry for entry in line[1:]}
        head = line[0]
        self._remarks.left_out(
            (e for key, e in own.items() if key not in _TAKEN), _TAKEN, f"of {shortened(head.value)} "
        )
        if head.value.upper() == "DEFAULT":
            self._defaults |= own
            return
        if head.value.upper() == "ALL":
            raise head.refused("is a word that Slurm keeps for itself")
        node = _node(head, self._defaults | own, self._remarks)
        names = hosts(head)
        if len(self.nodes) + len(names) > MOST_HOSTS:
            raise head.refused(f"makes more than {MOST_HOSTS:,} nodes")
        for name in names:
            if name in self.nodes:
                raise head.refused(f"{name} is described in line {self.nodes[name].entry.line} already")
            self.nodes[name] = replace(node, name=name)

    def take_down(self, line: list[Entry]) -> None:
        """Take a DownNodes line: its nodes are out.

        Raises:
            ClusterError: it names a node that no line describes, or no known state.
        """
        state = next((entry for entry in line if entry.key == "state"), None)
        is_up = _is_up(state) if state is not None else False
        for name in hosts(line[0]):
            if name not in self.nodes:
                raise line[0].refused(f"there is no node {name}")
            self.nodes[name] = replace(self.nodes[name], is_up=is_up)


def _node(head: Entry, line: Mapping[str, Entry], remarks: Remarks) -> Node:
    """Return what a line says of each of its nodes."""
    return Node(
        name="",
        cores=_cores(head, line, remarks),
        memory_bytes=_memory_bytes(line),
        gpus=_gpus(line.get("gres"), remarks),
        features=frozenset(words(line["features"])) if "features" in line else frozenset(),
        weight=count(line["weight"]) if "weight" in line else 1,
        is_up=_is_up(line["state"]) if "state" in line else True,
        entry=head,
        gres=line.get("gres"),
    )


def _cores(head: Entry, line: Mapping[str, Entry], remarks: Remarks) -> int:
    """Return the CPUs that jobs can have: hardware threads where Slurm counts those, as `sacct` does."""
    cores, threads = _least_one(line, "corespersocket"), _least_one(line, "threadspercore")
    sockets = _sockets(line, cores * threads)
    cpus = sockets * cores * threads
    if "cpus" in line and (told := count(line["cpus"], least=1)) != cpus:
        if told in {sockets, sockets * cores}:
            cpus, threads = told, 1
        else:
            remarks.add(line["cpus"], f"matches neither sockets, cores nor threads; {cpus} by those, as Slurm has it")
    if cpus > LARGEST:
        raise head.refused("has more CPUs than any node")
    kept = 0
    if "cpuspeclist" in line:
        kept = len(_ids(line["cpuspeclist"]))
    elif "corespeccount" in line:
        kept = count(line["corespeccount"]) * threads
    if kept >= cpus:
        raise head.refused(f"keeps {kept} of its {cpus} CPUs from jobs")
    return cpus - kept


def _sockets(line: Mapping[str, Entry], cpus_each: int) -> int:
    """Return the sockets of a node: of its boards, else as told, else as many as its CPUs make."""
    boards = _least_one(line, "boards")
    if "socketsperboard" in line:
        return boards * _least_one(line, "socketsperboard")
    if "sockets" in line:
        return _least_one(line, "sockets")
    sockets, rest = divmod(_least_one(line, "cpus"), cpus_each)
    return boards if rest or not sockets else sockets


def _least_one(line: Mapping[str, Entry], key: str) -> int:
    return count(line[key], least=1) if key in line else 1


def _ids(entry: Entry) -> list[str]:
    return hosts(entry, f"cpu[{entry.value}]") if entry.value else []


def _memory_bytes(line: Mapping[str, Entry]) -> int:
    """Return the memory for jobs; 0, not modelled, where RealMemory is not set or 1 MiB, which means that."""
    real = count(line["realmemory"]) if "realmemory" in line else 1
    kept = count(line["memspeclimit"]) if "memspeclimit" in line else 0
    if real <= 1:
        return 0
    if kept >= real:
        raise line["memspeclimit"].refused(f"keeps all {real} MiB of the node from jobs")
    return (real - kept) * MIB


def _gpus(entry: Entry | None, remarks: Remarks) -> int:
    if entry is None:
        return 0
    found = gres(entry)
    others = sorted(set(found) - {"gpu"})
    if others:
        remarks.add(entry, f"of the resources only GPUs are kept, not {', '.join(others)}")
    return found.get("gpu", 0)


def _is_up(entry: Entry) -> bool:
    word = entry.value.lower().split("+")[0]
    if word not in (*_OUT, *_UP):
        raise entry.refused(f"is no state of a node; known: {', '.join((*_UP, *_OUT)).upper()}")
    return word in _UP
