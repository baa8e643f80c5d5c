"""A cluster from the header of an SWF log: MaxProcs one-core nodes, as the log itself counts."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path

from hpcsim.cluster import Cluster
from hpcsim.derived_cluster import DerivedCluster, Remark
from hpcsim.errors import ClusterError, HpcsimWarning, WorkloadError
from hpcsim.workloads.clusters.conf_lines import printable, shortened
from hpcsim.workloads.readers.swf import read_swf
from hpcsim.workloads.swf_header import count_of, machine_size

_LOST = ("MaxNodes", "MaxRuntime", "MaxMemory", "Queues", "Queue", "Partitions", "Partition")


def from_swf(path: str | os.PathLike[str]) -> DerivedCluster:
    """Return the machine that an SWF header describes: its processors, and its name.

    Only comments before the second job are read.

    Raises:
        ClusterError: the header has neither MaxProcs nor MaxNodes, or the file cannot be read.
    """
    path = Path(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HpcsimWarning)
        try:
            header = read_swf(path, limit_rows=1).header
        except WorkloadError as error:
            raise ClusterError(error.cause, error.remedy, path=str(path), line=error.line or 1) from error
    size = machine_size(header)
    if size is None:
        cause = f"{path}:1: the header does not say how large the machine is: neither MaxProcs nor MaxNodes."
        raise ClusterError(cause, "Run the log with --processors N instead.", path=str(path), line=1)
    name = next((value.partition("\n")[0] for value in header.get("Computer", ()) if value), "cluster")
    lost = [
        Remark(str(path), None, f"{key} ({_one_line(header[key])}) has no counterpart in a cluster of processors")
        for key in _LOST
        if key in header
    ]
    if count_of(header, "MaxProcs") is None:
        lost.append(Remark(str(path), None, "no usable MaxProcs: MaxNodes stands in for it"))
    return DerivedCluster(cluster=Cluster.of_processors(size, name=name), remarks=tuple(lost))


def _one_line(values: Iterable[str]) -> str:
    return printable(shortened("; ".join(" ".join(value.split()) for value in values)))
