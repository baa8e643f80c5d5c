"""Run the study in a folder: headroom first, then every cell that has not finished, then the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from hpcsim.errors import ExperimentError
from hpcsim.experiments.advice_study import pictures, runs
from hpcsim.experiments.advice_study.plan import Cell, cells, preset
from hpcsim.experiments.advice_study.tables import by_class, on_common_horizon, paired
from hpcsim.experiments.executors import Processes
from hpcsim.experiments.sweep_folder import locked, write_whole, writing

if TYPE_CHECKING:
    import pandas as pd

PLAN, TABLES = "study.json", "tables"


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """What a folder holds.

    Attributes:
        folder: where it is.
        headroom: one row a scenario and seed.
        system: one row a cell, see docs/advisor-in-the-simulator.md for its columns.
        paired: ratios to the users' own with intervals, one row a scenario and arm.
        classes: the same of turnaround by class of users.
        errors: of cells that failed, a sentence each.
        missing: cells that have not finished.
    """

    folder: Path
    headroom: pd.DataFrame
    system: pd.DataFrame
    paired: pd.DataFrame
    classes: pd.DataFrame
    errors: tuple[str, ...]
    missing: int


def run(
    name: str,
    folder: str | Path,
    *,
    workers: int = 1,
    resume: bool = False,
    tell: Callable[[str], object] = lambda _: None,
) -> Study:
    """Run the preset *name* in *folder*, all cells that have not finished there, and return what it holds.

    Tables are the same bytes for any number of workers.

    Raises:
        ExperimentError: there is no such preset, the folder holds something else, or a study and *resume* is False.
    """
    size = preset(name)
    every, folder = cells(size), Path(folder).resolve()
    _prepare(name, folder, resume=resume)
    with locked(folder):
        write_whole(folder / PLAN, json.dumps({"preset": name, **asdict(size)}, indent=1) + "\n")
        waiting = [cell for cell in every if runs.read(folder, cell) is None]
        tell(f"{len(every) - len(waiting)} of {len(every)} runs have finished before")
        headroom = _headroom(every, folder, tell)
        errors = _work(waiting, folder, workers, tell)
        return _collected(folder, every, headroom, errors)


def _prepare(name: str, folder: Path, *, resume: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise ExperimentError(f"{folder} is a file.", "Give a folder for the study.")
    if (folder / PLAN).exists():
        known = json.loads((folder / PLAN).read_text(encoding="utf-8")).get("preset")
        if not resume:
            raise ExperimentError(f"{folder} holds a study already.", "Add --resume to go on with it, or name another.")
        if known != name:
            raise ExperimentError(f"{folder} holds the preset '{known}'.", f"Go on with --preset {known}.")
    elif folder.exists() and any(folder.iterdir()):
        raise ExperimentError(f"{folder} holds something else than a study.", "Give a new or empty folder.")
    with writing(folder):
        for part in (runs.CELLS, TABLES):
            (folder / part).mkdir(parents=True, exist_ok=True)


def _headroom(every: Sequence[Cell], folder: Path, tell: Callable[[str], object]) -> pd.DataFrame:
    """Return what there is to win in the scenarios, written before anything is run."""
    import pandas as pd

    path = folder / TABLES / "headroom.csv"
    if path.exists():
        return pd.read_csv(path)
    tell("headroom of every scenario and seed")
    firsts = {(cell.scenario.label, cell.seed): cell for cell in every if _has_own_jobs(cell)}
    table = pd.DataFrame([runs.headroom_row(cell) for cell in firsts.values()])
    write_whole(path, table.to_csv(index=False, lineterminator="\n"))
    return table


def _has_own_jobs(cell: Cell) -> bool:
    """Tell whether the scenario changes the jobs; policies and caps do not."""
    return cell.scenario.policy == "easy" and cell.scenario.cap_share == 1


def _work(waiting: Sequence[Cell], folder: Path, workers: int, tell: Callable[[str], object]) -> list[str]:
    groups = list(_groups(waiting))
    errors: list[str] = []
    if not groups:
        return errors
    with Processes(workers) as pool:
        tasks = {pool.submit(runs.run_group, group, str(folder)): group for group in groups}
        done = 0
        for task in as_completed(tasks):
            errors += task.result()
            done += len(tasks[task])
            first = tasks[task][0]
            tell(f"{done} of {len(waiting)} runs: {first.scenario.label}, seed {first.seed}")
    return errors


def _groups(waiting: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Yield the cells that share jobs and what was learned from those before: one worker does them."""
    for _, group in groupby(waiting, key=lambda cell: (cell.seed, cell.scenario)):
        yield list(group)


def _collected(folder: Path, every: Sequence[Cell], headroom: pd.DataFrame, errors: Sequence[str]) -> Study:
    """Write the tables and the plots of what has finished, and return them."""
    found = runs.table_of(folder, every)
    if not len(found):
        raise ExperimentError(f"No run has finished: {errors[0] if errors else 'none was tried'}", "Look at the error.")
    system = on_common_horizon(found)
    ratios = paired(system)
    classes = by_class(runs.class_rows(folder, every))
    for name, table in (("system", system), ("paired", ratios), ("classes", classes)):
        write_whole(folder / TABLES / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
    pictures.draw(ratios, folder)
    return Study(folder, headroom, system, ratios, classes, tuple(errors), len(every) - len(found))
