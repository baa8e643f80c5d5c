"""Jobs on which an advisor is tried, and what it said of each."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hpcsim import registry
from hpcsim.advisor import Advisor
from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.power import NodePower
from hpcsim.results.result import Result
from hpcsim.results.run import simulate
from hpcsim.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

NODES, MOST_LIMIT_S = 32, 86_400.0
ADVICE = ["requested_nodes", "nodes", "limit_s", "advice", "attempts"]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A run of an advisor on *workload*."""

    workload: Workload
    result: Result

    @property
    def advice(self) -> pd.DataFrame:
        """What became of each job, in the workload's order."""
        return self.result.jobs.sort_values("row")[ADVICE].reset_index(drop=True)

    @property
    def first_error(self) -> str:
        """What the advisor did wrong the first time, or the empty string."""
        return str(self.result.provenance["advice"]["first_error"])


def moldable_jobs(jobs: int, seed: int) -> Workload:
    """Return jobs that know their run times at other counts, crowded enough that some wait."""
    made: Workload = registry.make(
        "models", "synth-pm100", jobs=jobs, nodes=NODES, load=1.0, preset="habit-driven", seed=seed
    )
    return made


def machine() -> Cluster:
    """Return a machine with power and a longest limit."""
    group = NodeGroup(nodes=NODES, power=NodePower(idle_w=400, busy_w=1700, waiting_share=0.5))
    return Cluster(groups=(group,), partitions=(Partition(name="all", groups=("nodes",), max_limit_s=MOST_LIMIT_S),))


def tried(advisor: Advisor, workload: Workload, seed: int = 0) -> Trial:
    """Run *workload* with a copy of *advisor*, the engine's invariants watched."""
    result = simulate(workload, machine(), "easy", seed=seed, advisor=copy.deepcopy(advisor), check=True)
    return Trial(workload, result)


def with_another_future(trial: Trial, now_s: float) -> Workload:
    """Return the workload with everything changed that happened after *now_s* in *trial*.

    Jobs that had not ended run longer, and those submitted later ask for something else.
    """
    ends_s = trial.result.jobs.sort_values("row")["end_s"].to_numpy()
    columns = dict(trial.workload.columns)
    open_then = ~(ends_s <= now_s)
    columns["run_s"] = np.where(open_then, columns["run_s"] * 2 + 1, columns["run_s"])
    columns["mean_power_w"] = np.where(open_then, columns["mean_power_w"] * 1.5, columns["mean_power_w"])
    later = columns["submit_s"] > now_s
    columns["limit_s"] = np.where(later, columns["limit_s"] * 2, columns["limit_s"])
    columns["user_id"] = np.where(later, columns["user_id"][::-1], columns["user_id"])
    return replace(trial.workload, columns=columns)
