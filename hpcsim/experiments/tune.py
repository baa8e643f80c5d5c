"""Search parameters of a policy and a machine for two or three objectives, each judged by simulations.

Every setting is run on all seeds, as cells of a sweep: so a study is resumed like one, and
`hpcsim.experiments.sweep.Sweep` reads its folder.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim import registry
from hpcsim.errors import ExperimentError
from hpcsim.experiments import sweep_folder
from hpcsim.experiments.batch import IN_FLIGHT, check, share_all, unfinished
from hpcsim.experiments.cell_run import CELLS, FAILED
from hpcsim.experiments.cells import Cell, cells, sources
from hpcsim.experiments.contrasts import HIGHER_IS_BETTER
from hpcsim.experiments.drain import Drain
from hpcsim.experiments.executors import PREFETCH, Given, Processes
from hpcsim.experiments.experiment import Experiment
from hpcsim.experiments.space import Dimension, dimensions, parameters, setting
from hpcsim.experiments.study import Study
from hpcsim.experiments.workload_store import StoredWorkload
from hpcsim.results import storage
from hpcsim.results.statistics.student import mean_interval
from hpcsim.results.storage import plain
from hpcsim.search import Points, Search, is_on_front

if TYPE_CHECKING:
    import pandas as pd

Evaluate = Callable[[list[dict[str, Any]]], NDArray[np.float64]]
"""Settings in; objectives out, all to be minimised: one row a setting, NaN where it failed."""

TRIALS = "trials.csv"
"""File of a study with one row a setting."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting that was tried: replicates of each objective, as the user counts them."""

    setting: dict[str, Any]
    values: dict[str, list[float]]
    error: str = ""


def search(engine: Search, axes: Sequence[Dimension], evaluate: Evaluate, *, batch: int = 2) -> None:
    """Let *engine* ask until its budget is used up or it has nothing left to try."""
    tried = 0
    while tried < engine.budget:
        points = engine.ask(min(batch, engine.budget - tried))
        if not len(points):
            return
        tried += len(points)
        engine.tell(points, evaluate([setting(list(axes), point) for point in points]))


def tune(
    study: Study,
    folder: str | Path,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    resume: bool = False,
    progress: Callable[[int, int], object] = lambda _tried, _budget: None,
    notice: Callable[[str], object] = lambda _: None,
) -> pd.DataFrame:
    """Run *study* and return its settings, see `trials_table`; the table is in *folder* as well.

    The engine is seeded, so that a study that was stopped asks the same questions again and finds
    their answers in *folder*. Arguments as for `hpcsim.experiments.batch.run`.

    Raises:
        ExperimentError: the study makes no sense, the folder is in use or foreign, or all settings failed.
        HpcsimError: as a sweep.
    """
    folder = Path(folder).resolve()
    axes = dimensions(study)
    options = {"budget": study.search.budget, "seed": study.search.seed}
    engine: Search = registry.make("search", study.search.engine, levels=[axis.levels for axis in axes], **options)
    sweep_folder.prepare(folder, resume=resume)
    pool = Processes(workers) if executor is None else Given(executor)
    with sweep_folder.locked(folder), pool:
        sweep_folder.sweep_up(folder)
        stored = share_all(sources(_experiment(study, {})), folder, pool, notice)
        judge = _Judge(study, folder, stored, pool, PREFETCH * workers if executor is None else IN_FLIGHT)

        def evaluate(settings: list[dict[str, Any]]) -> NDArray[np.float64]:
            found = judge(settings)
            progress(len(judge.trials), study.search.budget)
            return found

        search(engine, axes, evaluate, batch=study.search.batch)
        table = trials_table(study, judge.trials)
        sweep_folder.write_whole(folder / TRIALS, table.to_csv(index=False, lineterminator="\n"))
    if not table["is_on_front"].any():
        raise ExperimentError(f"Every setting failed; the first: {judge.trials[0].error}", "Mend the study.")
    return table


def trials_table(study: Study, trials: Sequence[Trial]) -> pd.DataFrame:
    """Return one row a setting, in the order tried: its parameters, then three columns an objective.

    ``<objective>`` is the mean over the seeds, ``<objective>_low`` and ``_high`` the ends of its 95 %
    Student interval (NaN with one seed). ``is_on_front``: no other mean is as good in every
    objective and better in one. ``error`` is that of the first seed that failed, and then the
    objectives are NaN.
    """
    import pandas as pd

    rows = []
    for trial in trials:
        row = dict(trial.setting)
        for objective in study.objectives:
            row |= dict(zip(_columns(objective), mean_interval(trial.values[objective])[:3], strict=True))
        rows.append(row | {"error": trial.error})
    table = pd.DataFrame(rows)
    signs = [_sign(objective) for objective in study.objectives]
    table["is_on_front"] = is_on_front(table[study.objectives].to_numpy(dtype=float) * signs)
    return table


