"""A plain workload to try things on: Poisson arrivals, log-uniform run times and widths.

It stands for no machine in particular; nothing here is fitted to a log.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.ingest import IngestLedger
from hpcsim.workload import Workload

SHORTEST_S, LONGEST_S = 30, 6 * 3600
MINUTE_S = 60
GREATEST_OVERESTIMATE = 10.0
USERS = 12
USERS_A_GROUP = 4
APPS_A_USER = 3


def poisson(*, jobs: int = 1000, nodes: int = 64, load: float = 0.8, seed: int = 0) -> Workload:
    """Return a seeded workload that offers *load* to a machine of *nodes*.

    Run times are log-uniform between 30 s and 6 h, widths log-uniform over 1 to *nodes*, limits 1 to
    10 times the run time (log-uniform) in whole minutes. Submit times are those of a Poisson process,
    given that *jobs* arrive in the span that makes the offered load: it is met but for rounding to
    whole seconds. Twelve users submit unequally often. The same arguments give the same bytes.

    Args:
        jobs: how many, 1 or more.
        nodes: of the machine, 1 or more.
        load: offered, node-seconds asked for over node-seconds there are, above 0.
        seed: of the random numbers, 0 or more.

    Raises:
        WorkloadError: an argument is out of its range.
    """
    _check(jobs, nodes, load, seed)
    rng = np.random.default_rng(seed)
    run_s = _log_uniform(rng, SHORTEST_S, LONGEST_S, jobs).astype(np.int64)
    widths = np.minimum(_log_uniform(rng, 1, nodes + 1, jobs).astype(np.int32), nodes)
    overestimates = _log_uniform(rng, 1, GREATEST_OVERESTIMATE, jobs)
    limit_s = np.ceil(run_s * overestimates / MINUTE_S).astype(np.int64) * MINUTE_S
    span_s = float((run_s * widths).sum()) / (nodes * load)
    columns: dict[str, NDArray[Any]] = {
        "job_id": np.arange(1, jobs + 1, dtype=np.int32),
        "submit_s": _arrivals(rng, jobs, span_s),
        "run_s": run_s,
        "limit_s": limit_s,
        "nodes": widths,
    }
    return Workload(
        columns | _who(rng, jobs),
        machine_nodes=nodes,
        provenance={"model": "poisson", "jobs": jobs, "nodes": nodes, "load": load, "seed": seed},
        ledger=IngestLedger(source="poisson", format="model", rows=jobs),
    )


def _check(jobs: int, nodes: int, load: float, seed: int) -> None:
    for name, value in (("jobs", jobs), ("nodes", nodes)):
        if value < 1:
            raise WorkloadError(f"The model cannot make a workload of {value} {name}.", f"Give {name} of 1 or more.")
    if not (load > 0 and math.isfinite(load)):
        raise WorkloadError(f"An offered load of {load} makes no sense.", "Give a load above 0, such as 0.8.")
    if seed < 0:
        raise WorkloadError(f"A seed of {seed} makes no sense.", "Give a seed of 0 or more.")


def _log_uniform(rng: np.random.Generator, low: float, high: float, count: int) -> NDArray[np.float64]:
    return np.exp(rng.uniform(math.log(low), math.log(high), count))


def _arrivals(rng: np.random.Generator, count: int, span_s: float) -> NDArray[np.int64]:
    """Return whole submit times from 0 to *span_s*: exponential gaps, scaled to fill the span."""
    at = np.concatenate(([0.0], np.cumsum(rng.exponential(1.0, count - 1))))
    return np.rint(at * (span_s / at[-1] if count > 1 else 0.0)).astype(np.int64)


def _who(rng: np.random.Generator, count: int) -> dict[str, NDArray[np.int16]]:
    """Return users, their groups and applications, numbered from 1; user k submits 1/k as often as user 1."""
    weights = 1.0 / np.arange(1, USERS + 1)
    users = rng.choice(USERS, size=count, p=weights / weights.sum())
    columns = {
        "user_id": users + 1,
        "group_id": users // USERS_A_GROUP + 1,
        "app_id": users * APPS_A_USER + rng.integers(0, APPS_A_USER, count) + 1,
    }
    return {name: column.astype(np.int16) for name, column in columns.items()}
