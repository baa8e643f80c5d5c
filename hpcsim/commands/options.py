"""Options that several commands share, so that they are spelled and explained alike."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ReadMode(StrEnum):
    """What the reader does with a faulty row; see `hpcsim.ingest`."""

    REPAIR = "repair"
    STRICT = "strict"
    QUARANTINE = "quarantine"


def path(text: str) -> Path:
    """Return the path that was typed; an empty one, as of an unset shell variable, would mean the current folder."""
    if not text:
        raise typer.BadParameter("The path is empty. Give one, or leave the option out.")
    return Path(text)


Trace = Annotated[str, typer.Argument(metavar="TRACE", help="Job log: SWF, sacct, PBS, ... ; .gz or plain.")]
Nodes = Annotated[
    int | None,
    typer.Option("--nodes", min=1, metavar="N", help="Machine of N nodes, or processors if the log counts those."),
]
Processors = Annotated[
    int | None,
    typer.Option("--processors", min=1, metavar="P", help="Machine of P processors, for a log that counts processors."),
]
ClusterFile = Annotated[
    Path | None, typer.Option("--cluster", parser=path, metavar="FILE", help="Machine described in a TOML file.")
]
Placement = Annotated[
    str | None,
    typer.Option("--placement", metavar="NAME", help="Which free nodes a job gets: registry name or file.py:Class."),
]
PowerCap = Annotated[
    float | None,
    typer.Option("--power-cap", min=0, metavar="W", help="Facility cap in watts, in place of the cluster file's."),
]
Advisor = Annotated[
    str | None,
    typer.Option(
        "--advisor",
        metavar="NAME[:KEY=VALUE,...]",
        help="Advice on node counts at submission: registry name, module:Class or file.py:Class, and its parameters.",
    ),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Only the first N rows of the log.")]
Until = Annotated[
    float | None, typer.Option("--until", metavar="S", help="Cut the run at S seconds of the log's clock.")
]
Grace = Annotated[
    float,
    typer.Option("--grace", min=0, metavar="S", help="Seconds that a job may run over its limit before it is killed."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Root of all randomness.")]
Mode = Annotated[
    ReadMode | None, typer.Option("--mode", help="What to do with faulty rows of the log; repair if not given.")
]
Format = Annotated[
    str,
    typer.Option("--format", metavar="NAME", help="Format of the log, from `hpcsim list readers`."),
]
Read = Annotated[
    list[str] | None,
    typer.Option("--read", metavar="KEY=VALUE", help="Option of the log's reader, as zone=Europe/Paris; repeatable."),
]
Quarantine = Annotated[
    Path | None,
    typer.Option(
        "--quarantine", parser=path, metavar="FILE", help="Write refused rows into this file; implies that mode."
    ),
]
Check = Annotated[bool, typer.Option("--check", help="Watch the simulator's invariants during the run.")]
RecordWaits = Annotated[
    bool, typer.Option("--explain", help="Keep why each job waits where nodes differ or have power; takes time.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Out = Annotated[
    Path | None, typer.Option("--out", parser=path, metavar="DIR", help="Save the results into this folder.")
]
ReportFolder = Annotated[Path, typer.Option("--out", parser=path, metavar="DIR", help="Folder for the report.")]
ReportFile = Annotated[
    Path | None, typer.Option("--report", parser=path, metavar="FILE", help="Write an HTML report into this file.")
]
NewLog = Annotated[
    Path, typer.Option("--out", parser=path, metavar="FILE", help="File to write: .swf, .swf.gz or .parquet.")
]
WriteAs = Annotated[
    str | None,
    typer.Option("--as", metavar="NAME", help="Format to write, see `hpcsim list writers`; else by the file's name."),
]
OnePolicy = Annotated[
    str,
    typer.Option(
        "--policy",
        metavar="NAME[:KEY=VALUE,...]",
        help="Registry name, module:Class or file.py:Class, and its parameters.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Parameter of the policy, as order=wfp3, or of a part of it, as order.compat=rlscheduler; repeatable.",
    ),
]
LiveView = Annotated[
    bool, typer.Option("--watch", help="Show clock, queue, nodes and figures while it runs, in the terminal.")
]
Policies = Annotated[
    list[str],
    typer.Option(
        "--policy",
        metavar="NAME[:KEY=VALUE,...]",
        help="Policy to compare, as for run; repeat it. The first is old.",
    ),
]
Workers = Annotated[
    int, typer.Option("--workers", min=1, metavar="N", help="Processes of this machine, or workers to ask for.")
]
Dask = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="Run on the Dask scheduler at this address, or 'local'."),
]
