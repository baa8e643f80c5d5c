"""The file that a command writes a workload to, and what it says about it."""

from __future__ import annotations

from pathlib import Path

from hpcsim import registry
from hpcsim.commands.out_folder import check_file
from hpcsim.commands.output import say
from hpcsim.commands.progress import busy
from hpcsim.errors import WorkloadError
from hpcsim.results.quantities import count, duration, percentage
from hpcsim.workload import Workload

WRITERS = {".swf": "swf", ".swf.gz": "swf", ".parquet": "workload"}
"""How a file's name ends -> writer."""


def choose_writer(path: Path, name: str | None) -> str:
    """Return the writer for *path*: the one asked for, else by how the file is called.

    Raises:
        WorkloadError: its name says no format.
        UnknownName: there is no such writer.
        ResultError: no file can be written there.
    """
    check_file(path)
    if name is not None:
        registry.find("writers", name)
        return name
    for suffix, writer in WRITERS.items():
        if path.name.endswith(suffix):
            return writer
    raise WorkloadError(
        f"{path.name} does not say what format to write.", f"End it in {', '.join(WRITERS)}, or add --as NAME."
    )


def write_log(workload: Workload, path: Path, writer: str) -> None:
    """Write *workload* and say what is in it."""
    with busy(f"Writing {path.name}"):
        registry.find("writers", writer)(workload, path)
    say(f"{path}: {_facts(workload)}.")


def _facts(workload: Workload) -> str:
    facts = count(len(workload), "job")
    if not len(workload):
        return facts
    submit_s = workload.columns["submit_s"]
    facts += f" submitted over {duration(float(submit_s.max() - submit_s.min()))}"
    if workload.machine_nodes is not None:
        load = percentage(workload.offered_load(workload.machine_nodes))
        facts += f", offered load {load} of {count(workload.machine_nodes, workload.counted.removesuffix('s'))}"
    return facts
