"""How much there is to win, known before any simulation: from the truth of the jobs alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpcsim.scaling import scaling_of
from hpcsim.workload import Workload

MOST_S = 86_400.0
KEYS = (
    *("jobs", "offered_load", "efficiency", "least_node_s"),
    *("busy_energy_bound", "total_energy_bound", "energy_bound_spinning"),
)
"""What `headroom` returns, in its order."""


def headroom(jobs: Workload, nodes: int, idle_w: float) -> dict[str, float]:
    """Return what the users' counts waste, and bounds of what advice can save.

    Keys: ``efficiency``, parallel, weighted by node-seconds; ``least_node_s``, the node-seconds if each job ran
    at its least hungry allowed count, as a share of its users' own; ``busy_energy_bound`` and
    ``total_energy_bound``, the energies then, idle nodes on, as shares of their users' own over the same span;
    ``energy_bound_spinning``, the bound of the total by what is saved of the dynamic power of waiting cores alone.
    """
    sums = np.zeros(7)
    for row in range(len(jobs)):
        sums += _of_job(jobs, row, idle_w)
    own_node_s, least_node_s, worked_node_s, own_j, least_j, wasted_j, beyond_j = sums.tolist()
    submit_s = jobs.columns["submit_s"]
    idle_j = idle_w * nodes * float(submit_s.max() - submit_s.min())
    total_j = idle_j + beyond_j
    return {
        "jobs": float(len(jobs)),
        "offered_load": jobs.offered_load(nodes),
        "efficiency": worked_node_s / own_node_s,
        "least_node_s": least_node_s / own_node_s,
        "busy_energy_bound": least_j / own_j,
        "total_energy_bound": 1 - (own_j - least_j - idle_w * (own_node_s - least_node_s)) / total_j,
        "energy_bound_spinning": 1 - wasted_j / total_j,
    }


def _of_job(jobs: Workload, row: int, idle_w: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    columns = jobs.columns
    asked, run_s = int(columns["nodes"][row]), float(columns["run_s"][row])
    own_j = float(columns["mean_power_w"][row]) * run_s
    own_node_s = asked * run_s
    scaling = scaling_of(jobs, row)
    allowed = columns["allowed_nodes"][row]
    efficiency = 1.0 if scaling is None else float(scaling.law.efficiency(asked))
    if scaling is None or not len(allowed):
        worked_node_s, beyond_j = own_node_s * efficiency, own_j - idle_w * own_node_s
        return np.array([own_node_s, own_node_s, worked_node_s, own_j, own_j, 0.0, beyond_j])
    counts = np.array(sorted({*allowed, asked}))
    times_s = scaling.run_s(counts)
    counts = counts[(times_s <= MOST_S) | (counts == asked)]
    node_s = counts * scaling.run_s(counts)
    energy_j = scaling.energy_j(counts)
    spinning_w = scaling.curve.waiting_share * (scaling.curve.peak_w - scaling.curve.idle_w)
    least_node_s = float(node_s.min())
    return np.array(
        [
            own_node_s,
            least_node_s,
            own_node_s * efficiency,
            own_j,
            float(energy_j.min()),
            spinning_w * (own_node_s - least_node_s),
            own_j - idle_w * own_node_s,
        ]
    )
