"""Moldable jobs by Downey: work and parallelism log-uniform, the run time at any node count known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.ingest import IngestLedger
from hpcsim.scaling import DOWNEY
from hpcsim.speedup import downey_speed_up, node_power_w
from hpcsim.workload import Workload
from hpcsim.workloads.models.arguments import check_number, check_whole
from hpcsim.workloads.models.cycles import flat_points, half_days, spread
from hpcsim.workloads.models.node_counts import allowed, powers_of_two

LEAST_WORK_S, MOST_WORK_S = 60.0, 500_000.0
"""Bounds of the work, the run time on one node."""

DAY_SHARE = 0.75
"""Share of the arrivals from 8 to 20 h."""

MINUTE_S = 60
GREATEST_OVERESTIMATE = 5.0
IDLE_W, PEAK_W, WAITING_SHARE = 400.0, 1000.0, 0.5


def downey(
    *, jobs: int = 1000, nodes: int = 128, load: float = 0.7, most_variation: float = 2.0, seed: int = 0
) -> Workload:
    """Return moldable jobs by Downey: log-uniform work and average parallelism, and his speed-up.

    Work is log-uniform over 60 to 500,000 node-seconds, average parallelism A log-uniform over 1 to
    *nodes*, its variation sigma uniform over 0 to *most_variation*. A job asks for A nodes, rounded,
    and may run at every power of two as well. Arrivals are a Poisson process whose rate differs
    between the two halves of the day. Limits are 1 to 5 times the run time, in whole minutes; what
    a node draws is alike for all jobs (`hpcsim.speedup.PowerCurve` of 400 to 1,000 W). The truth is
    in the hidden columns of `hpcsim.scaling`.

    Args:
        jobs: how many, 1 or more.
        nodes: of the machine, 1 or more.
        load: offered, at the counts asked for, above 0.
        most_variation: the largest sigma, 0 or more.
        seed: of the random numbers, 0 or more.

    Raises:
        WorkloadError: an argument is out of its range.

    Source: A. B. Downey, A parallel workload model and its implications for processor allocation
    (1997); counts asked for, limits and power are ours.
    """
    check_whole("jobs", jobs)
    check_whole("nodes", nodes)
    check_whole("seed", seed, least=0)
    check_number("load", load, above=0)
    check_number("most_variation", most_variation, least=0)
    rng = np.random.default_rng(seed)
    work_s = np.exp(rng.uniform(math.log(LEAST_WORK_S), math.log(MOST_WORK_S), jobs))
    parallelism = np.exp(rng.uniform(0.0, math.log(nodes), jobs))
    variation = rng.uniform(0.0, most_variation, jobs)
    asked = np.clip(np.rint(parallelism), 1, nodes).astype(np.int32)
    speed_up = downey_speed_up(asked, parallelism, variation)
    run_s = np.ceil(work_s / speed_up).astype(np.int64)
    overestimate = np.exp(rng.uniform(0.0, math.log(GREATEST_OVERESTIMATE), jobs))
    (submit_s,) = spread(
        [(half_days(DAY_SHARE), flat_points(rng, jobs))], float((run_s * asked).sum()) / (nodes * load)
    )
    curve = dict(zip(("idle_w", "peak_w", "waiting_share"), (IDLE_W, PEAK_W, WAITING_SHARE), strict=True))
    columns: dict[str, NDArray[Any]] = {
        "job_id": np.arange(1, jobs + 1),
        "submit_s": np.rint(submit_s).astype(np.int64),
        "run_s": run_s,
        "limit_s": np.ceil(run_s * overestimate / MINUTE_S).astype(np.int64) * MINUTE_S,
        "nodes": asked,
        "allowed_nodes": _tuples([allowed(powers_of_two(nodes), 1, count) for count in asked.tolist()]),
        "scaling_law": np.full(jobs, DOWNEY, dtype=np.int8),
        "scaling_a": parallelism,
        "scaling_b": variation,
        "mean_power_w": asked * node_power_w(speed_up / asked, IDLE_W, PEAK_W, WAITING_SHARE),
    }
    columns |= {name: np.full(jobs, value) for name, value in curve.items()}
    options = {"jobs": jobs, "nodes": nodes, "load": load, "most_variation": most_variation, "seed": seed}
    return Workload(
        columns,
        machine_nodes=nodes,
        provenance={"model": "downey"} | options,
        ledger=IngestLedger(source="downey", format="model", rows=jobs),
    )


def _tuples(values: list[tuple[int, ...]]) -> NDArray[Any]:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
