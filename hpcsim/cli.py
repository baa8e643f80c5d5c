"""The command line of hpcsim, from `hpcsim run` to `hpcsim workload fetch`.

Each command is a module of `hpcsim.commands`. Results go to standard output, messages and progress
to standard error. Errors end with exit code 2 and one sentence; ``--debug`` shows the traceback.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from hpcsim import __version__
from hpcsim.commands.check import check
from hpcsim.commands.cluster_from import from_slurm, from_swf
from hpcsim.commands.compare import compare
from hpcsim.commands.demo import demo
from hpcsim.commands.explain import explain
from hpcsim.commands.failures import EXIT_DEFECT, Command, CommandGroup, unforeseen
from hpcsim.commands.list_registry import list_registry
from hpcsim.commands.output import say
from hpcsim.commands.plot import plot
from hpcsim.commands.report import report
from hpcsim.commands.run import run
from hpcsim.commands.sweep import sweep
from hpcsim.commands.train import train
from hpcsim.commands.tune import tune
from hpcsim.commands.validate import validate
from hpcsim.commands.workload_convert import workload_convert
from hpcsim.commands.workload_fetch import workload_fetch
from hpcsim.commands.workload_generate import workload_generate
from hpcsim.commands.workload_info import workload_info
from hpcsim.commands.workload_transform import workload_transform

app = typer.Typer(
    cls=CommandGroup,
    name="hpcsim",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
workload = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Get job logs, look into them, make and change them."
)

cluster = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Make machine descriptions from a site's own files."
)

app.command(cls=Command)(demo)
app.command(cls=Command)(run)
app.command(cls=Command)(compare)
app.command(cls=Command)(sweep)
app.command(cls=Command)(tune)
app.command(cls=Command)(train)
app.command(cls=Command)(validate)
app.command(cls=Command)(explain)
app.command(cls=Command)(report)
app.command(cls=Command)(plot)
app.command(cls=Command)(check)
app.command("list", cls=Command)(list_registry)
app.add_typer(cluster, name="cluster")
cluster.command("from-slurm", cls=Command)(from_slurm)
cluster.command("from-swf", cls=Command)(from_swf)
app.add_typer(workload, name="workload")
workload.command("info", cls=Command)(workload_info)
workload.command("fetch", cls=Command)(workload_fetch)
workload.command("generate", cls=Command)(workload_generate)
workload.command("convert", cls=Command)(workload_convert)
workload.command("transform", cls=Command)(workload_transform)


def main() -> None:
    """Run the command line; the entry point of the ``hpcsim`` script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        say(f"Error: {unforeseen(error)}")
        sys.exit(EXIT_DEFECT)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"hpcsim {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Simulate an HPC cluster and its batch scheduling."""


if __name__ == "__main__":
    main()
