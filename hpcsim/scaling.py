"""What a job would take and draw at every node count: the truth that synthetic workloads carry hidden.

A recorded log has one node count a job. A generated one can know the others, in the columns of
`TRUTH`, which are among `hpcsim.workload.HIDDEN`: the engine runs moldable jobs by them and advice is
graded by them; no policy, advisor or surrogate reads them, and files keep them apart from the log.

The run time and power at the count that the user asked for are the log's own, noise and all. The law
and the power curve only say what another count changes, T(n) = T(asked) S(asked)/S(n), so that a job
which keeps its count runs exactly as long as the log says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.errors import WorkloadError
from hpcsim.speedup import (
    Amdahl,
    Downey,
    PowerCurve,
    PowerLaw,
    SpeedUp,
    Table,
    amdahl_speed_up,
    downey_speed_up,
    node_power_w,
    power_law_speed_up,
)
from hpcsim.workload import Workload

Floats = NDArray[np.float64]

LAWS = ("rigid", "amdahl", "downey", "power-law", "table")
"""Names of the laws; column ``scaling_law`` holds indices into this. A rigid job runs at no other count."""

RIGID, AMDAHL, DOWNEY, POWER_LAW, TABLE = range(len(LAWS))

TRUTH = ("scaling_law", "scaling_a", "scaling_b", "mean_power_w", "idle_w", "peak_w", "waiting_share")
"""The hidden columns. ``scaling_a`` and ``scaling_b`` are the law's parameters in the order of its class
(serial share and communication; parallelism and variation; exponent and nothing); ``mean_power_w`` is the
job's mean power at the count asked for; the last three are those of `hpcsim.speedup.PowerCurve`. Logs of measured power
have ``mean_power_w`` too, and without the others it says nothing of other counts."""

SCALING_TABLE = "scaling_table"
"""A hidden column that workloads with the law ``table`` have as well: for each job of that law its node counts
and run times in seconds, as `hpcsim.speedup.Table` takes them; None for the others. Only the ratio of the times
counts: the run time at the count asked for is the log's."""


@dataclass(frozen=True, slots=True)
class JobScaling:
    """One job's true run time and power at every node count.

    Attributes:
        nodes: count that the user asked for.
        asked_run_s: run time there, in seconds.
        asked_power_w: mean power of the whole job there, in watts.
        law: how the run time changes with the count.
        curve: how the power does.
    """

    nodes: int
    asked_run_s: float
    asked_power_w: float
    law: SpeedUp
    curve: PowerCurve

    def run_s(self, nodes: ArrayLike) -> Floats:
        """Return the run time in seconds at each of *nodes*."""
        return self.asked_run_s * self.law.ratio(nodes, self.nodes)

    def power_w(self, nodes: ArrayLike) -> Floats:
        """Return the mean power of the whole job in watts at each of *nodes*."""
        return self.asked_power_w * (self.curve.job_w(nodes, self.law) / self.curve.job_w(self.nodes, self.law))

    def energy_j(self, nodes: ArrayLike) -> Floats:
        """Return the energy of the job in joules at each of *nodes*."""
        return self.power_w(nodes) * self.run_s(nodes)


def has_truth(workload: Workload) -> bool:
    """Tell whether *workload* knows run time and power at other counts."""
    return all(name in workload.columns for name in TRUTH)


def scaling_of(workload: Workload, row: int) -> JobScaling | None:
    """Return the truth about the job of *row*, or None where it is rigid.

    Raises:
        WorkloadError: the workload carries no truth.
    """
    columns = _truth(workload)
    table = columns[SCALING_TABLE][row] if SCALING_TABLE in columns else None
    code, a, b = (columns[name][row].item() for name in TRUTH[:3])
    law = _law(code, a, b, table)
    if law is None:
        return None
    power_w, *curve = (columns[name][row].item() for name in TRUTH[3:])
    return JobScaling(
        nodes=int(columns["nodes"][row]),
        asked_run_s=float(columns["run_s"][row]),
        asked_power_w=float(power_w),
        law=law,
        curve=PowerCurve(*curve),
    )


