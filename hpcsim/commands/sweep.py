"""`hpcsim sweep`: an experiment file, run to the end by as many workers as there are."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from datetime import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hpcsim.commands import options
from hpcsim.commands.comparisons_table import print_comparisons
from hpcsim.commands.output import print_json, results_only, say
from hpcsim.commands.policy_specs import parse_setting
from hpcsim.commands.sweep_progress import follow
from hpcsim.errors import ExperimentError
from hpcsim.results.quantities import count, duration

if TYPE_CHECKING:
    from hpcsim.experiments.sweep import Sweep


def _print_schema(is_wanted: bool) -> None:
    if is_wanted:
        from hpcsim.experiments.experiment import Experiment

        print_json(Experiment.json_schema())
        raise typer.Exit


def sweep(
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT", help="Experiment file, TOML.")],
    *,
    out: options.Out = None,
    workers: options.Workers = 1,
    dask: options.Dask = None,
    slurm: Annotated[
        list[str] | None,
        typer.Option("--slurm", metavar="KEY=VALUE", help="Run in Slurm jobs; option of SLURMCluster; repeatable."),
    ] = None,
    pbs: Annotated[
        list[str] | None,
        typer.Option("--pbs", metavar="KEY=VALUE", help="Run in PBS jobs; option of PBSCluster; repeatable."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the sweep in DIR; failed cells again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many runs, how long, how large.")] = False,
    schema: Annotated[  # noqa: ARG001 - its callback acts before the command does
        bool,
        typer.Option("--schema", callback=_print_schema, is_eager=True, help="Print the JSON schema of such files."),
    ] = False,
    json: options.Json = False,
) -> None:
    """Run all policies, workloads and machines of an experiment file.

    Prints how each differs from the baseline; all figures are in DIR/table.csv.
    """
    from hpcsim.experiments.batch import run
    from hpcsim.experiments.experiment import Experiment

    described = Experiment.load(experiment)
    if dry_run:
        _estimate(described, workers, json)
        return
    if out is None:
        raise ExperimentError("A sweep needs a folder for its results.", "Add --out DIR.")
    with place_to_run(dask, slurm, pbs, workers) as executor, results_only(), follow() as progress:
        done = run(described, out, workers=workers, executor=executor, resume=resume, progress=progress, notice=say)
    _show(done, json)


def _show(done: Sweep, is_json: bool) -> None:
    """Print the comparisons, and where the rest is; raise if cells failed."""
    table = done.table()
    failed = table[table["status"] != "finished"]
    comparisons = None if len(failed) == len(table) else done.comparisons()
    if is_json:
        rows = [] if comparisons is None else comparisons.to_dict("records")
        print_json({"cells": table.to_dict("records"), "comparisons": rows})
    elif comparisons is not None:
        print_comparisons(done.name, comparisons, done.baseline)
    say(f"{count(len(table), 'cell')} in {done.folder / 'table.csv'}")
    if len(failed):
        first = failed.iloc[0]
        raise ExperimentError(
            f"{len(failed)} of {count(len(table), 'cell')} failed; the first ({first['policy']}, {first['workload']}): "
            f"{str(first['error']).rstrip('.')}.",
            f"All errors are in {done.folder / 'failed'}; --resume tries those cells again.",
        )


def _estimate(described: Any, workers: int, is_json: bool) -> None:
    from hpcsim.experiments.estimate import PILOT_JOBS, estimate

    cost = estimate(described)
    wall_s = cost.serial_s / workers
    if is_json:
        facts = {"cells": cost.cells, "workloads": cost.workloads, "jobs": cost.jobs}
        print_json(facts | {"workers": workers, "estimated_s": wall_s, "estimated_bytes": cost.disk_bytes})
        return
    typer.echo(
        f"{count(cost.cells, 'cell')} of {count(cost.workloads, 'workload')}, {count(cost.jobs, 'job')} in all: "
        f"about {duration(max(1, round(wall_s)))} with {count(workers, 'worker')}, "
        f"{cost.disk_bytes / 1e6:,.1f} MB of disk."
    )
    typer.echo(f"By pilots of up to {PILOT_JOBS:,} jobs: deeper queues take longer.")


@contextmanager
def place_to_run(
    dask: str | None, slurm: list[str] | None, pbs: list[str] | None, workers: int
) -> Iterator[Executor | None]:
    """Give the executor that was asked for; None is the pool of this machine.

    Raises:
        ExperimentError: more than one was asked for, or nobody answers there.
        MissingExtra: Dask is not installed.
    """
    queues = {kind: settings for kind, settings in (("slurm", slurm), ("pbs", pbs)) if settings}
    if len(queues) + (dask is not None) > 1:
        raise ExperimentError("The place to run is given more than once.", "Give one of --dask, --slurm and --pbs.")
    if dask is None and not queues:
        yield None
        return
    from hpcsim.experiments.executors import dask_executor, queue_executor

    if dask is not None:
        with dask_executor(dask, workers=workers) as executor:
            yield executor
        return
    ((kind, settings),) = queues.items()
    # A wall-clock limit such as 02:00:00 is a time of day in TOML.
    given = {key: str(value) if isinstance(value, time) else value for key, value in map(parse_setting, settings)}
    with queue_executor(kind, given, workers=workers) as executor:
        yield executor
