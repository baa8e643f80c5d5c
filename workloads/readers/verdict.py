"""What a reader tells about a workload that it has made: where it came from, what was mended, what is odd."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path

from hpcsim.errors import SuspiciousWorkload, WorkloadRepaired
from hpcsim.workload import Workload
from hpcsim.workloads.sanity import remarks


def file_sha256(path: Path) -> str:
    """Return the hash of the file as it lies there, compressed or not."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def warn_of(workload: Workload, path: Path, *, stacklevel: int = 3) -> None:
    """Warn of rows that were changed or refused, and of numbers that are legal and unlikely."""
    ledger = workload.ledger
    if ledger.changed or ledger.refused:
        changed = "1 row" if ledger.changed == 1 else f"{ledger.changed:,} rows"
        counts = f"{changed} changed and {ledger.refused:,} refused, of {ledger.rows:,}"
        warnings.warn(
            f"{path.name}: {counts}; the workload's ledger says why.", WorkloadRepaired, stacklevel=stacklevel
        )
    for remark in remarks(workload):
        warnings.warn(f"{path.name}: {remark}", SuspiciousWorkload, stacklevel=stacklevel)
