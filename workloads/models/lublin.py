"""The Lublin-Feitelson model of rigid parallel jobs, for any machine and any load."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.ingest import IngestLedger
from hpcsim.workload import Workload
from hpcsim.workloads.models.arguments import check_choice, check_number, check_whole
from hpcsim.workloads.models.cycles import Cycle, spread
from hpcsim.workloads.models.lublin_parameters import (
    CLASSES,
    LONGEST_LOG_GAP,
    LONGEST_LOG_RUN,
    REFERENCE_NODES,
    JobClass,
    day_cycle,
)
from hpcsim.workloads.models.tsafrir import estimates_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ESTIMATES = ("run-times", "tsafrir")


def lublin(
    *,
    jobs: int = 1000,
    nodes: int = REFERENCE_NODES,
    classes: str = "both",
    load: float | None = None,
    estimates: str = "run-times",
    seed: int = 0,
) -> Workload:
    """Return jobs by the Lublin-Feitelson model: sizes, run times and arrivals with a daily cycle.

    Submit times begin at midnight and are floats rounded once, at the end, so that no drift builds
    up. Sizes of machines other than 128 nodes are shifted by log2(nodes/128), and a size counts
    relative to 128 nodes where it decides between short and long run times on larger machines. A
    target load stretches or squeezes the arrivals *within* the daily cycle, so that noon stays noon.

    Args:
        jobs: how many, 1 or more.
        nodes: of the machine, 1 or more.
        classes: ``batch``, ``interactive``, ``typeless`` (one class for all) or ``both``, two
            classes that arrive on clocks of their own.
        load: offered, node-seconds of the jobs over node-seconds there are; None leaves the
            model's own arrivals, about 0.40 for ``both`` on 128 nodes.
        estimates: ``run-times`` makes the limits the run times; ``tsafrir`` draws them from the
            model of user estimates, with the longest run time as the longest estimate.
        seed: of the random numbers, 0 or more.

    Raises:
        WorkloadError: an argument is out of its range.

    Source: see `hpcsim.workloads.models.lublin_parameters`.
    """
    check_whole("jobs", jobs)
    check_whole("nodes", nodes)
    check_whole("seed", seed, least=0)
    check_choice("class", classes, CLASSES)
    check_choice("estimates", estimates, ESTIMATES)
    if load is not None:
        check_number("load", load, above=0)
    kinds_seed, estimates_seed = np.random.SeedSequence(seed).spawn(2)
    columns = _columns([_on_machine(kind, nodes) for kind in CLASSES[classes]], kinds_seed, jobs, nodes, load)
    columns["limit_s"] = columns["run_s"].copy()
    if estimates == "tsafrir":
        columns["limit_s"] = estimates_of(
            columns["run_s"], rng=np.random.default_rng(estimates_seed), may_lengthen=True
        )
    options = {"jobs": jobs, "nodes": nodes, "classes": classes, "load": load, "estimates": estimates, "seed": seed}
    return Workload(
        {"job_id": np.arange(1, jobs + 1)} | columns,
        machine_nodes=nodes,
        counted="processors",
        limits_are_run_times=estimates == "run-times",
        provenance={"model": "lublin"} | options,
        ledger=IngestLedger(source="lublin", format="model", rows=jobs),
    )


def _columns(
    kinds: Sequence[JobClass], seed: np.random.SeedSequence, jobs: int, nodes: int, load: float | None
) -> dict[str, NDArray[Any]]:
    """Return submit, run, nodes and queue of the first *jobs* jobs of all classes, by submit time."""
    generators = [np.random.default_rng(child) for child in seed.spawn(len(kinds))]
    cycles = [day_cycle(kind) for kind in kinds]
    points = [_points(kind, rng, jobs) for kind, rng in zip(kinds, generators, strict=True)]
    streams = _first(list(zip(cycles, points, strict=True)), jobs)
    drawn = [
        _class_columns(kind, rng, len(mine), nodes)
        for kind, rng, (_, mine) in zip(kinds, generators, streams, strict=True)
    ]
    columns = {name: np.concatenate([part[name] for part in drawn]) for name in drawn[0]}
    if load is None:
        times = [cycle.times_s(mine) for cycle, mine in streams]
    else:
        times = spread(streams, float((columns["run_s"] * columns["nodes"]).sum()) / (nodes * load))
    submit_s = np.rint(np.concatenate(times)).astype(np.int64)
    order = np.argsort(submit_s, kind="stable")
    return {name: column[order] for name, column in ({"submit_s": submit_s} | columns).items()}


def sizes(kind: JobClass, rng: np.random.Generator, count: int, nodes: int) -> Ints:
    """Return *count* job sizes from 1 to *nodes*: a share serial, a share powers of two, the rest anything."""
    kind_of_size = rng.random(count)
    is_low = rng.random(count) < kind.u_probability
    low = np.where(is_low, kind.u_low, kind.u_medium)
    high = np.where(is_low, kind.u_medium, kind.u_high)
    logs = low + (high - low) * rng.random(count)
    logs = np.where(kind_of_size <= kind.serial + kind.powers_of_two, np.rint(logs), logs)
    drawn = np.where(kind_of_size <= kind.serial, 1.0, np.rint(2.0**logs))
    return np.clip(drawn, 1, nodes).astype(np.int64)


def run_times_s(kind: JobClass, rng: np.random.Generator, widths: Ints, nodes: int) -> Ints:
    """Return a run time in whole seconds for each size: of two gammas of ln(run), the long one more often if wide."""
    relative = widths * min(1.0, REFERENCE_NODES / nodes)
    share_short = np.clip(kind.slope * relative + kind.offset, 0.0, 1.0)
    logs: Floats = np.full(len(widths), math.inf)
    while len(left := np.flatnonzero(logs > LONGEST_LOG_RUN)):
        is_short = rng.random(len(left)) <= share_short[left]
        short = rng.gamma(*kind.short, size=len(left))
        logs[left] = np.where(is_short, short, rng.gamma(*kind.long, size=len(left)))
    run_s: Ints = np.floor(np.exp(logs)).astype(np.int64)
    return run_s


def _points(kind: JobClass, rng: np.random.Generator, count: int) -> Floats:
    """Return the arrivals on the scale of points: gaps in units of half an hour of the mean weight."""
    shape, scale = kind.gap
    logs = rng.gamma(shape * kind.rush_hour_ratio, scale, size=count)
    while len(left := np.flatnonzero(logs > LONGEST_LOG_GAP)):
        logs[left] = rng.gamma(shape * kind.rush_hour_ratio, scale, size=len(left))
    return np.cumsum(np.exp(logs) / day_cycle(kind).bucket_s)


def _first(streams: Sequence[tuple[Cycle, Floats]], jobs: int) -> list[tuple[Cycle, Floats]]:
    """Return of each stream what belongs to the first *jobs* arrivals of all together."""
    times = [cycle.times_s(points) for cycle, points in streams]
    last = np.sort(np.concatenate(times), kind="stable")[jobs - 1]
    return [(cycle, points[mine <= last]) for (cycle, points), mine in zip(streams, times, strict=True)]


def _class_columns(kind: JobClass, rng: np.random.Generator, count: int, nodes: int) -> dict[str, NDArray[Any]]:
    widths = sizes(kind, rng, count, nodes)
    queue = np.full(count, kind.queue_id, dtype=np.int8)
    return {"run_s": run_times_s(kind, rng, widths, nodes), "nodes": widths, "queue_id": queue}


def _on_machine(kind: JobClass, nodes: int) -> JobClass:
    """Return the class with its sizes shifted from 128 nodes to *nodes*."""
    shift = math.log2(nodes / REFERENCE_NODES)
    medium = max(kind.u_low, kind.u_medium + shift)
    return replace(kind, u_medium=medium, u_high=max(medium, kind.u_high + shift))
