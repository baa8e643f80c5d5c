"""The command line of hpcsim, from `hpcsim run` to `hpcsim workload fetch`.

Each command is a module of `hpcsim.commands`. Results go to standard output, messages and progress
to standard error. Errors end with exit code 2 and one sentence; ``--debug`` shows the traceback.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated, ClassVar

import typer

from hpcsim import __version__
from hpcsim.commands.failures import EXIT_DEFECT, CommandGroup, unforeseen
from hpcsim.commands.lazily import LazyGroup
from hpcsim.commands.output import say


class _Root(CommandGroup):
    places: ClassVar = {
        "demo": "demo:demo",
        "run": "run:run",
        "compare": "compare:compare",
        "train": "train:train",
        "evaluate": "evaluate:evaluate",
        "ablate": "ablate:ablate",
        "sweep": "sweep:sweep",
        "tune": "tune:tune",
        "validate": "validate:validate",
        "advise": "advise:advise",
        "advise-study": "advise_study:advise_study",
        "explain": "explain:explain",
        "attention": "attention:attention",
        "report": "report:report",
        "plot": "plot:plot",
        "check": "check:check",
        "list": "list_registry:list_registry",
    }


class _Cluster(LazyGroup):
    places: ClassVar = {"from-slurm": "cluster_from:from_slurm", "from-swf": "cluster_from:from_swf"}


class _Surrogate(LazyGroup):
    places: ClassVar = {
        "fit": "surrogate_fit:surrogate_fit",
        "predict": "surrogate_predict:surrogate_predict",
        "explain": "surrogate_explain:surrogate_explain",
        "study": "surrogate_study:surrogate_study",
    }


class _Workload(LazyGroup):
    places: ClassVar = {
        "info": "workload_info:workload_info",
        "fetch": "workload_fetch:workload_fetch",
        "generate": "workload_generate:workload_generate",
        "convert": "workload_convert:workload_convert",
        "transform": "workload_transform:workload_transform",
    }


app = typer.Typer(
    cls=_Root,
    name="hpcsim",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
cluster = typer.Typer(
    cls=_Cluster,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make machine descriptions from a site's own files.",
)
workload = typer.Typer(
    cls=_Workload,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Get job logs, look into them, make and change them.",
)
surrogate = typer.Typer(
    cls=_Surrogate,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Learn from finished jobs what others would take and draw at any node count.",
)
app.add_typer(cluster, name="cluster")
app.add_typer(surrogate, name="surrogate")
app.add_typer(workload, name="workload")


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
