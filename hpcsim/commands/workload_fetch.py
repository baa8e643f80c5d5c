"""`hpcsim workload fetch`: get a public job log by its name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from hpcsim import registry
from hpcsim.commands import options
from hpcsim.commands.out_folder import check_folder
from hpcsim.commands.output import say
from hpcsim.commands.policy_specs import parse_setting
from hpcsim.experiments.fetch import fetch


def workload_fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One of `hpcsim list datasets`.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", parser=options.path, metavar="DIR", help="Folder for the file; else HPCSIM_DATA or the cache."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Parameter of the data set; repeatable.")
    ] = None,
    mirror: Annotated[
        str, typer.Option("--mirror", metavar="URL", help="Another server with the same paths: https://host.")
    ] = "",
) -> None:
    """Download a public job log, check it, and print its path; one that is there already is only checked."""
    check_folder(out)
    dataset = registry.make("datasets", name, **dict(map(parse_setting, settings or ())))
    say(f"{dataset.file} from {dataset.url}")
    say(f"Cite: {dataset.citation}.")
    say(f"Terms: {dataset.terms}")
    path = fetch(dataset, out, mirror=mirror, progress=DownloadBar() if sys.stderr.isatty() else False)
    say(f"Checked against {dataset.checksum or f'the checksum that {dataset.record} states'}.")
    typer.echo(str(path))


class DownloadBar:
    """A progress bar with the four members that pooch drives."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

        columns: tuple[Any, ...] = (BarColumn(bar_width=24), DownloadColumn(), TransferSpeedColumn())
        self._bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("")

    @property
    def total(self) -> int:
        """Bytes to come."""
        return int(self._bar.tasks[0].total or 0)

    @total.setter
    def total(self, size_bytes: int) -> None:
        self._bar.update(self._task, total=size_bytes)
        self._bar.start()

    def update(self, size_bytes: int) -> None:
        """Count bytes that came."""
        self._bar.advance(self._task, size_bytes)

    def reset(self) -> None:
        """Begin again at 0."""
        self._bar.reset(self._task)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()
