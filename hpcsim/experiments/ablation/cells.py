"""One cell: train a network, put it to the test, and write what came of it at once and whole."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from hpcsim import registry
from hpcsim.errors import ExperimentError
from hpcsim.experiments.ablation.plan import BESIDE, POLICY, SUITE, TRAINER, Cell
from hpcsim.experiments.evaluation.contenders import Contender
from hpcsim.experiments.evaluation.runner import evaluate
from hpcsim.experiments.plug_ins import make
from hpcsim.experiments.sweep_folder import write_whole
from hpcsim.results.storage import plain

CELLS, NETWORKS = "cells", "networks"
TRAINER_PRESET = "demo"
"""Of the trainer: what the settings of a cell leave as it is."""


def run_cell(cell: Cell, folder: str) -> str:
    """Run *cell* and write its result into *folder*; return what went wrong, or the empty text.

    A network that was being trained when something stopped goes on from its last update.
    """
    began_s = time.process_time()
    try:
        found = _rule(cell) if cell.settings is None else _network(cell, cell.settings, Path(folder))
    except Exception as error:  # noqa: BLE001 - the other cells go on, and the error is reported
        return f"{cell.name}: {type(error).__name__}: {error}"
    found |= {"label": cell.label, "seed": cell.seed, "all_cpu_s": time.process_time() - began_s}
    write_whole(_path(Path(folder), cell), json.dumps(plain(found), indent=1, allow_nan=False) + "\n")
    return ""


def read(folder: Path, cell: Cell) -> dict[str, Any] | None:
    """Return what came of *cell*, or None where it has not finished.

    Raises:
        ExperimentError: the file is damaged.
    """
    path = _path(folder, cell)
    try:
        return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ExperimentError(f"{path} is damaged: {error}.", "Remove that file and resume.") from error


def _path(folder: Path, cell: Cell) -> Path:
    return folder / CELLS / f"{cell.key}.json"


def _rule(cell: Cell) -> dict[str, Any]:
    return _tested(next(rule for rule in BESIDE if rule.label == cell.label), cell)


def _network(cell: Cell, settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    out = folder / NETWORKS / cell.key
    file = registry.make(
        "trainers", TRAINER, out=out, preset=TRAINER_PRESET, seed=cell.seed, resume=True, settings=settings,
        command=f"hpcsim ablate ({cell.name})",
    )  # fmt: skip
    parameters = {"checkpoint": str(file)}
    trained = make("policies", POLICY, parameters).trained
    curve = learning_curve(out / f"seed-{cell.seed}" / "progress.csv")
    return _tested(Contender(cell.name, POLICY, parameters), cell) | {
        "weights": int(sum(array.size for array in trained.weights.values())),
        "validation": trained.card["validation"],
        **curve,
    }


def learning_curve(progress: Path) -> dict[str, Any]:
    """Return what a training's table says: decisions, CPU seconds, the worst ratio error, and the validations.

    A validation is of the last weights and of their average; the better of the two is its cost over SAF's.
    """
    with progress.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    learned, curve = 0, []
    for row in rows:
        learned += int(row["decisions"])
        if row["validation"]:
            ratio = min(float(row["validation"]), float(row["validation_average"]))
            curve.append({"decisions": learned, "ratio_to_saf": ratio})
    return {
        "decisions": learned,
        "updates": len(rows),
        "train_cpu_s": float(rows[-1]["cpu_s"]),
        "ratio_error": max(float(row["ratio_error"]) for row in rows),
        "curve": curve,
    }


def _tested(contender: Contender, cell: Cell) -> dict[str, Any]:
    """Return the costs of each sequence."""
    scores = evaluate([contender], SUITE, "backfill", sequences=cell.sequences)[contender.label]
    names = ("mean_bounded_slowdown", "mean_wait_s", "max_wait_s")
    return {name: [float(getattr(score, name)) for score in scores] for name in names}
