"""The figures of one cell: of all jobs, of those whose users take advice and of the others, and by class of user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.results.result import Result
from hpcsim.results.statistics.classes import USER_NAMES, user_class
from hpcsim.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[Any]

SHORT_S = 10.0
LOSS = 1.05
"""A user loses whose mean turnaround grows by more than this factor."""


def measures(result: Result, own: pd.DataFrame, jobs: Workload) -> dict[str, Any]:
    """Return the figures of a cell, plain data; *own* is the table of jobs of the run without advice."""
    table, summary = result.jobs, result.summary()
    run_s = jobs.columns["run_s"][table["row"].to_numpy()].astype(float)
    turnaround_s = (table["end_s"] - table["submit_s"]).to_numpy()
    own_s = (own["end_s"] - own["submit_s"]).to_numpy()
    started = table["start_s"].notna().to_numpy() & own["start_s"].notna().to_numpy()
    is_advised = (table["advice"].astype(str) != "kept-declined").to_numpy()
    groups = {"": started, "advised_": started & is_advised, "others_": started & ~is_advised}
    span_s = float(table["submit_s"].max() - table["submit_s"].min())
    held_node_s = float((table["nodes"] * table["run_s"]).sum() + table["lost_node_s"].sum())
    found: dict[str, Any] = {}
    for name, chosen in groups.items():
        found |= {
            f"{name}jobs": int(chosen.sum()),
            f"{name}turnaround_s": _mean(turnaround_s[chosen]),
            f"{name}own_turnaround_s": _mean(own_s[chosen]),
            f"{name}wait_s": _mean(table["wait_s"].to_numpy()[chosen]),
            f"{name}slowdown_own_run": _mean(turnaround_s[chosen] / np.maximum(run_s[chosen], SHORT_S)),
        }
    return found | {
        "energy_j": summary["energy_j"],
        "busy_energy_j": summary["jobs_energy_j"],
        "end_s": float(table["end_s"].max()),
        "killed_share": float((table["state"] == "TIMEOUT").mean()),
        "killed_by_advice_share": float((table["attempts"] > 1).mean()),
        "rejected": int((table["state"] == "REJECTED").sum()),
        "realised_load": held_node_s / (result.nodes * span_s),
        "offered_load": jobs.offered_load(result.nodes),
        "p95_wait_s": summary["p95_wait_s"],
        "peak_power_w": summary["peak_power_w"],
        "cost": summary["cost"],
        "co2_kg": summary["co2_kg"],
        "changed_share": float((table["nodes"] != table["requested_nodes"]).mean()),
        "losing_users_share": losing_users(table, turnaround_s, own_s, started & is_advised),
        "reasons": {str(reason): int(count) for reason, count in table["advice"].value_counts().items() if count},
        "first_error": result.provenance["advice"]["first_error"],
        "classes": classes(table, jobs, turnaround_s, own_s, started),
    }


def losing_users(table: pd.DataFrame, turnaround_s: Values, own_s: Values, chosen: Values) -> float:
    """Return the share of users, of those with *chosen* jobs, whose mean turnaround grows by more than `LOSS`."""
    import pandas as pd

    users = table["user_id"][chosen]
    if not len(users):
        return float("nan")
    sums = pd.DataFrame({"new": turnaround_s[chosen], "old": own_s[chosen]}).groupby(users.to_numpy()).sum()
    return float((sums["new"] > LOSS * sums["old"]).mean())


def classes(
    table: pd.DataFrame, jobs: Workload, turnaround_s: Values, own_s: Values, started: Values
) -> list[dict[str, Any]]:
    """Return the mean turnarounds of each class of users with and without advice, classes by the users' own demand."""
    rows = table["row"].to_numpy()
    node_s = (jobs.columns["nodes"][rows] * jobs.columns["run_s"][rows]).astype(float)
    place = user_class(table["user_id"], node_s)
    found = []
    for number, name in enumerate(USER_NAMES):
        chosen = started & (place == number)
        if chosen.any():
            ratio = {"turnaround_s": _mean(turnaround_s[chosen]), "own_turnaround_s": _mean(own_s[chosen])}
            found.append({"class": name, "jobs": int(chosen.sum())} | ratio)
    return found


def _mean(values: Values) -> float | None:
    return float(np.mean(values)) if len(values) else None
