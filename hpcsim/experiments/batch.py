"""Run an experiment: every cell once, on any executor, so that nothing that has finished is ever lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from itertools import product
from pathlib import Path
from typing import Any

from hpcsim.cluster import Cluster
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import ExperimentError
from hpcsim.experiments import sweep_folder
from hpcsim.experiments.cell_run import CELLS, FAILED, share
from hpcsim.experiments.cells import NO_ADVISOR, Cell, Source, baseline_of, cells, sources
from hpcsim.experiments.drain import Drain, workers_die
from hpcsim.experiments.executors import PREFETCH, Given, Processes
from hpcsim.experiments.experiment import Experiment
from hpcsim.experiments.plug_ins import make, make_policy
from hpcsim.experiments.progress import Progress
from hpcsim.experiments.sweep import Sweep
from hpcsim.experiments.workload_store import StoredWorkload
from hpcsim.results.advised import ADVICE_KEYS
from hpcsim.results.energy import ENERGY_KEYS
from hpcsim.results.storage import plain
from hpcsim.workload import Workload

IN_FLIGHT = 10_000
"""Cells handed at once to an executor that is not ours, for how many workers it has is not known."""


Tell = Callable[[Progress], object]


def run(
    experiment: Experiment,
    folder: str | Path,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    resume: bool = False,
    progress: Tell = lambda _: None,
    notice: Callable[[str], object] = lambda _: None,
) -> Sweep:
    """Run every cell of *experiment* that has not finished yet, and return the sweep in *folder*.

    A cell that fails keeps its error, and the others go on. A worker that is killed costs the cells
    that it ran, which are run again, each by itself; one that kills its worker again has failed.
    Tables and summaries are the same bytes for any executor and any number of workers.

    Args:
        experiment: what to run.
        folder: where results go; every worker must reach it under this path.
        workers: processes of this machine, where no *executor* is given.
        executor: any other place to run, such as Dask's ``client.get_executor()``.
        resume: go on with the sweep in *folder*; cells that failed are tried again.
        progress: called at the start and after each cell.
        notice: called with a sentence about something odd: a reader's warning, a damaged result.

    Raises:
        ExperimentError: the experiment makes no sense, the folder is foreign or in use, workers die at once.
        DiskFull: there is no space left; what has finished is kept.
        HpcsimError: a workload cannot be read, a policy cannot be made.
    """
    folder = Path(folder).resolve()
    check(experiment)
    sweep_folder.prepare(folder, resume=resume)
    pool = Processes(workers) if executor is None else Given(executor)
    with sweep_folder.locked(folder), pool:
        sweep_folder.sweep_up(folder)
        in_flight = PREFETCH * workers if executor is None else IN_FLIGHT
        every = cells(experiment, share_all(sources(experiment), folder, pool, notice))
        check(experiment, every)
        _write_plan(experiment, every, folder)
        waiting = unfinished(every, folder, notice)
        for entry in sweep_folder.foreign(folder, [cell.key for cell in every]):
            notice(f"Not of this experiment, and left alone: {entry}.")
        _work(waiting, every, folder, pool, in_flight, progress)
        sweep_folder.sweep_up(folder)  # what a killed worker had begun to write
        sweep = Sweep.load(folder)
        sweep_folder.write_whole(folder / sweep_folder.TABLE, sweep.table().to_csv(index=False, lineterminator="\n"))
    return sweep


def check(experiment: Experiment, every: Sequence[Cell] = ()) -> None:
    """Make every policy and advisor once, and start each on its machines with no job.

    So a wrong name, a wrong parameter, and what cannot be simulated are errors before anything runs.

    Raises:
        HpcsimError: the first of them.
    """
    for entry in experiment.policies:
        for values in _grid_points(entry.grid):
            make_policy(entry.name, entry.parameters | values)
    for advisor in experiment.advisors:
        for values in _grid_points(advisor.grid) if advisor.name != NO_ADVISOR else ():
            make("advisors", advisor.name, advisor.parameters | values)
    _check_metrics(experiment, every)
    _try_machines(every)


def _grid_points(grid: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def _check_metrics(experiment: Experiment, every: Sequence[Cell]) -> None:
    """Refuse metrics that no run of the experiment has: of power, or of advice."""
    lacking: list[tuple[str, Any]] = []
    if every and not any(cell.advisor for cell in every):
        lacking.append(("no advisor", ADVICE_KEYS))
    if every and not any(Cluster.from_toml(machine).has_power for machine in {cell.machine for cell in every}):
        lacking.append(("no machine whose power is described", ENERGY_KEYS))
    for what, keys in lacking:
        for metric in experiment.metrics:
            if metric in keys:
                raise ExperimentError(
                    f"There is {what}, so no run has '{metric}'.", "Describe one, or compare by others."
                )


def _try_machines(every: Sequence[Cell]) -> None:
    """Start each policy on each machine with no job, so that what cannot be simulated is refused at once."""
    nothing = Workload.of(submit_s=[], run_s=[], nodes=[])
    tried = set()
    for cell in every:
        combination = json.dumps(plain([cell.policy, cell.machine, cell.advisor, cell.options]))
        if combination in tried:
            continue
        tried.add(combination)
        options = {key: value for key, value in cell.options.items() if key != "until"}
        advisor = None if cell.advisor is None else make("advisors", *cell.advisor)
        Simulation(nothing, Cluster.from_toml(cell.machine), make_policy(*cell.policy), advisor=advisor, **options)


def share_all(
    wanted: Sequence[Source], folder: Path, pool: Processes | Given, notice: Callable[[str], object]
) -> dict[str, StoredWorkload]:
    """Have every workload read or generated once; return what is known of them by `Source.key`.

    Raises:
        HpcsimError: one of them cannot be had, or workers die.
    """
    futures = {source.key: pool.submit(share, source, str(folder)) for source in wanted}
    found = {}
    for source in wanted:
        try:
            found[source.key] = futures[source.key].result()
        except BrokenExecutor as error:
            raise workers_die() from error
        for warning in found[source.key].warnings:
            notice(f"{source.file or source.name}: {warning}")
    return found


def _write_plan(experiment: Experiment, every: Sequence[Cell], folder: Path) -> None:
    """Write what the sweep is, before anything of it is run."""
    from hpcsim.toml_text import to_toml

    plan = {
        "format": sweep_folder.FORMAT,
        "name": experiment.name,
        "metrics": experiment.metrics,
        "baseline": baseline_of(experiment, every),
        "cells": [{"key": cell.key, "labels": cell.labels} for cell in every],
    }
    sweep_folder.write_whole(folder / sweep_folder.EXPERIMENT, to_toml(experiment.model_dump()))
    text = json.dumps(plain(plan), indent=1, ensure_ascii=False, allow_nan=False)
    sweep_folder.write_whole(folder / sweep_folder.PLAN, text + "\n")


def unfinished(every: Sequence[Cell], folder: Path, notice: Callable[[str], object] = lambda _: None) -> list[Cell]:
    """Return the cells that have no sound result, each once; damaged ones are named and put away."""
    waiting = {}
    for cell in every:
        target, failure = folder / CELLS / cell.key, folder / FAILED / f"{cell.key}.json"
        if cell.key in waiting:
            continue
        if target.exists() or target.is_symlink():
            fault = sweep_folder.damage(target)
            if not fault:
                continue
            notice(f"Damaged, so its cell is run again: {fault}.")
            sweep_folder.remove(target)
        failure.unlink(missing_ok=True)
        waiting[cell.key] = cell
    return list(waiting.values())


def _work(
    waiting: Sequence[Cell], every: Sequence[Cell], folder: Path, pool: Processes | Given, in_flight: int, tell: Tell
) -> None:
    """Run the cells that wait, telling of each that ends."""
    jobs = {cell.key: cell.jobs for cell in every}
    found = len(jobs) - len(waiting)
    total, done, failed, jobs_done = sum(cell.jobs for cell in waiting), 0, 0, 0
    tell(Progress(len(jobs), found, done, failed, total, jobs_done))
    for report in Drain(waiting, folder, pool, in_flight).reports():
        done, failed, jobs_done = done + 1, failed + bool(report.error), jobs_done + jobs[report.key]
        tell(Progress(len(jobs), found, done, failed, total, jobs_done))
