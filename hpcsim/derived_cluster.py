"""What a plug-in of the group ``clusters`` returns: a machine made from a site's own files, and what was lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hpcsim.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Remark:
    """Something in the file that the cluster does not say, or says otherwise; *line*, where known, counts from 1."""

    path: str
    line: int | None
    text: str

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedCluster:
    """A cluster, and what its source says beside it.

    Attributes:
        cluster: the machine.
        policy: registry name of the policy that comes nearest to the site's scheduler; empty: unknown.
        settings: parameters of that policy, as ``--set`` takes them: name -> value.
        notes: lines worth keeping beside the cluster.
        remarks: all that has no counterpart, in the order of the files.
    """

    cluster: Cluster
    policy: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
