"""A sweep on disk, finished or not: its table, its comparisons, its single results."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hpcsim.errors import ExperimentError, closest
from hpcsim.experiments import sweep_folder
from hpcsim.experiments.cell_run import CELLS, FAILED
from hpcsim.experiments.metrics import METRICS
from hpcsim.results import storage
from hpcsim.results.result import Result

if TYPE_CHECKING:
    import pandas as pd

GROUPS = ("policy", "advisor", "workload", "window", "seed", "load", "cluster", "power_cap_w")
"""Columns that say what a cell is, in order; ``policy.depth`` and its like stand behind theirs."""

STATES = ("finished", "failed", "damaged", "missing")


@dataclass(frozen=True, slots=True)
class Sweep:
    """The folder of a sweep, read as it stands.

    Attributes:
        folder: where it is.
        name: of the experiment.
        metrics: figures to compare by.
        baseline: what the others are compared with, column -> value.
        cells: key and labels of each cell, in the experiment's order.
    """

    folder: Path
    name: str
    metrics: tuple[str, ...]
    baseline: dict[str, Any]
    cells: tuple[tuple[str, dict[str, Any]], ...]

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read the plan of the sweep in *folder*; a sweep that is running can be read as well.

        Raises:
            ExperimentError: there is no sweep in it.
        """
        folder = Path(folder)
        plan = sweep_folder.read_plan(folder)
        try:
            cells = tuple((cell["key"], _with_caps(cell["labels"])) for cell in plan["cells"])
            return cls(folder, plan["name"], tuple(plan["metrics"]), _with_caps(plan["baseline"]), cells)
        except (KeyError, TypeError) as error:
            raise ExperimentError(
                f"{folder / sweep_folder.PLAN} is incomplete ({error}).", "Repeat the sweep with --resume."
            ) from error

    def status(self, key: str) -> tuple[str, str]:
        """Return one of `STATES`, and the error or damage of the cell in one line."""
        cell, failure = self.folder / CELLS / key, self.folder / FAILED / f"{key}.json"
        if cell.exists():
            fault = sweep_folder.damage(cell)
            return ("damaged", fault) if fault else ("finished", "")
        if not failure.exists():
            return "missing", ""
        try:
            record = json.loads(failure.read_text(encoding="utf-8"))
            return "failed", str(record["message"])
        except (OSError, ValueError, KeyError, TypeError):
            return "damaged", f"{failure} is truncated or foreign"

    def table(self, metrics: tuple[str, ...] | None = None) -> pd.DataFrame:
        """Return one row a cell: ``cell``, what it is, ``status``, ``error``, then *metrics*.

        Only results that are whole and the cell's own are read: all others have NaN for figures, and
        say why. The same experiment gives the same table, in whatever order its cells were run.

        Args:
            metrics: keys of `hpcsim.experiments.metrics.METRICS`; default: the experiment's.

        Raises:
            ExperimentError: there is no such metric.
        """
        import pandas as pd

        wanted = self.metrics if metrics is None else metrics
        for metric in wanted:
            if metric not in METRICS:
                raise ExperimentError(f"There is no metric '{metric}'.{closest(metric, METRICS)}")
        columns = self.columns()
        rows = [self._row(key, labels, columns, wanted) for key, labels in self.cells]
        table = pd.DataFrame(rows, columns=["cell", *columns, "status", "error", *wanted])
        for column in columns:  # whole numbers stay whole where some cells have none
            values = [row[column] for row in rows]
            if any(value is None for value in values):
                table[column] = pd.Series(values, dtype=object)
        return table

    def columns(self) -> list[str]:
        """Return the columns that say what a cell is: groups that occur, each followed by its parameters."""
        seen = list(dict.fromkeys(column for _, labels in self.cells for column in labels))
        return [column for group in GROUPS for column in seen if column == group or column.startswith(f"{group}.")]

    def comparisons(self) -> pd.DataFrame:
        """Return the differences to the baseline, see `hpcsim.experiments.contrasts.contrasts`."""
        from hpcsim.experiments.contrasts import contrasts

        return contrasts(self.table(), self.baseline, self.metrics)

    def result(self, key: str) -> Result:
        """Return the whole result of one cell.

        Raises:
            ExperimentError: the cell has none, or not a sound one.
            ResultError: a file of it cannot be read.
        """
        state, reason = self.status(key)
        if state != "finished":
            raise ExperimentError(f"Cell {key} is {state}{': ' if reason else ''}{reason}.", "Resume the sweep.")
        return Result.load(self.folder / CELLS / key)

    def foreign(self) -> list[Path]:
        """Return what lies among the results and belongs to no cell; it is never read."""
        return sweep_folder.foreign(self.folder, [key for key, _ in self.cells])

    def _row(self, key: str, labels: dict[str, Any], columns: list[str], metrics: tuple[str, ...]) -> dict[str, Any]:
        status, error = self.status(key)
        row = {"cell": key} | {column: labels.get(column) for column in columns} | {"status": status, "error": error}
        if status != "finished":
            return row | dict.fromkeys(metrics, math.nan)
        summary = storage.read_record(self.folder / CELLS / key, "summary")
        return row | {metric: math.nan if summary.get(metric) is None else summary[metric] for metric in metrics}


def _with_caps(labels: dict[str, Any]) -> dict[str, Any]:
    """Return *labels* with a power cap as the number that it is: JSON writes that of no cap as text."""
    return {key: float(value) if key == "power_cap_w" else value for key, value in labels.items()}
