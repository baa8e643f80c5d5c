"""The texts of a PBS accounting record: its attributes, and the nodes, processors and GPUs that they name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hpcsim.node_ids import MOST_NODES

_ATTRIBUTE = re.compile(r"(?:^|\s)([A-Za-z_][\w.]*)=")
_INTEGER = re.compile(r"\d{1,9}", re.ASCII)
_SLOT_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
_REPEATED_SLOT = re.compile(r"\d+\*(\d{1,9})", re.ASCII)
_CHUNK = re.compile(r"(?:(\d{1,9})(?=:|$)|[^:]+)", re.ASCII)
_PPN = re.compile(r":(?:ppn|ncpus)=(\d{1,9})", re.ASCII)
_GPUS = re.compile(r":n?gpus?=(\d{1,9})", re.ASCII)
_VNODE_CPUS = re.compile(r":ncpus=(\d{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Allocation:
    """Sizes of a whole job; 0 where the text does not say."""

    nodes: int = 0
    processors: int = 0
    gpus: int = 0


def attributes(message: str) -> dict[str, str]:
    """Return the ``key=value`` pairs of a message; a value goes on to the next blank that a key follows."""
    matches = list(_ATTRIBUTE.finditer(message))
    ends = [*(match.start() for match in matches[1:]), len(message)][: len(matches)]
    return {match[1]: message[match.end() : end].strip() for match, end in zip(matches, ends, strict=True)}


def allocation(found: Mapping[str, str]) -> Allocation:
    """Return what a job held: by its hosts, else its virtual nodes, else by what it asked for."""
    host_nodes, host_slots = _hosts(found.get("exec_host", ""))
    asked = _chunks(found.get("Resource_List.nodes") or found.get("Resource_List.select") or "")
    vnode_cpus = sum(int(cpus) for cpus in _VNODE_CPUS.findall(found.get("exec_vnode", "")))
    count_text = found.get("Resource_List.nodect", "")
    return Allocation(
        nodes=_bounded(host_nodes or _first_integer(count_text) or asked.nodes),
        processors=_bounded(
            host_slots or vnode_cpus or asked.processors or _first_integer(found.get("Resource_List.ncpus", ""))
        ),
        gpus=_bounded(_first_integer(found.get("Resource_List.ngpus", "")) or asked.gpus or _chunks(count_text).gpus),
    )


def _hosts(text: str) -> tuple[int, int]:
    """Return distinct hosts and slots of ``n1/0+n1/1``, ``n1/0*13+n2/0*13``, ``n1/0-3,5``."""
    hosts, slots = set(), 0
    for part in text.split("+") if text else ():
        host, _, indices = part.partition("/")
        if host:
            hosts.add(host)
            slots += sum(map(_slots, indices.split(",")))
    return len(hosts), slots


def _slots(text: str) -> int:
    if match := _REPEATED_SLOT.fullmatch(text):
        return int(match[1])
    if match := _SLOT_RANGE.fullmatch(text):
        return max(0, int(match[2]) - int(match[1]) + 1)
    return 1 if _INTEGER.fullmatch(text) else 0


def _chunks(text: str) -> Allocation:
    """Return the sizes of ``2:ppn=8:gpus=2:feature+1:ppn=4``; a name in place of a count is one node."""
    nodes = processors = gpus = 0
    for chunk in text.split("+") if text else ():
        head = _CHUNK.match(chunk)
        count = int(head[1]) if head and head[1] else 1
        cpus, cards = _PPN.search(chunk), _GPUS.search(chunk)
        nodes += count
        processors += count * (int(cpus[1]) if cpus else 1)
        gpus += count * (int(cards[1]) if cards else 0)
    return Allocation(nodes, processors, gpus)


def _first_integer(text: str) -> int:
    match = _INTEGER.match(text.strip())
    return int(match[0]) if match else 0


def _bounded(count: int) -> int:
    """Return *count*, or just more than any machine has."""
    return min(count, MOST_NODES + 1)
