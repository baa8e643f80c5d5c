"""How much power a job is said to draw, and how much it does: declared, traced, or by the model of its nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from hpcsim.engine.scalings import Scalings
from hpcsim.job import Job
from hpcsim.power import NodePower
from hpcsim.speedup import PowerCurve
from hpcsim.workload import SAMPLE_S, Workload

PowerTrace = Literal["series", "mean", "max"]
"""Which record of a job's power is simulated where a log has several."""


class Share(NamedTuple):
    """Like nodes under a job: how many (a shared node counts by its cores), and what each draws."""

    nodes: float
    power: NodePower


def idle_w(shares: Sequence[Share]) -> float:
    """Return what these nodes draw when idle."""
    return math.fsum(nodes * power.idle_w for nodes, power in shares)


def model_w(shares: Sequence[Share], efficiency: float = 1.0) -> float:
    """Return idle + (busy - idle) (beta + (1 - beta) efficiency) over the nodes of a job.

    *efficiency* is the job's parallel efficiency, speed-up over nodes; beta the waiting share of
    the node. Source: the setting of the node-count studies, where half of it is a common value.
    """
    return math.fsum(
        nodes * (p.idle_w + (p.busy_w - p.idle_w) * (p.waiting_share + (1 - p.waiting_share) * efficiency))
        for nodes, p in shares
    )


def declared_w(job: Job, shares: Sequence[Share]) -> float:
    """Return what admission counts for *job*: its declared power, else its nodes' busy watts; at least their idle."""
    said_w = model_w(shares) if job.power_w is None else job.power_w
    return max(said_w, idle_w(shares))


def mean_curve(shares: Sequence[Share]) -> PowerCurve:
    """Return power over efficiency of the mean node of a job."""
    nodes = math.fsum(share.nodes for share in shares)
    idle, busy, waiting = (
        math.fsum(share.nodes * getattr(share.power, name) for share in shares) / nodes
        for name in ("idle_w", "busy_w", "waiting_share")
    )
    return PowerCurve(idle, busy, waiting)


class TruePower:
    """What each job of a workload really draws, which the engine alone may know."""

    def __init__(self, workload: Workload, trace: PowerTrace, scalings: Scalings) -> None:
        self._scalings = scalings
        columns = workload.columns
        order = {"series": ("mean_power_w", "max_power_w"), "mean": ("mean_power_w",), "max": ("max_power_w",)}
        self._series = columns.get("power_series_w") if trace in {"series", "mean"} else None
        self._is_mean = trace == "mean"
        self._flat = [columns[name] for name in order[trace] if name in columns]
        self._step_s = columns.get("power_step_s")
        self._efficiency = columns.get("efficiency")
        self._rows = len(workload)

    def steps(self, job: Job, shares: Sequence[Share]) -> Iterator[tuple[float, float]]:
        """Yield (seconds from the start, watts of the whole job) at each change; the last holds to the end.

        Of a job that was advised another node count, what is known at the count asked for is scaled.
        """
        asked = job.requested
        if asked is None or asked.nodes == job.nodes:
            yield from self._known_steps(job, shares, self._efficiency_of(job.row))
            return
        if not self._is_known(job.row):
            yield 0, _guess_w(job, shares, self._scalings.efficiency(asked, job.nodes))
            return
        slower = self._scalings.run_ratio(asked, job.nodes) or 1.0
        hungrier = self._scalings.power_ratio(asked, job.nodes, mean_curve(shares))
        for after_s, watts in self._known_steps(asked, shares, 1.0):
            yield after_s * slower, watts * hungrier

    def _is_known(self, row: int) -> bool:
        """Whether the log says what the job of *row* drew."""
        is_of_log = row < self._rows
        return is_of_log and (any(column[row] >= 0 for column in self._flat) or len(self._series_of(row)) > 0)

    def _known_steps(self, job: Job, shares: Sequence[Share], efficiency: float) -> Iterator[tuple[float, float]]:
        """Yield `steps` of a job on as many nodes as it asked for."""
        row = job.row
        if row >= self._rows:
            yield 0, _guess_w(job, shares, 1.0)
            return
        flat_w = next((float(column[row]) for column in self._flat if column[row] >= 0), None)
        series = self._series_of(row)
        if self._is_mean and flat_w is None and len(series):
            flat_w = float(np.mean(series))
        if len(series) and not self._is_mean:
            yield from self._sampled(row, series)
        elif flat_w is not None:
            yield 0, flat_w
        else:
            yield 0, _guess_w(job, shares, efficiency)

    def _sampled(self, row: int, series: Sequence[float]) -> Iterator[tuple[float, float]]:
        step_s = SAMPLE_S if self._step_s is None else self._step_s[row].item()
        last_w = math.nan
        for at, watts in enumerate(series):
            if watts != last_w:
                last_w = float(watts)
                yield at * step_s, last_w

    def _series_of(self, row: int) -> Sequence[float]:
        series: Any = None if self._series is None else self._series[row]
        return () if series is None else series

    def _efficiency_of(self, row: int) -> float:
        column = self._efficiency
        known = math.nan if column is None or row >= self._rows else float(column[row])
        return known if 0 <= known <= 1 else 1.0


def _guess_w(job: Job, shares: Sequence[Share], efficiency: float) -> float:
    """Return what a job draws of which no record is known: its declared power, else that of its nodes."""
    return model_w(shares, efficiency) if job.power_w is None else job.power_w
