"""Run the study in a folder: headroom first, then every cell that has not finished, then the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, as_completed
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from hpcsim.errors import ExperimentError
from hpcsim.experiments.advice_study import pictures, runs
from hpcsim.experiments.advice_study.headroom import KEYS as HEADROOM_KEYS
from hpcsim.experiments.advice_study.plan import Cell, cells, only, preset
from hpcsim.experiments.advice_study.tables import by_class, on_common_horizon, paired
from hpcsim.experiments.advice_study.targets import graded
from hpcsim.experiments.executors import Processes
from hpcsim.experiments.sweep_folder import locked, write_whole, writing
from hpcsim.results.quantities import count

if TYPE_CHECKING:
    import pandas as pd

PLAN, TABLES, HEADROOM = "study.json", "tables", "headroom.csv"


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """What a folder holds.

    Attributes:
        folder: where it is.
        headroom: one row a scenario and seed.
        system: one row a cell, see docs/advisor-in-the-simulator.md for its columns.
        paired: ratios to the users' own with intervals, one row a scenario and arm.
        classes: the same of turnaround by class of users.
        targets: what is asked of advice, and whether it did it.
        errors: of cells that failed, a sentence each.
        missing: cells that have not finished.
    """

    folder: Path
    headroom: pd.DataFrame
    system: pd.DataFrame
    paired: pd.DataFrame
    classes: pd.DataFrame
    targets: pd.DataFrame
    errors: tuple[str, ...]
    missing: int


def run(
    name: str,
    folder: str | Path,
    *,
    factors: Sequence[str] = (),
    seeds: int | None = None,
    workers: int = 1,
    resume: bool = False,
    tables_only: bool = False,
    tell: Callable[[str], object] = lambda _: None,
) -> Study:
    """Run the preset *name* in *folder*, all cells that have not finished there, and return what it holds.

    Tables are the same bytes for any number of workers.

    Args:
        name: of the preset.
        folder: new, empty, or one that holds such a study.
        factors: run the cells that vary these alone, see `plan.only`; none: all. Tables hold whatever has finished.
        seeds: run the first so many seeds; None: all.
        workers: processes.
        resume: go on with the study in *folder*.
        tables_only: run nothing more; the tables and plots of what has finished.
        tell: hears how far it has got.

    Raises:
        ExperimentError: there is no such preset or factor, the folder holds something else, or a study and *resume*
            is False.
    """
    size = preset(name)
    every, wanted, folder = cells(size), cells(only(size, factors, seeds)), Path(folder).resolve()
    if tables_only and not (folder / PLAN).exists():
        raise ExperimentError(f"There is no study in {folder}.", "Name the folder of one, or leave --tables-only out.")
    _prepare(name, folder, resume=resume or tables_only)
    with locked(folder):
        write_whole(folder / PLAN, json.dumps({"preset": name, **asdict(size)}, indent=1) + "\n")
        if tables_only:
            wanted = [cell for cell in wanted if runs.read(folder, cell) is not None]
        waiting = [cell for cell in wanted if runs.read(folder, cell) is None]
        tell(f"{len(wanted) - len(waiting)} of {len(wanted)} runs have finished before")
        _headroom(wanted, folder, tell)
        errors = _work(waiting, folder, workers, tell)
        return _collected(folder, every, errors)


def _prepare(name: str, folder: Path, *, resume: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise ExperimentError(f"{folder} is a file.", "Give a folder for the study.")
    if (folder / PLAN).exists():
        known = _preset_of(folder)
        if not resume:
            raise ExperimentError(f"{folder} holds a study already.", "Add --resume to go on with it, or name another.")
        if known != name:
            raise ExperimentError(f"{folder} holds the preset '{known}'.", f"Go on with --preset {known}.")
    elif folder.exists() and any(folder.iterdir()):
        raise ExperimentError(f"{folder} holds something else than a study.", "Give a new or empty folder.")
    with writing(folder):
        for part in (runs.CELLS, TABLES):
            (folder / part).mkdir(parents=True, exist_ok=True)


def _preset_of(folder: Path) -> str:
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
        preset(plan["preset"])
        return str(plan["preset"])
    except (OSError, ValueError, TypeError, KeyError, ExperimentError) as error:
        raise ExperimentError(f"{folder / PLAN} is no study of advice.", "Give a new or empty folder.") from error


def _headroom(wanted: Sequence[Cell], folder: Path, tell: Callable[[str], object]) -> None:
    """Write what there is to win in the scenarios, before anything is run: those of a part join those before it."""
    import pandas as pd

    path = folder / TABLES / HEADROOM
    known = known_headroom(path)
    done = set() if known is None else set(zip(known["scenario"], known["seed"], strict=True))
    firsts = {(cell.scenario.label, cell.seed): cell for cell in wanted if _has_own_jobs(cell)}
    new = [cell for key, cell in firsts.items() if key not in done]
    if new:
        tell(f"what there is to win, in {count(len(new), 'set')} of jobs")
        found = pd.DataFrame([runs.headroom_row(cell) for cell in new])
        table = found if known is None else pd.concat([known, found], ignore_index=True)
        write_whole(path, table.to_csv(index=False, lineterminator="\n"))


def known_headroom(path: Path) -> pd.DataFrame | None:
    """Return the whole rows of an earlier table; None where there is none, or the file is damaged."""
    import pandas as pd

    try:
        known = pd.read_csv(path)
    except (OSError, ValueError):
        return None
    wanted = ["scenario", "seed", *HEADROOM_KEYS]
    return known.dropna() if list(known.columns) == wanted else None


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
            errors += _answer(task)
            done += len(tasks[task])
            first = tasks[task][0]
            tell(f"{done} of {len(waiting)} runs: {first.scenario.label}, seed {first.seed}")
    return errors


def _answer(task: Future[list[str]]) -> list[str]:
    """Return the errors of a group of cells. Raises `ExperimentError` where its worker was killed."""
    try:
        return task.result()
    except BrokenExecutor as error:
        raise ExperimentError(
            "A worker was killed, by hand or for want of memory.", "Go on with --resume; take fewer --workers."
        ) from error


def _groups(waiting: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Yield the cells that share jobs and what was learned from those before: one worker does them."""
    for _, group in groupby(waiting, key=lambda cell: (cell.seed, cell.scenario)):
        yield list(group)


def _collected(folder: Path, every: Sequence[Cell], errors: Sequence[str]) -> Study:
    """Write the tables and the plots of what has finished, and return them."""
    import pandas as pd

    found = runs.table_of(folder, every)
    if not len(found):
        told = f": {errors[0].rstrip('.')}" if errors else ""
        raise ExperimentError(f"No run has finished{told}.", "Go on with --resume.")
    system = on_common_horizon(found)
    ratios = paired(system)
    classes = by_class(runs.class_rows(folder, every))
    targets = graded(system)
    named = {"system": system, "paired": ratios, "classes": classes, "targets": targets}
    for name, table in named.items():
        write_whole(folder / TABLES / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
    pictures.draw(ratios, folder)
    headroom = pd.read_csv(folder / TABLES / HEADROOM)
    return Study(folder, headroom, system, ratios, classes, targets, tuple(errors), len(every) - len(found))
