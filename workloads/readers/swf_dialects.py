"""Two dialects of SWF with 21 fields a line: that of the Alea simulator, and that of public Frontier logs.

Alea adds a list of nodes in braces, the queue's name, and PBS's request for nodes. The Frontier logs
add the GPUs of the job, a soft limit, and a site's text ``system:mode:NxM`` in which N is the number
of nodes. Both then say what plain SWF does not: how many nodes a job takes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hpcsim.workloads.readers.byte_columns import decode
from hpcsim.workloads.readers.log_blocks import numbered_lines
from hpcsim.workloads.readers.pbs_values import allocation
from hpcsim.workloads.readers.swf_lines import number
from hpcsim.workloads.swf_fields import FIELDS, MISSING

Dialect = Literal["alea", "frontier"]
DIALECTS: tuple[Dialect, ...] = ("alea", "frontier")

_SITE = re.compile(rb"[^:]*:[^:]*:(\d{1,9})x(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Extra:
    """What the fields behind the 18th say of one job: nodes, 0 where they do not, and more columns of it."""

    nodes: int = 0
    cores_per_node: int = 0
    gpus_per_node: int = 0
    soft_limit_s: float = MISSING
    partitions: tuple[str, ...] = ()


def dialect_columns(path: Path, dialect: Dialect, lines: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return columns ``nodes cores_per_node ...`` of the job *lines* (ascending) of a file in one of the dialects."""
    parse = _alea if dialect == "alea" else _frontier
    wanted = set(lines.tolist())
    extras = [parse(line.split()[len(FIELDS) :]) for at, line in numbered_lines(path) if at in wanted]
    partitions = np.empty(len(extras), dtype=object)
    partitions[:] = [extra.partitions for extra in extras]
    columns = {
        name: np.array([getattr(extra, name) for extra in extras]) if extras else np.empty(0, dtype=np.int64)
        for name in ("nodes", "cores_per_node", "gpus_per_node", "soft_limit_s")
    }
    return columns | {"partitions": partitions}


def _alea(fields: list[bytes]) -> Extra:
    """Read ``{1241,1241} q_1d 1:ppn=64:x86_64#excl``."""
    if len(fields) < 3:
        return Extra()
    held = allocation({"Resource_List.nodes": decode(fields[2]).partition("#")[0]})
    per_node = -(-held.processors // held.nodes) if held.nodes else 0
    return Extra(nodes=held.nodes, cores_per_node=per_node, partitions=(decode(fields[1]),))


def _frontier(fields: list[bytes]) -> Extra:
    """Read ``20000 3500 system:excl:2500x112``."""
    site = _SITE.fullmatch(fields[2]) if len(fields) > 2 else None
    if site is None:
        return Extra()
    nodes, gpus, limit = int(site[1]), number(fields[0]), number(fields[1])
    per_node = -(-int(gpus) // nodes) if gpus is not None and gpus > 0 and nodes else 0
    return Extra(nodes, int(site[2]), per_node, MISSING if limit is None else limit)
