"""Run a study: cell by cell, each result written at once and whole, so that a stopped study goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hpcsim import registry
from hpcsim.errors import ExperimentError, closest
from hpcsim.experiments import sweep_folder
from hpcsim.experiments.surrogate_study.answers import write_answers
from hpcsim.experiments.surrogate_study.logs import LogBySeed, log_of
from hpcsim.experiments.surrogate_study.plan import POST_RUN, PRESETS, Cell, Preset, cells
from hpcsim.results.storage import plain

CELLS, PLAN = "cells", "study.json"
FORMAT = "hpcsim-surrogate-study-1"
Progress = Callable[[int, int, float, str], object]
"""(cells done, cells to do, seconds left, what is next and of which seed)."""


def run_study(
    data: str,
    folder: str | Path,
    *,
    preset: str | Preset = "smoke",
    reader: str = "auto",
    options: Mapping[str, Any] | None = None,
    resume: bool = False,
    progress: Progress = lambda _done, _all, _left_s, _label: None,
) -> dict[str, Any]:
    """Run the study of *preset* on *data* into *folder*; return its verdicts, see `answers.verdicts`.

    Writes ``tables/self_graded.csv``, ``truth_graded.csv`` and ``cost.csv`` (a row a cell and seed),
    ``tables/accuracy.csv`` (a row a cell, seed, target and group), ``study.md`` and ``plots/``.

    Args:
        data: see `logs.log_of`.
        folder: a new one, or with *resume* that of the same study.
        preset: a name of `PRESETS`, or sizes of your own.
        reader: of a file, see `logs.log_of`.
        options: of that reader.
        resume: go on; finished cells are kept.
        progress: called before each cell.

    Raises:
        ExperimentError: no such data or preset, or the folder holds something else.
        HpcsimError: a cell cannot be run, for lack of jobs or of a package.
    """
    size = _preset(preset)
    folder = Path(folder).resolve()
    log = log_of(data, size.jobs, reader, options)
    identity = f"{log.identity}, {size.test_jobs} judged at 1 to {size.most_nodes} nodes"
    every = cells(replace(size, inputs=(*size.inputs, POST_RUN)) if log.has_bursts else size)
    plan = {"format": FORMAT, "data": data, "identity": identity}
    _prepare(folder, plan, resume=resume)
    with sweep_folder.locked(folder):
        sweep_folder.write_whole(folder / PLAN, json.dumps(plan, indent=1) + "\n")
        _run(every, folder, identity, log.by_seed, size, progress)
        results = [(cell, _read(folder, cell.key(identity))) for cell in every]
        return write_answers(results, folder, data=data, is_one_log=log.is_one)


def _run(
    every: Sequence[Cell],
    folder: Path,
    identity: str,
    log_by_seed: LogBySeed,
    size: Preset,
    progress: Progress,
) -> None:
    """Run the cells that have no result yet; cells of one seed share its log."""
    open_cells = {cell.key(identity): cell for cell in every if _read(folder, cell.key(identity)) is None}
    make_trial = registry.find("studies", "node-advisor")
    began_s, spent, left = time.perf_counter(), 0.0, sum(cell.effort for cell in open_cells.values())
    trial, seed = None, None
    for done, (key, cell) in enumerate(open_cells.items()):
        rate = (time.perf_counter() - began_s) / spent if spent else 1.0
        progress(done, len(open_cells), rate * left, f"{cell.label}, seed {cell.seed}")
        if trial is None or seed != cell.seed:
            seed = cell.seed
            trial = make_trial(log_by_seed(seed), test_jobs=size.test_jobs, most_nodes=size.most_nodes)
        text = json.dumps(plain(trial.run(cell.order())), ensure_ascii=False, allow_nan=False)
        sweep_folder.write_whole(folder / CELLS / f"{key}.json", text + "\n")
        spent, left = spent + cell.effort, left - cell.effort


def _preset(preset: str | Preset) -> Preset:
    if isinstance(preset, Preset):
        return preset
    if preset not in PRESETS:
        raise ExperimentError(
            f"There is no preset '{preset}'.{closest(preset, PRESETS)}", f"Known: {', '.join(PRESETS)}."
        )
    return PRESETS[preset]


def _prepare(folder: Path, plan: dict[str, Any], *, resume: bool) -> None:
    """Make the folder, or see that it holds the same study."""
    path = folder / PLAN
    if path.is_file() and any((folder / CELLS).glob("*.json")):  # a plan without a result is nothing to lose
        if not resume:
            raise ExperimentError(f"{folder} holds a study already.", "Add --resume, or name another folder.")
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ExperimentError(f"{path} is damaged: {error}.", "Name another folder.") from error
        if not isinstance(known, dict):
            raise ExperimentError(f"{path} is damaged.", "Name another folder.")
        if known != plan:
            raise ExperimentError(
                f"{folder} holds a study of {known.get('data')}, another log or another preset.",
                "Give the same --data and --preset, or another folder.",
            )
    elif folder.exists() and not path.is_file() and any(folder.iterdir()):
        raise ExperimentError(f"{folder} is not empty and holds no study.", "Name a new folder.")
    with sweep_folder.writing(folder):
        (folder / CELLS).mkdir(parents=True, exist_ok=True)


def _read(folder: Path, key: str) -> Any:
    """Return the result of a cell, or None; results appear whole, so a damaged one was damaged later."""
    path = folder / CELLS / f"{key}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ExperimentError(f"{path} is damaged: {error}.", "Remove that file and resume.") from error
