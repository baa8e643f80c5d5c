"""Where a suite finds its logs: the user's folder, the cache of `hpcsim workload fetch`, shared traces."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hpcsim import registry
from hpcsim.errors import WorkloadError
from hpcsim.experiments.fetch import data_folder
from hpcsim.workload import Workload

_FROM_RLSCHEDULER = (
    "It is in the folder data of the repository DIR-LAB/deep-batch-scheduler (RLScheduler): put it there."
)


@dataclass(frozen=True, slots=True)
class Log:
    """A public log that suites cut sequences from.

    Attributes:
        file: its name, without ``.gz``.
        nodes: processors of its machine.
        dataset: what `hpcsim workload fetch` calls it; empty where it has no name there.
    """

    file: str
    nodes: int
    dataset: str = ""


LOGS = {
    "lublin-1": Log("lublin_256.swf", 256),
    "lublin-2": Log("lublin_256_new2.swf", 256),
    "sdsc-sp2": Log("SDSC-SP2-1998-4.2-cln.swf", 128, "sdsc-sp2"),
    "hpc2n": Log("HPC2N-2002-2.2-cln.swf", 240, "hpc2n"),
    "ctc": Log("CTC-SP2-1996-3.1-cln.swf", 338, "ctc-sp2"),
    "kth": Log("KTH-SP2-1996-2.1-cln.swf", 100, "kth-sp2"),
}


def read_log(name: str, data: str | None) -> Workload:
    """Return a log by RLScheduler's rules for SWF; *data* is a folder to look in first.

    Raises:
        WorkloadError: it is nowhere; the message says how to get it.
    """
    return _read(find_log(name, data))


@cache
def _read(path: Path) -> Workload:
    workload: Workload = registry.make("readers", "swf", path=path, profile="rlscheduler")
    return workload


def find_log(name: str, data: str | None) -> Path:
    """Return the file of a log.

    Raises:
        WorkloadError: it is nowhere; the message says how to get it.
    """
    log = LOGS[name]
    looked = []
    for folder in _folders(data):
        for path in (folder / f"{log.file}.gz", folder / log.file):
            if path.is_file():
                return path
        looked.append(str(folder))
    how = f"Type `hpcsim workload fetch {log.dataset}`." if log.dataset else _FROM_RLSCHEDULER
    raise WorkloadError(
        f"The suite needs {log.file}, which is not in {', '.join(looked)}.", f"{how} Or name its folder: --data."
    )


def _folders(data: str | None) -> Iterator[Path]:
    if data is not None:
        yield Path(data)
    yield data_folder()  # HPCSIM_DATA, or the cache
    if shared := os.environ.get("HPCSIM_SHARED"):
        yield Path(shared) / "traces"