def speed_ups(columns: Mapping[str, NDArray[Any]], nodes: ArrayLike) -> Floats:
    """Return S(n) of J jobs by their columns ``scaling_law scaling_a scaling_b`` and, if any, ``scaling_table``.

    *nodes* has shape [J] (a count each) or [J, N] or [1, N]; so has the answer. Rigid jobs get 1
    at any count.

    Raises:
        InvalidArgument: a count lies outside a job's table.
    """
    counts = np.asarray(nodes, dtype=np.float64)
    shape = (-1,) + (1,) * (counts.ndim - 1)
    law, a, b = (np.asarray(columns[name]).reshape(shape) for name in TRUTH[:3])
    result = np.ones(np.broadcast_shapes(law.shape, counts.shape))
    law, a, b, counts = np.broadcast_arrays(law, a, b, counts, subok=False)
    for code, formula in ((AMDAHL, amdahl_speed_up), (DOWNEY, downey_speed_up), (POWER_LAW, _power_law)):
        mask = law == code
        result[mask] = formula(counts[mask], a[mask], b[mask])
    for row in np.flatnonzero(np.asarray(columns[TRUTH[0]]) == TABLE).tolist():
        result[row] = _table(columns[SCALING_TABLE][row]).speed_up(counts[row])
    return result


def true_run_s(workload: Workload, rows: NDArray[np.int64], nodes: ArrayLike) -> Floats:
    """Return the run times in seconds of the jobs of *rows* [J] at *nodes* [J], [J, N] or [1, N]."""
    columns = _rows(workload, rows)
    counts = np.asarray(nodes, dtype=np.float64)
    ratio = _asked(speed_ups(columns, columns["nodes"]), counts) / speed_ups(columns, counts)
    return np.asarray(_asked(columns["run_s"], counts) * ratio)


def true_power_w(workload: Workload, rows: NDArray[np.int64], nodes: ArrayLike) -> Floats:
    """Return the mean power in watts of the whole jobs of *rows* [J] at *nodes* [J], [J, N] or [1, N]."""
    columns = _rows(workload, rows)
    counts = np.asarray(nodes, dtype=np.float64)
    asked = _asked(_curve_w(columns, columns["nodes"].astype(np.float64)), counts)
    return np.asarray(_asked(columns["mean_power_w"], counts) * (_curve_w(columns, counts) / asked))


def _curve_w(columns: Mapping[str, NDArray[Any]], counts: Floats) -> Floats:
    curve = (_asked(columns[name], counts) for name in TRUTH[4:])
    return counts * node_power_w(speed_ups(columns, counts) / counts, *curve)


def _asked(column: NDArray[Any], counts: Floats) -> NDArray[Any]:
    """Return a column [J] in a shape that broadcasts against *counts* [J] or [., N]."""
    return column.reshape((-1,) + (1,) * (counts.ndim - 1))


def _power_law(nodes: ArrayLike, exponent: ArrayLike, _: ArrayLike) -> Floats:
    return power_law_speed_up(nodes, exponent)


def _table(pair: Any) -> Table:
    counts, times_s = pair
    return Table(tuple(int(count) for count in counts), tuple(float(time) for time in times_s))


def _law(code: int, a: float, b: float, table: Any) -> SpeedUp | None:
    if code == RIGID:
        return None
    if code == TABLE:
        return _table(table)
    return PowerLaw(a) if code == POWER_LAW else (Amdahl if code == AMDAHL else Downey)(a, b)


def _truth(workload: Workload) -> Mapping[str, NDArray[Any]]:
    if not has_truth(workload):
        raise WorkloadError(
            "This workload does not know what its jobs would take at other node counts.",
            "Use one that was generated with its truth, such as synth-pm100, or make it moldable first.",
        )
    return workload.columns


def _rows(workload: Workload, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    columns = _truth(workload)
    names = (*TRUTH, SCALING_TABLE, "nodes", "run_s")
    return {name: columns[name][rows] for name in names if name in columns}
