"""Tables of contexts (what is known at submission) and of outcomes (the same, and what then happened)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument
from hpcsim.job import Job, JobState
from hpcsim.surrogates.features.columns import CONTEXT_COLUMNS, OUTCOME_COLUMNS, require
from hpcsim.surrogates.features.history import Finished, History
from hpcsim.surrogates.features.submissions import TOTALS, submissions
from hpcsim.workload import END_STATES, Workload

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

HISTORY_COLUMNS = ("user_id", "app_id", "end_s", "run_s", "nodes", "power_w")
"""What a table of outcomes must hold to serve as history."""

COMPLETED = END_STATES.index(JobState.COMPLETED)

CUT_SHORT = (
    *("FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"),
    *("PREEMPTED", "DEADLINE", "BOOT_FAIL", "REVOKED", "REQUEUED"),
)
"""What logs call bad ends; some come from outside, and ``end_state``, how a job ends by itself, knows none of those."""


class HasJobs(Protocol):
    """A `hpcsim.Result`, or anything else with its table of jobs."""

    @property
    def jobs(self) -> pd.DataFrame:
        """One row a submitted job."""
        ...


def contexts_table(
    source: Workload | Sequence[Job], history: pd.DataFrame | None = None, *, rows: Rows | None = None
) -> pd.DataFrame:
    """Return what was known of jobs when they were submitted: one row a job, all columns float64.

    Args:
        source: a workload, or jobs.
        history: finished jobs, a table of `outcomes_table`; of these each job sees those that ended
            strictly before it was submitted. None: nothing had ever run.
        rows: of the workload; default all, in the log's order.

    Raises:
        InvalidArgument: *history* lacks a column.
    """
    return _frame(_contexts(submissions(source, rows), _finished(history)), CONTEXT_COLUMNS)


def outcomes_table(source: Workload | HasJobs, workload: Workload | None = None) -> pd.DataFrame:
    """Return the jobs that ran to their own good end: contexts and what then happened, one row a job.

    Jobs that failed, were cancelled, killed or rejected say little about the work, and are left out. History is
    that of the same jobs, each seeing those that ended before its submission.

    Args:
        source: a workload (what its log recorded), or the result of a run.
        workload: that the result is of: a result alone does not know applications.

    Raises:
        InvalidArgument: a result without its workload.
    """
    if isinstance(source, Workload):
        asked, ran = _logged(source)
    elif workload is None:
        raise InvalidArgument(
            "A result alone does not know what its jobs asked for.",
            "Give its workload: outcomes_table(result, workload).",
        )
    else:
        asked, ran = _simulated(source.jobs, workload)
    jobs = Finished(_whole(asked["user_id"]), _whole(asked["app_id"]), *(ran[name] for name in HISTORY_COLUMNS[2:]))
    table = _contexts(asked, jobs) | ran
    for feature, total in TOTALS.items():
        table[total] = asked[feature] * ran["nodes"]
    return _frame(table, OUTCOME_COLUMNS)


def _logged(workload: Workload) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return what the log recorded of its good jobs; where it has no waits, as if none had waited."""
    columns = workload.columns
    good = columns["run_s"] <= columns["limit_s"]
    if "end_state" in columns:
        good &= columns["end_state"] == COMPLETED
    if "recorded_state" in columns:
        good &= ~np.isin([str(state).upper() for state in columns["recorded_state"].tolist()], CUT_SHORT)
    rows = np.flatnonzero(good)
    asked = submissions(workload, rows)
    wait_s = _optional(columns, "recorded_wait_s", rows)
    run_s = columns["run_s"][rows].astype(float)
    power_w = _optional(columns, "mean_power_w", rows)
    power_w = np.where(np.isfinite(power_w) & (power_w > 0), power_w, np.nan)  # a broken meter is no meter
    ran = {"nodes": asked["nodes"], "run_s": run_s, "power_w": power_w, "wait_s": wait_s}
    ran["end_s"] = asked["submit_s"] + np.nan_to_num(wait_s) + run_s
    ran["max_power_w"] = _optional(columns, "max_power_w", rows)
    return asked, ran | {"energy_j": power_w * run_s}


def _simulated(jobs: pd.DataFrame, workload: Workload) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return what a run made of the good jobs of *workload*."""
    good = jobs[jobs["state"].astype(str) == JobState.COMPLETED.value]
    asked = submissions(workload, good["row"].to_numpy(dtype=np.int64))
    ran = {name: good[name].to_numpy(dtype=float) for name in ("nodes", "run_s", "end_s", "wait_s")}
    nothing = np.full(len(good), np.nan)
    ran["energy_j"] = good["energy_j"].to_numpy(dtype=float) if "energy_j" in good else nothing
    ran["power_w"] = ran["energy_j"] / np.maximum(ran["run_s"], 1.0)
    return asked, ran | {"max_power_w": nothing}


def _optional(columns: Any, name: str, rows: Rows) -> Floats:
    return columns[name][rows].astype(float) if name in columns else np.full(len(rows), np.nan)


def _finished(history: pd.DataFrame | None) -> Finished:
    if history is None:
        return Finished(*(np.zeros(0, dtype=np.int64),) * 2, *(np.zeros(0),) * 4)
    require(HISTORY_COLUMNS, list(history.columns), "history")
    user, app, *ran = (history[name].to_numpy(dtype=float) for name in HISTORY_COLUMNS)
    return Finished(_whole(user), _whole(app), *ran)


def _contexts(asked: dict[str, Floats], jobs: Finished) -> dict[str, Floats]:
    """Return all columns of contexts, history included."""
    table = dict(asked) | {"asked_nodes": asked["nodes"]}
    table["log_limit_s"] = np.log(np.clip(asked["limit_s"], 1.0, 1e9))
    for feature, total in TOTALS.items():
        table[total] = asked[feature] * asked["nodes"]
    user, app = _whole(asked["user_id"]), _whole(asked["app_id"])
    for prefix, groups in _groups(jobs, user, app).items():
        known = History(groups[0], jobs).seen(groups[1], asked["submit_s"])
        table |= {f"{prefix}_{name}": column for name, column in known.items()}
    return table


def _groups(jobs: Finished, user: Rows, app: Rows) -> dict[str, tuple[Rows, Rows]]:
    """Return the groups of finished jobs and of those asked about, numbered alike, for each kind of history."""
    split = len(jobs)
    users = np.unique(np.concatenate([jobs.user, user]), return_inverse=True)[1]
    apps = np.unique(np.concatenate([jobs.app, app]), return_inverse=True)[1]
    pairs = users * (apps.max(initial=0) + 1) + apps
    return {name: (ids[:split], ids[split:]) for name, ids in {"pair": pairs, "app": apps, "user": users}.items()}


def _whole(values: Floats) -> Rows:
    return values.astype(np.int64)


def _frame(columns: dict[str, Floats], names: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(np.stack([columns[name] for name in names], axis=1), columns=_index(names))


@cache
def _index(names: tuple[str, ...]) -> pd.Index[str]:
    """Return the labels of a table, one object for all tables of a kind: models then need not look at them again."""
    import pandas as pd

    return pd.Index(names)
