"""A whole ablation in a folder: every cell that has not finished, then tables, page and pictures."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hpcsim.errors import ExperimentError, MissingExtra
from hpcsim.experiments import sweep_folder
from hpcsim.experiments.ablation import cells as one
from hpcsim.experiments.ablation.markdown import markdown
from hpcsim.experiments.ablation.page import render
from hpcsim.experiments.ablation.pictures import learning_curves, need_matplotlib
from hpcsim.experiments.ablation.plan import BESIDE, SUITE, Cell, Preset, cells, find_preset, variants_of
from hpcsim.experiments.ablation.sentences import sentences
from hpcsim.experiments.ablation.tables import Tables, tables_of
from hpcsim.experiments.ablation.variants import BASE, Variant
from hpcsim.experiments.evaluation.runner import chosen, sequences_of
from hpcsim.experiments.executors import Processes
from hpcsim.results.quantities import count, duration

FORMAT, PLAN, TABLES = "hpcsim-ablation-1", "study.json", "tables"
PAGE, TEXT, CURVES = "ablation.html", "ablation.md", "learning-curves.png"


@dataclass(frozen=True, slots=True, eq=False)
class Ablation:
    """What a folder holds.

    Attributes:
        folder: where it is.
        tables: every figure.
        sentences: what it shows, in words.
    """

    folder: Path
    tables: Tables
    sentences: tuple[str, ...]


def run_ablation(
    folder: str | Path,
    *,
    preset: str | Preset = "smoke",
    variants: Sequence[str] = (),
    seeds: int | None = None,
    workers: int = 1,
    resume: bool = False,
    runs: bool = True,
    tell: Callable[[str], object] = lambda _: None,
) -> Ablation:
    """Train and test every variant with every seed, all that has not finished in *folder*, and compare them.

    Writes ``ablation.html``, ``ablation.md``, ``learning-curves.png`` and, in ``tables``,
    ``variants.csv`` (a row a variant and rule), ``seeds.csv`` (a row a network), ``curves.csv`` (a row
    a validation) and ``sequences.csv`` (a row a network or rule, and sequence), anew whenever all
    variants have one more seed. All but CPU seconds are the same for any number of workers.

    Args:
        folder: a new one, or with *resume* that of a study.
        preset: a name of `plan.PRESETS`, or sizes of your own.
        variants: names of `variants.VARIANTS`, the base is always in; empty: the preset's.
        seeds: trainings of each variant, in place of the preset's.
        workers: processes, each at work on a cell.
        resume: go on; what has finished is kept.
        runs: False: run nothing, and compare what has finished, whatever seeds that is of; also while the
            study runs elsewhere.
        tell: is told of the progress, a line at a time.

    Raises:
        ExperimentError: no such preset or variant, the folder holds something else, a cell has failed, or
            there is nothing to compare yet.
        MissingExtra: torch or Matplotlib is not installed.
    """
    size = find_preset(preset) if isinstance(preset, str) else preset
    size = size if seeds is None else replace(size, seeds=seeds)
    wanted, folder = variants_of(size, variants), Path(folder).resolve()
    every = cells(size, wanted)
    if not runs:
        return _written(folder, size, wanted, every)
    _need_torch()
    need_matplotlib()  # hours later would be too late
    _prepare(folder, resume=resume)
    with sweep_folder.locked(folder):
        errors = _work(every, folder, workers, tell, lambda whole: _written(folder, size, wanted, whole))
        if errors:
            raise ExperimentError(
                f"{count(len(errors), 'cell')} of the ablation failed; the first: {errors[0]}", "Resume tries again."
            )
        return _written(folder, size, wanted, every)


def _need_torch() -> None:
    if find_spec("torch") is None:
        raise MissingExtra(
            "An ablation trains networks, which needs torch, and that is not installed.",
            "Type: pip install 'hpcsim-des[rl]'.",
        )


def _prepare(folder: Path, *, resume: bool) -> None:
    """Make the folder, or see that it holds an ablation."""
    path = folder / PLAN
    if path.is_file():
        if not resume:
            raise ExperimentError(f"{folder} holds an ablation already.", "Add --resume, or name another folder.")
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ExperimentError(f"{path} is damaged: {error}.", "Name another folder.") from error
        if not isinstance(known, dict) or known.get("format") != FORMAT:
            raise ExperimentError(f"{folder} holds another study.", "Name another folder.")
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExperimentError(f"{folder} is not empty and holds no ablation.", "Name a new folder.")
    with sweep_folder.writing(folder):
        for part in (one.CELLS, one.NETWORKS, TABLES):
            (folder / part).mkdir(parents=True, exist_ok=True)
    sweep_folder.write_whole(path, json.dumps({"format": FORMAT}) + "\n")


def _work(
    every: Sequence[Cell],
    folder: Path,
    workers: int,
    tell: Callable[[str], object],
    write: Callable[[list[Cell]], object],
) -> list[str]:
    """Run the cells that have no result yet; return what went wrong, a sentence a cell.

    Whenever every cell up to some seed has one, and others wait, *write* is given those.
    """
    waiting = [cell for cell in every if one.read(folder, cell) is None]
    tell(f"{len(every) - len(waiting)} of {count(len(every), 'cell')} had finished before")
    errors: list[str] = []
    began_s, spent, left = time.perf_counter(), 0.0, sum(cell.effort for cell in waiting)
    open_ = {cell.key for cell in waiting}
    written = len(_whole_seeds(every, open_))
    with Processes(workers) as pool:
        tasks = {pool.submit(one.run_cell, cell, str(folder)): cell for cell in waiting}
        for done, task in enumerate(as_completed(tasks), start=1):
            cell, error = tasks[task], task.result()
            errors += [error] if error else []
            spent, left = spent + cell.effort, left - cell.effort
            left_s = (time.perf_counter() - began_s) / spent * left
            when = f", about {duration(left_s)} left" if done < len(waiting) else ""
            tell(f"{done} of {count(len(waiting), 'cell')}{when}: {error or cell.name}")
            open_ -= set() if error else {cell.key}
            whole = _whole_seeds(every, open_)
            if len(whole) > written and open_:
                written = len(whole)
                write(whole)
    return errors


def _whole_seeds(every: Sequence[Cell], open_: set[str]) -> list[Cell]:
    """Return the cells up to the last seed of which, and of all before it, none is open."""
    seeds = [cell.seed for cell in every if cell.key in open_]
    return [cell for cell in every if cell.seed < min(seeds, default=math.inf)]


def _written(folder: Path, size: Preset, variants: Sequence[Variant], every: Sequence[Cell]) -> Ablation:
    """Write tables, text, picture and page, and return them."""
    found: list[dict[str, Any]] = [result for cell in every if (result := one.read(folder, cell)) is not None]
    tested = {result["label"] for result in found}
    if not {BASE, *(rule.label for rule in BESIDE)} <= tested:
        raise ExperimentError(f"The base and the rules have not finished in {folder}.", "Let it run for longer.")
    variants = [variant for variant in variants if variant.name in tested]
    there = sequences_of(SUITE, None)
    tables = tables_of(found, [there[place] for place in chosen(len(there), size.sequences)], variants)
    for name, table in tables.named().items():
        text = table.to_csv(index=False, lineterminator="\n")
        sweep_folder.write_whole(folder / TABLES / f"{name}.csv", text)
    picture = learning_curves(tables, folder / CURVES)
    sweep_folder.write_whole(folder / TEXT, markdown(tables, size))
    sweep_folder.write_whole(folder / PAGE, render(tables, size, picture))
    return Ablation(folder, tables, tuple(sentences(tables)))
