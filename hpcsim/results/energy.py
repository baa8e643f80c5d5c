"""Energy, its cost and its carbon: of the machine over time, by part, and of each job."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.cluster import Cluster
from hpcsim.engine.energy_log import EnergyLog
from hpcsim.power import Tariff
from hpcsim.power_cap import PowerCap

if TYPE_CHECKING:
    import pandas as pd

Column = NDArray[Any]

POWER_COLUMNS = ("time_s", "power_w", "jobs_w", "idle_w", "boot_w", "off_w", "cap_w")
"""Columns of the table of power: the machine from each instant until the next; the last row is the end."""

JOB_ENERGY_COLUMNS = ("energy_j", "cost", "co2_kg")
"""Further columns of the table of jobs, where the machine's power is described."""

ENERGY_KEYS = {
    "energy_j": "J; drawn by the machine from the first submit to the end of the run",
    "jobs_energy_j": "J; of that, by running jobs on their nodes",
    "idle_energy_j": "J; by nodes that were on without a job, and by what jobs left of shared nodes",
    "boot_energy_j": "J; by nodes that booted",
    "off_energy_j": "J; by nodes that were off",
    "mean_power_w": "W; energy / time",
    "peak_power_w": "W; the most that was drawn at any instant",
    "cap_overshoot_w_s": "W s; what was drawn above the power cap, as jobs drew more than they declared",
    "cost": "price of the energy by the tariff",
    "co2_kg": "kg; carbon dioxide of the energy by the tariff",
}
"""Further keys of `Result.summary`, where the machine's power is described."""

JOULES_PER_KWH = 3_600_000.0
HOUR_S = 3600.0


def power_table(log: EnergyLog, cluster: Cluster) -> pd.DataFrame:
    """Return what the machine drew, with `POWER_COLUMNS`."""
    import pandas as pd

    cap = PowerCap(cluster)
    begin_s, end_s = log.time_s[0], log.end_s
    steps_s = [time_s for time_s in cap.times_s if begin_s < time_s < end_s]
    times_s = np.unique(np.concatenate([np.array(log.time_s), steps_s, [end_s]]))
    at = np.searchsorted(np.array(log.time_s), times_s, side="right") - 1
    parts = {name: np.array(getattr(log, name))[at] for name in ("jobs_w", "idle_w", "boot_w", "off_w")}
    caps_w = np.array([cap.at_w(time_s) for time_s in times_s.tolist()])
    table = {"time_s": times_s, "power_w": sum(parts.values()), **parts, "cap_w": caps_w}
    return pd.DataFrame({name: table[name] for name in POWER_COLUMNS})


def job_energy(log: EnergyLog, tariff: Tariff | None, rows: Column) -> dict[str, Column]:
    """Return joules, cost and carbon of each of *rows*, with `JOB_ENERGY_COLUMNS`. Shape [rows] each."""
    row, from_s, to_s = np.array(log.job_row, dtype=np.int64), np.array(log.job_from_s), np.array(log.job_to_s)
    watts = np.array(log.job_w)
    count = int(rows.max()) + 1 if len(rows) else 0
    amounts = (
        watts * (to_s - from_s),
        watts * (_paid(tariff, "price_per_kwh", to_s) - _paid(tariff, "price_per_kwh", from_s)),
        watts * (_paid(tariff, "co2_kg_per_kwh", to_s) - _paid(tariff, "co2_kg_per_kwh", from_s)),
    )
    sums = [np.bincount(row, weights=amount, minlength=count)[rows] for amount in amounts]
    return dict(zip(JOB_ENERGY_COLUMNS, sums, strict=True))


def energy_figures(power: pd.DataFrame, tariff: Tariff | None) -> dict[str, float | None]:
    """Return the figures of `ENERGY_KEYS` from the table of power."""
    times_s = power["time_s"].to_numpy()
    lengths_s = np.diff(times_s)
    held = {name: power[name].to_numpy()[:-1] for name in POWER_COLUMNS[1:]}
    joules = {name: float(math.fsum(watts * lengths_s)) for name, watts in held.items() if name != "cap_w"}
    over_w = np.maximum(held["power_w"] - held["cap_w"], 0)
    over_w[over_w <= 1e-6 * held["power_w"]] = 0  # rounding of sums
    span_s = float(lengths_s.sum())
    return {
        "energy_j": joules["power_w"],
        **{f"{part}_energy_j": joules[f"{part}_w"] for part in ("jobs", "idle", "boot", "off")},
        "mean_power_w": joules["power_w"] / span_s if span_s else None,
        "peak_power_w": float(held["power_w"].max()) if len(lengths_s) else None,
        "cap_overshoot_w_s": float(math.fsum(over_w * lengths_s)),
        "cost": _total(tariff, "price_per_kwh", times_s, held["power_w"]),
        "co2_kg": _total(tariff, "co2_kg_per_kwh", times_s, held["power_w"]),
    }


def tariff_of(cluster: dict[str, Any]) -> Tariff | None:
    """Return the tariff of a cluster as the provenance keeps it."""
    table: dict[str, Any] | None = cluster.get("tariff")
    if not table:
        return None
    prices, carbon = tuple(table["price_per_kwh"]), tuple(table["co2_kg_per_kwh"])
    return Tariff(price_per_kwh=prices, co2_kg_per_kwh=carbon, start_s=table["start_s"])


def _total(tariff: Tariff | None, what: str, times_s: Column, power_w: Column) -> float | None:
    return None if tariff is None else float(math.fsum(power_w * np.diff(_paid(tariff, what, times_s))))


def _paid(tariff: Tariff | None, what: str, times_s: Column) -> Column:
    """Return what one watt has cost from the tariff's start to each instant, negative before; NaN without a tariff."""
    if tariff is None:
        return np.full(len(times_s), np.nan)
    rates = np.array(getattr(tariff, what)) / JOULES_PER_KWH
    whole = np.concatenate([[0.0], np.cumsum(rates * HOUR_S)])
    cycles, rest_s = np.divmod(times_s - tariff.start_s, len(rates) * HOUR_S)
    hour = np.minimum((rest_s // HOUR_S).astype(int), len(rates) - 1)
    paid: Column = cycles * whole[-1] + whole[hour] + (rest_s - hour * HOUR_S) * rates[hour]
    return paid
