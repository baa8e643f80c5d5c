"""`hpcsim train`: make a learned policy learn."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from hpcsim import registry
from hpcsim.cluster import Cluster
from hpcsim.commands import options
from hpcsim.commands.output import say
from hpcsim.commands.policy_specs import parse_setting
from hpcsim.commands.trace import choose_machine, read_trace
from hpcsim.errors import HpcsimError
from hpcsim.workload import Workload


def train(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to train, from `hpcsim list trainers`.")],
    *,
    out: Annotated[
        Path, typer.Option("--out", parser=options.path, metavar="DIR", help="Folder for networks and progress.")
    ],
    preset: Annotated[str, typer.Option("--preset", metavar="NAME", help="smoke, demo or report.")] = "demo",
    workload: Annotated[
        list[str] | None,
        typer.Option("--workload", metavar="TRACE", help="Train on this job log, too, its first 60 %; repeatable."),
    ] = None,
    generated: Annotated[bool, typer.Option("--generated/--no-generated", help="Train on generated logs.")] = True,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Root of all randomness, in place of the preset's seeds.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the training in DIR.")] = False,
    workers: options.Workers = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PART.KEY=VALUE", help="Change the preset, as training.updates=10; repeatable."),
    ] = None,
) -> None:
    """Train a policy; the last line printed is the file of the best network.

    It is a parameter of the policy: hpcsim run TRACE --policy ppo-gtrxl --set checkpoint=FILE.
    """
    logs: dict[str, tuple[Workload, Cluster]] = {}
    for path in workload or ():
        jobs = read_trace(path)
        label = Path(path).name
        if label in logs:
            raise HpcsimError(f"Two of the logs are called {label}.", "Give each once, under a name of its own.")
        logs[label] = (jobs, choose_machine(jobs, nodes=None, processors=None, cluster_file=None))
    chosen = registry.make(
        "trainers",
        name,
        out=out,
        preset=preset,
        logs=logs,
        generates=generated,
        seed=seed,
        resume=resume,
        workers=workers,
        settings=dict(parse_setting(text) for text in settings or ()),
        command=shlex.join(["hpcsim", *map(_without_folders, sys.argv[1:])]),
        say=say,
    )
    typer.echo(chosen)


def _without_folders(argument: str) -> str:
    """Return what was typed, of a path its last part alone: where a log lay on one machine tells others nothing."""
    return Path(argument).name if "/" in argument else argument
