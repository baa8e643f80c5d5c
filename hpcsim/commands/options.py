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


Trace = Annotated[str, typer.Argument(metavar="TRACE", help="Job log in the Standard Workload Format, .gz or plain.")]
Nodes = Annotated[
    int | None,
    typer.Option("--nodes", min=1, metavar="N", help="Machine of N nodes, or processors if the log counts those."),
]
Processors = Annotated[
    int | None,
    typer.Option("--processors", min=1, metavar="P", help="Machine of P processors, for a log that counts processors."),
]
ClusterFile = Annotated[
    Path | None, typer.Option("--cluster", metavar="FILE", help="Machine described in a TOML file.")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Only the first N rows of the log.")]
Until = Annotated[
    float | None, typer.Option("--until", metavar="S", help="Cut the run at S seconds of the log's clock.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Root of all randomness.")]
Mode = Annotated[ReadMode, typer.Option("--mode", help="What to do with faulty rows of the log.")]
Check = Annotated[bool, typer.Option("--check", help="Watch the simulator's invariants during the run.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Save the results into this folder.")]
