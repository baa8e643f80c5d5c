"""A Blue Gene/P like Intrepid: wide jobs on a machine that hands out partitions, not nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.cluster import Cluster, NodeGroup
from hpcsim.ingest import IngestLedger
from hpcsim.workload import Workload
from hpcsim.workloads.models.arguments import check_number, check_whole
from hpcsim.workloads.models.cycles import DAY_S, flat_points, office_week, spread
from hpcsim.workloads.models.tsafrir import estimates_of

NODES = 40_960
"""40 racks of 1,024 nodes."""

RACKS_WITH_SMALL_PARTITIONS = 8
NODES_A_RACK = 1024

HELD = {512: 1561, 64: 449, 1024: 379, 2048: 186, 4096: 172, 8192: 117, 256: 39, 16384: 38, 128: 33, 32768: 26}
"""Partition -> jobs that held one, among the first 3,000 of the log ANL-Intrepid-2009."""

SMALL = (64, 128, 256)
"""Partitions that only the racks for development hand out."""

FULL_SHARE = 0.8
"""Share of jobs that ask for a whole partition; the others ask for something between the next smaller and it."""

LOG_JOBS, LOG_DAYS = 68_936, 239
"""Jobs and days of the whole log, for its arrival rate."""

SHORTEST_S, LONGEST_S = 10, 408_773
RUN_TIMES = ((0.22, 450.0, 0.8), (0.765, 4600.0, 0.7), (0.015, 20_000.0, 1.1))
"""Run times: share, median in seconds and sigma of three log-normals (runs that fail or test, production, a
tail), fitted to the whole log's mean (5,176 s), median (3,607.5 s) and standard deviation (9,045 s)."""

HOUR_S = 3600
KNOWN_LIMITS = ((1, 0.20), (2, 0.25), (3, 0.14), (6, 0.13), (12, 0.05))
"""Limits in hours that a share of the jobs gives; the others follow Tsafrir's model. Our choice: the model's
own popular values are too short for a log whose median run time is an hour."""


def intrepid(*, jobs: int = 1000, load: float | None = None, seed: int = 0) -> Workload:
    """Return jobs like those of the Blue Gene/P Intrepid in 2009, on its 40,960 nodes.

    Partitions that jobs hold are drawn from the log's first 3,000 jobs; four of five jobs ask for a
    whole one, the others for fewer nodes, so that the machine holds more than is asked for: simulate
    on `intrepid_cluster()`. What was held is in the hidden column ``recorded_nodes``. Run times are
    three log-normals fitted to the log's mean, median and standard deviation; limits are Tsafrir's, with
    the popular ones moved to 1 to 12 hours; arrivals follow the hours of the week.

    Args:
        jobs: how many, 1 or more.
        load: offered, by the nodes asked for; None keeps the log's rate of 288 jobs a day.
        seed: of the random numbers, 0 or more.

    Raises:
        WorkloadError: an argument is out of its range.
    """
    check_whole("jobs", jobs)
    check_whole("seed", seed, least=0)
    if load is not None:
        check_number("load", load, above=0)
    rng = np.random.default_rng(seed)
    held = rng.choice(list(HELD), size=jobs, p=np.array(list(HELD.values())) / sum(HELD.values()))
    asked = _asked(held, rng)
    run_s = _run_times_s(jobs, rng)
    span_s = jobs / LOG_JOBS * LOG_DAYS * DAY_S if load is None else float((run_s * asked).sum()) / (NODES * load)
    (submit_s,) = spread([(office_week(), flat_points(rng, jobs))], span_s)
    columns: dict[str, NDArray[Any]] = {
        "job_id": np.arange(1, jobs + 1),
        "submit_s": np.rint(submit_s).astype(np.int64),
        "run_s": run_s,
        "limit_s": _limits_s(run_s, rng),
        "nodes": asked,
        "recorded_nodes": held,
    }
    return Workload(
        columns,
        machine_nodes=NODES,
        provenance={"model": "intrepid", "jobs": jobs, "load": load, "seed": seed},
        ledger=IngestLedger(source="intrepid", format="model", rows=jobs),
    )


def intrepid_cluster() -> Cluster:
    """Return the machine: racks that hand out 512 nodes and up, and eight that hand out 64 and up as well."""
    small = RACKS_WITH_SMALL_PARTITIONS * NODES_A_RACK
    return Cluster(
        groups=(
            NodeGroup(name="production", nodes=NODES - small, allocation_sizes=_sizes(512, NODES - small)),
            NodeGroup(name="development", nodes=small, allocation_sizes=_sizes(64, small)),
        ),
        name="intrepid-like",
    )


def _sizes(least: int, most: int) -> tuple[int, ...]:
    return tuple(size for size in (least << step for step in range(most.bit_length())) if size <= most)


def _asked(held: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return what jobs that hold partitions of *held* nodes ask for: all, or more than the next smaller has."""
    less = np.where(held > min(HELD), held // 2, 0)
    part = less + 1 + np.floor(rng.random(len(held)) * (held - less - 1)).astype(np.int64)
    return np.asarray(np.where(rng.random(len(held)) < FULL_SHARE, held, part))


def _run_times_s(count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    shares, medians, sigmas = (np.array(column) for column in zip(*RUN_TIMES, strict=True))
    kind = rng.choice(len(shares), size=count, p=shares)
    run_s = np.rint(medians[kind] * np.exp(sigmas[kind] * rng.standard_normal(count)))
    return np.asarray(np.clip(run_s, SHORTEST_S, LONGEST_S), dtype=np.int64)


def _limits_s(run_s: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    known = [(hours * HOUR_S, int(share * len(run_s))) for hours, share in KNOWN_LIMITS]
    longest_s = -(-LONGEST_S // 60) * 60
    bins = [(time, count) for time, count in known if count]
    return estimates_of(run_s, rng=rng, longest_s=longest_s, user_bins=bins, may_lengthen=True)
