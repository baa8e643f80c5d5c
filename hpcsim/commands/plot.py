"""`hpcsim plot`: one plot of saved runs as a file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hpcsim.commands import options
from hpcsim.commands.out_folder import check_file
from hpcsim.commands.saved_run import Runs, read_runs


class PlotKind(StrEnum):
    """What can be plotted."""

    GANTT = "gantt"
    UTILISATION = "utilisation"
    QUEUE = "queue"
    ECDF = "ecdf"
    HEATMAP = "heatmap"
    POWER = "power"


def plot(
    kind: Annotated[PlotKind, typer.Argument(metavar="KIND", help=f"One of: {', '.join(PlotKind)}.")],
    runs: Runs,
    out: Annotated[
        Path, typer.Option("--out", "-o", parser=options.path, metavar="FILE", help="File: .png, .svg or .pdf.")
    ],
) -> None:
    """Plot saved runs into a file, each policy in the colour that it has everywhere."""
    from hpcsim.results.plots import KINDS, check_format, save

    check_file(out)
    check_format(out)
    figure = KINDS[kind](read_runs(runs))
    out.parent.mkdir(parents=True, exist_ok=True)
    save(figure, out)
    typer.echo(str(out))
