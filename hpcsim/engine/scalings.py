"""What jobs take and draw at other node counts than they ask for: the workload's hidden truth, else a declared law."""

from __future__ import annotations

import math
from collections.abc import Callable

from hpcsim.errors import InvalidArgument
from hpcsim.job import Job
from hpcsim.scaling import JobScaling, has_truth, scaling_of
from hpcsim.speedup import PowerCurve, SpeedUp
from hpcsim.workload import Workload


class Scalings:
    """The scaling of each job, by row; the engine alone may know it.

    Where the workload carries its truth, that alone counts, and jobs that it calls rigid are. Jobs of
    other workloads, and those submitted during the run, follow *declared*; without it they run at
    their own count only.
    """

    def __init__(self, workload: Workload, declared: SpeedUp | None) -> None:
        self._workload = workload
        self._rows = len(workload) if has_truth(workload) else 0
        self._declared = declared
        self._last: tuple[int, JobScaling | None] = (-1, None)  # whoever asks about a job asks several times

    def run_ratio(self, asked: Job, nodes: int) -> float | None:
        """Return by what factor *asked* runs longer on *nodes*; None where nobody knows."""
        law = self._law(asked)
        return None if law is None else _positive(lambda: float(law.ratio(nodes, asked.nodes)))

    def power_ratio(self, asked: Job, nodes: int, of_nodes: PowerCurve) -> float:
        """Return by what factor *asked* draws more on *nodes*; 1 where nobody knows.

        The curve of power over efficiency is the job's own where its truth is known, else that *of_nodes*.
        """
        law = self._law(asked)
        if law is None:
            return 1.0
        scaling = self._truth(asked)
        curve = scaling.curve if scaling else of_nodes
        ratio = _positive(lambda: float(curve.job_w(nodes, law) / curve.job_w(asked.nodes, law)))
        return 1.0 if ratio is None else ratio

    def power_w(self, asked: Job, nodes: int) -> float:
        """Return the mean power in watts of *asked* on *nodes*, by the workload's truth; NaN where it has none."""
        scaling = self._truth(asked)
        return math.nan if scaling is None else float(scaling.power_w(nodes))

    def efficiency(self, asked: Job, nodes: int) -> float:
        """Return the parallel efficiency of *asked* on *nodes*, at most 1; 1 where nobody knows."""
        law = self._law(asked)
        known = None if law is None else _positive(lambda: float(law.efficiency(nodes)))
        return 1.0 if known is None else min(known, 1.0)

    def _law(self, asked: Job) -> SpeedUp | None:
        if asked.row < self._rows:
            scaling = self._truth(asked)
            return scaling.law if scaling else None
        return self._declared

    def _truth(self, asked: Job) -> JobScaling | None:
        row = asked.row
        if row >= self._rows:
            return None
        if self._last[0] != row:
            self._last = (row, scaling_of(self._workload, row))
        return self._last[1]


def _positive(figure: Callable[[], float]) -> float | None:
    """Return a figure above 0; None for any other, and where its law does not reach so far."""
    try:
        value = figure()
    except (InvalidArgument, ZeroDivisionError):
        return None
    return value if 0 < value < math.inf else None
