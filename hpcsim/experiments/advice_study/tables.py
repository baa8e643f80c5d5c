"""From the figures of single runs to what they say together: paired log ratios with intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.experiments.advice_study.plan import USERS
from hpcsim.experiments.advice_study.scenes import IDLE_W
from hpcsim.results.statistics.student import mean_interval

if TYPE_CHECKING:
    import pandas as pd

PAIRED = (
    *("turnaround_s", "advised_turnaround_s", "others_turnaround_s", "wait_s", "p95_wait_s", "slowdown_own_run"),
    *("total_energy_j", "busy_energy_j", "realised_load", "peak_power_w", "total_cost", "total_co2_kg"),
)
"""Figures that are compared as ratios to the users' own, seed by seed."""

GROUP = ["scenario", "arm"]
UNTIL_BOTH_ENDED = ("total_energy_j", "total_cost", "total_co2_kg")
OWN_OF = {
    "advised_turnaround_s": "advised_own_turnaround_s",
    "others_turnaround_s": "others_own_turnaround_s",
    **{name: f"own_{name}" for name in UNTIL_BOTH_ENDED},
}
"""Parts of the jobs are compared with the same jobs of the run without advice, and bills over the same time."""


def on_common_horizon(table: pd.DataFrame) -> pd.DataFrame:
    """Return *table* with energy, cost and carbon of each run until it and the users' own have both ended.

    A run that ends sooner leaves idle nodes behind, which go on drawing; without that the quickest would be
    flattered. The price and carbon of that rest are those of the run's own mean kilowatt-hour. Columns
    ``total_...`` are of the run, ``own_total_...`` of the users' own until then, NaN where it has not finished.
    The time is that of the two runs alone, so that no ratio changes with what else the study has run.
    """
    rows = table.copy()
    own = rows[rows["arm"] == USERS].set_index(["scenario", "seed"])
    own = own.reindex(list(zip(rows["scenario"], rows["seed"], strict=True))).set_axis(rows.index)
    until_s = np.fmax(rows["end_s"], own["end_s"])
    for run, prefix in ((rows, ""), (own, "own_")):
        rows[f"{prefix}total_energy_j"] = run["energy_j"] + (until_s - run["end_s"]) * run["nodes"] * IDLE_W
        for name in ("cost", "co2_kg"):
            rows[f"{prefix}total_{name}"] = run[name] * rows[f"{prefix}total_energy_j"] / run["energy_j"]
    return rows


def paired(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row a scenario and arm: geometric mean ratios to the users' own, with 95 % intervals.

    Columns: ``scenario arm factor seeds``, then for each figure of `PAIRED` its ratio, ``_low`` and ``_high``; then
    ``killed_share own_killed_share killed_by_advice_share losing_users_share``, means over the seeds.
    """
    import pandas as pd

    own = table[table["arm"] == USERS].set_index(["scenario", "seed"])
    found = []
    for (scenario, arm), rows in table.groupby(GROUP, sort=False):
        base = own.reindex(list(zip(rows["scenario"], rows["seed"], strict=True)))
        row: dict[str, Any] = {"scenario": scenario, "arm": arm, "factor": rows["factor"].iloc[0], "seeds": len(rows)}
        for name in PAIRED:
            with np.errstate(divide="ignore", invalid="ignore"):
                theirs = (rows[OWN_OF[name]] if name in OWN_OF else base[name]).to_numpy(dtype=float)
                logs = np.log(rows[name].to_numpy(dtype=float) / theirs)
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), ratio(logs), strict=True))
        for name in ("killed_share", "killed_by_advice_share", "losing_users_share", "changed_share"):
            row[name] = float(rows[name].mean())
        found.append(row | {"own_killed_share": float(base["killed_share"].mean())})
    return pd.DataFrame(found)


def ratio(logs: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the geometric mean of the ratios and the ends of its Student interval; NaN where they do not say."""
    mean, low, high, _ = mean_interval(logs[np.isfinite(logs)])
    return math.exp(mean), math.exp(low), math.exp(high)


def by_class(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the ratio of turnaround to the users' own for each class of users, one row an arm and class."""
    import pandas as pd

    table = pd.DataFrame(rows)
    found = []
    for (scenario, arm, name), group in table.groupby([*GROUP, "class"], sort=False) if len(table) else ():
        logs = np.log((group["turnaround_s"] / group["own_turnaround_s"]).to_numpy(dtype=float))
        middle, low, high = ratio(logs)
        about = {"scenario": scenario, "arm": arm, "class": name, "seeds": len(group), "jobs": int(group["jobs"].sum())}
        found.append(about | {"turnaround_s": middle, "turnaround_s_low": low, "turnaround_s_high": high})
    return pd.DataFrame(found)
