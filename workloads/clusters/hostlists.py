"""Names of nodes as Slurm lists them: ``rack[0-1]_gpu[01-04],login01``; ClusterShell reads and writes them.

ClusterShell knows more than Slurm: ``@groups`` that run commands, set operations, steps. What is not
Slurm's is refused before it sees it, and so are lists too long to be a machine's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hpcsim.workloads.clusters.conf_lines import Entry

MOST_HOSTS = 100_000

_RANGE = r"\d{1,9}(?:-\d{1,9})?"
_LIST = rf"\[{_RANGE}(?:,{_RANGE})*\]"
_NAME = re.compile(rf"(?:[\w.-]|{_LIST})+", re.ASCII)
_BRACKETS = re.compile(_LIST, re.ASCII)
_COMMAS = re.compile(r",(?![^\[]*\])")


def hosts(entry: Entry, text: str | None = None) -> list[str]:
    """Return the names in *text*, by default the entry's value, in ClusterShell's order.

    Raises:
        ClusterError: it is no list of names, or a list of more than 100,000.
    """
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException
    from ClusterShell.RangeSet import RangeSetException

    names = [name for name in _COMMAS.split(entry.value if text is None else text) if name]
    if any(_NAME.fullmatch(name) is None for name in names):
        raise entry.refused("is no list of hosts, as n[01-16],login1")
    if sum(map(_most, names)) > MOST_HOSTS:
        raise entry.refused(f"names more than {MOST_HOSTS:,} hosts, which no machine has")
    try:
        return list(NodeSet(",".join(names), resolver=RESOLVER_NOGROUP))
    except (NodeSetException, RangeSetException, ValueError) as error:
        raise entry.refused("is no list of hosts, as n[01-16],login1") from error


def folded(names: Iterable[str]) -> str:
    """Return names as one list, ``n[1-4],m1``."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    return str(NodeSet.fromlist(list(names), resolver=RESOLVER_NOGROUP))


def _most(name: str) -> int:
    """Return how many hosts one name with brackets stands for, at most."""
    count = 1
    for brackets in _BRACKETS.findall(name):
        count *= sum(_width(part) for part in brackets[1:-1].split(","))
    return count


def _width(part: str) -> int:
    low, dash, high = part.partition("-")
    return max(int(high) - int(low) + 1, 1) if dash else 1
