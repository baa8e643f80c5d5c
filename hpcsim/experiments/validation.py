"""When to believe the simulator: a log with recorded starts, simulated again, wait against wait."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hpcsim.cluster import Cluster
from hpcsim.errors import WorkloadError
from hpcsim.experiments.side_by_side import Watch, run_policies, unwatched
from hpcsim.policy import Policy
from hpcsim.results.agreement import Agreement, agreement, by_class, size_classes, time_classes, user_classes
from hpcsim.results.result import Result
from hpcsim.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

CAVEATS = (
    "The log does not say when nodes were down, drained or reserved: the simulated machine always has all of them.",
    "Priorities, fair share, queue limits and holds of the real scheduler are not in the log.",
    "Users react to waits; replayed submits do not.",
)
"""What a recorded wait holds and no replay can know."""


@dataclass(frozen=True, slots=True)
class Validation:
    """How near each policy's simulated waits come to the recorded ones.

    Attributes:
        overall: policy -> agreement over all compared jobs.
        classes: policy -> kind of class ("size", "time", "user") -> class -> agreement.
        compared, not_compared: jobs with and without a recorded wait and a simulated start.
        recorded_peak_nodes: most nodes held at once by the log's own starts and run times.
        machine_nodes: nodes of the simulated machine.
    """

    overall: dict[str, Agreement]
    classes: dict[str, dict[str, dict[str, Agreement]]]
    compared: int
    not_compared: int
    recorded_peak_nodes: int
    machine_nodes: int

    @property
    def nearest(self) -> str:
        """The policy with the smallest median error; the first of equals."""
        return min(self.overall, key=lambda name: self.overall[name].median_error_s)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, times in seconds."""
        return {
            "nearest": self.nearest,
            "compared": self.compared,
            "not_compared": self.not_compared,
            "recorded_peak_nodes": self.recorded_peak_nodes,
            "machine_nodes": self.machine_nodes,
            "policies": {
                name: found._asdict()
                | {kind: {c: a._asdict() for c, a in classes.items()} for kind, classes in self.classes[name].items()}
                for name, found in self.overall.items()
            },
            "caveats": self.caveats(),
        }

    def caveats(self) -> list[str]:
        """Return what limits the comparison, with numbers where there are some."""
        notes = list(CAVEATS)
        if self.recorded_peak_nodes > self.machine_nodes:
            notes.insert(
                0,
                f"By its own record the log held up to {self.recorded_peak_nodes:,} of {self.machine_nodes:,} at once: "
                "its starts cannot all be right, or the machine is larger.",
            )
        return notes


def validate(
    workload: Workload,
    cluster: Cluster,
    policies: Mapping[str, Policy],
    *,
    watch: Watch = unwatched,
    **options: Any,
) -> Validation:
    """Simulate *workload* under each policy and compare waits with the recorded ones.

    Jobs without a recorded wait, and those that did not start in some run, are left out of all.

    Raises:
        WorkloadError: the log records no waits.
    """
    recorded_s = _recorded_waits_s(workload)
    tables = {
        name: _compared(result, recorded_s)
        for name, result in run_policies(workload, cluster, policies, watch=watch, **options)
    }
    shared = set.intersection(*(set(table.index) for table in tables.values()))
    tables = {name: table.loc[sorted(shared)] for name, table in tables.items()}
    return Validation(
        overall={name: _overall(table) for name, table in tables.items()},
        classes={name: _classes(table, workload) for name, table in tables.items()},
        compared=len(shared),
        not_compared=len(workload) - len(shared),
        recorded_peak_nodes=_recorded_peak(workload, recorded_s),
        machine_nodes=cluster.nodes,
    )


def _recorded_waits_s(workload: Workload) -> pd.Series:
    """Return the known recorded waits by row."""
    import pandas as pd

    column = workload.columns.get("recorded_wait_s")
    waits_s = pd.Series([] if column is None else column, dtype=float)
    known = waits_s[waits_s >= 0]
    if known.empty:
        raise WorkloadError("The log records no waits, so there is nothing to compare with.", "Choose another log.")
    return known


def _compared(result: Result, recorded_s: pd.Series) -> pd.DataFrame:
    started = result.jobs[result.jobs["wait_s"].notna()].set_index("row")
    return started.join(recorded_s.rename("recorded_wait_s"), how="inner")


def _overall(table: pd.DataFrame) -> Agreement:
    return agreement(table["recorded_wait_s"].to_numpy(), table["wait_s"].to_numpy())


def _classes(table: pd.DataFrame, workload: Workload) -> dict[str, dict[str, Agreement]]:
    if table.empty:
        return {}
    kinds = {"size": size_classes(table["nodes"]), "time": time_classes(table["submit_s"])}
    if "user_id" in workload.columns:
        kinds["user"] = user_classes(table["user_id"], table["nodes"] * table["run_s"])
    return {kind: by_class(table, classes) for kind, classes in kinds.items()}


def _recorded_peak(workload: Workload, recorded_s: pd.Series) -> int:
    """Return the most nodes held at once by recorded starts; a job that ends as another starts is gone by then."""
    import numpy as np

    rows = recorded_s.index.to_numpy()
    columns = workload.columns
    nodes, run_s = columns["nodes"][rows], columns["run_s"][rows].astype(float)
    start_s = columns["submit_s"][rows] + recorded_s.to_numpy()
    times = np.concatenate([start_s + run_s, start_s])
    changes = np.concatenate([-nodes, nodes])
    order = np.lexsort((changes, times))
    held = np.cumsum(changes[order])
    return int(held.max(initial=0)) if math.isfinite(times.max(initial=0.0)) else 0
