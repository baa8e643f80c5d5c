"""Run cells of the study and keep what they gave: a file a cell, so that nothing that has finished is lost."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsim.experiments.advice_study.headroom import headroom
from hpcsim.experiments.advice_study.measures import measures
from hpcsim.experiments.advice_study.plan import USERS, Arm, Cell, Scenario
from hpcsim.experiments.advice_study.scenes import IDLE_W, advisor_of, scene
from hpcsim.experiments.sweep_folder import write_whole
from hpcsim.results.result import Result
from hpcsim.results.run import simulate
from hpcsim.results.storage import plain

if TYPE_CHECKING:
    import pandas as pd

CELLS = "cells"
NESTED = ("classes", "reasons")
NEEDED = (*NESTED, "turnaround_s", "energy_j", "busy_energy_j", "end_s", "killed_share", "realised_load")
"""Figures without which a file is none of a finished cell."""


def run_group(cells: Sequence[Cell], folder: str) -> list[str]:
    """Run *cells*, all of one scenario and seed, and write what each gave; return the errors, one a failed cell."""
    errors = []
    for cell in cells:
        try:
            found = plain(_run(cell))
        except Exception as error:  # noqa: BLE001 - the others go on, and the error is reported
            errors.append(f"{cell.arm.name} ({cell.scenario.label}, seed {cell.seed}): {type(error).__name__}: {error}")
            continue
        write_whole(Path(folder) / CELLS / f"{cell.key}.json", json.dumps(found, indent=1, allow_nan=False) + "\n")
    return errors


def headroom_row(cell: Cell) -> dict[str, Any]:
    """Return what there is to win in the scenario of *cell*, by its jobs alone."""
    its = scene(cell.scenario, cell.seed, cell.jobs, cell.history)
    about = {"scenario": cell.scenario.label, "seed": cell.seed}
    return about | headroom(its.jobs, its.machine.nodes, IDLE_W)


def _run(cell: Cell) -> dict[str, Any]:
    own = _own(cell.scenario, cell.seed, cell.jobs, cell.history)
    result = own if cell.arm.advisor == USERS else _simulated(cell)
    its = scene(cell.scenario, cell.seed, cell.jobs, cell.history)
    return _without_nan(measures(result, own.jobs, its.jobs))


def _simulated(cell: Cell) -> Result:
    its = scene(cell.scenario, cell.seed, cell.jobs, cell.history)
    advisor = advisor_of(cell.arm, cell.scenario, cell.seed, cell.jobs, cell.history)
    return simulate(its.jobs, its.machine, cell.scenario.policy, seed=cell.seed, advisor=advisor)


@lru_cache(maxsize=1)
def _own(scenario: Scenario, seed: int, jobs: int, history: int) -> Result:
    """Return the run in which every request stands."""
    return _simulated(Cell("base", scenario, Arm(USERS, USERS), seed, jobs, history))


def _without_nan(found: dict[str, Any]) -> dict[str, Any]:
    return {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in found.items()}


def read(folder: Path, cell: Cell) -> dict[str, Any] | None:
    """Return what *cell* gave, or None where it has not finished, or its file is damaged."""
    try:
        found = json.loads((folder / CELLS / f"{cell.key}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and set(NEEDED) <= set(found) else None


def table_of(folder: Path, cells: Sequence[Cell]) -> pd.DataFrame:
    """Return one row a finished cell: what it is, and its figures."""
    import pandas as pd

    rows = []
    for cell in cells:
        found = read(folder, cell)
        if found is not None:
            rows.append(_about(cell) | {key: value for key, value in found.items() if key not in NESTED})
    return pd.DataFrame(rows)


def class_rows(folder: Path, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return a row for each class of users of each finished cell with advice."""
    found = []
    for cell in cells:
        its = read(folder, cell) if cell.arm.advisor != USERS else None
        found += [_about(cell) | row for row in (its["classes"] if its else ())]
    return found


def _about(cell: Cell) -> dict[str, Any]:
    scenario, parameters = cell.scenario, cell.arm.parameters
    return {
        "factor": cell.factor,
        "scenario": scenario.label,
        "arm": cell.arm.name,
        "seed": cell.seed,
        "policy": scenario.policy,
        "users": scenario.users,
        "family": scenario.family,
        "load": scenario.load,
        "nodes": scenario.nodes,
        "cap_share": scenario.cap_share,
        "advisor": cell.arm.advisor,
        "rule": "" if cell.arm.advisor == USERS else parameters.get("rule", "qa(2, 1)"),
        "guard": parameters.get("guard", True),
        "adoption": parameters.get("adoption", 1.0),
    }