class _Judge:
    """Runs settings and remembers what came of them."""

    def __init__(
        self, study: Study, folder: Path, stored: dict[str, StoredWorkload], pool: Processes | Given, in_flight: int
    ) -> None:
        self.trials: list[Trial] = []
        self._study = study
        self._folder = folder
        self._stored = stored
        self._pool = pool
        self._in_flight = in_flight
        self._cells: list[Cell] = []

    def __call__(self, settings: list[dict[str, Any]]) -> NDArray[np.float64]:
        """Return the objectives of *settings*, to be minimised."""
        runs = [self._cells_of(chosen) for chosen in settings]
        every = [cell for cells_of_one in runs for cell in cells_of_one]
        self._cells += every
        self._write_plan()
        for _ in Drain(unfinished(every, self._folder), self._folder, self._pool, self._in_flight).reports():
            pass
        trials = [self._trial(chosen, run) for chosen, run in zip(settings, runs, strict=True)]
        self.trials += trials
        names = self._study.objectives
        means = [[mean_interval(trial.values[name]).mean * _sign(name) for name in names] for trial in trials]
        return np.array(means, dtype=float)

    def _cells_of(self, chosen: dict[str, Any]) -> list[Cell]:
        experiment = _experiment(self._study, chosen)
        found = cells(experiment, self._stored)
        check(experiment, found)
        return [replace(cell, labels=cell.labels | chosen) for cell in found]

    def _trial(self, chosen: dict[str, Any], run: list[Cell]) -> Trial:
        values: dict[str, list[float]] = {name: [] for name in self._study.objectives}
        for cell in run:
            failure = self._folder / FAILED / f"{cell.key}.json"
            if failure.exists():
                message = json.loads(failure.read_text(encoding="utf-8"))["message"]
                return Trial(chosen, {name: [] for name in values}, message)
            summary = storage.read_record(self._folder / CELLS / cell.key, "summary")
            for name, replicates in values.items():
                found = chosen.get(f"cluster.{name}", summary.get(name))
                replicates.append(math.nan if found is None else float(found))
        return Trial(chosen, values)

    def _write_plan(self) -> None:
        metrics = [name for name in self._study.objectives if f"cluster.{name}" not in self._cells[0].labels]
        plan = {
            "format": sweep_folder.FORMAT,
            "name": self._study.name,
            "metrics": metrics,
            "baseline": {"policy": self._cells[0].labels["policy"]},
            "cells": [{"key": cell.key, "labels": cell.labels} for cell in self._cells],
        }
        text = json.dumps(plain(plan), indent=1, ensure_ascii=False, allow_nan=False)
        sweep_folder.write_whole(self._folder / sweep_folder.PLAN, text + "\n")


def _experiment(study: Study, chosen: dict[str, Any]) -> Experiment:
    """Return the experiment that runs one setting on every seed."""
    parts: dict[str, dict[str, Any]] = {"policy": {}, "cluster": {}}
    for name, value in chosen.items():
        what, _, key = name.partition(".")
        parts[what][key] = value
    policy = study.policy.model_dump(exclude_none=True)
    policy["parameters"] = parameters(study.policy.parameters, parts["policy"])
    machine = {} if study.cluster is None else study.cluster.model_dump(exclude_none=True)
    size = {key: value for key, value in parts["cluster"].items() if key != "power_cap_w"}
    if size:
        machine = {key: value for key, value in machine.items() if key not in {"nodes", "processors", "file"}} | size
    if "power_cap_w" in parts["cluster"]:
        machine["power_caps_w"] = [float(parts["cluster"]["power_cap_w"])]
    return Experiment.of(
        {
            "name": study.name,
            "seeds": study.seeds,
            "policies": [policy],
            "workloads": [study.workload.model_dump(exclude_none=True)],
            "clusters": [machine] if machine else [],
            "run": study.run.model_dump(exclude_none=True),
        }
    )


def _columns(objective: str) -> tuple[str, str, str]:
    return objective, f"{objective}_low", f"{objective}_high"


def _sign(objective: str) -> int:
    return -1 if objective in HIGHER_IS_BETTER else 1


def to_minimise(study: Study, table: pd.DataFrame) -> Points:
    """Return the objectives of a `trials_table` as an engine sees them: the less the better."""
    values: Points = table[study.objectives].to_numpy(dtype=float) * [_sign(name) for name in study.objectives]
    return values
