"""Moldable or rigid: a scaling law for each job of a log that has none, or every job kept at its count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.scaling import DOWNEY
from hpcsim.speedup import downey_speed_up, node_power_w
from hpcsim.workload import Workload
from hpcsim.workloads.models.arguments import check_number, check_whole
from hpcsim.workloads.models.node_counts import allowed, powers_of_two
from hpcsim.workloads.transformations.record import call, changed, machine_size

WIDEST_PARALLELISM = 4.0
IDLE_W, PEAK_W, WAITING_SHARE = 400.0, 1000.0, 0.5


def make_moldable(
    workload: Workload, *, nodes: int | None = None, most_variation: float = 2.0, seed: int = 0
) -> Workload:
    """Return the jobs with a Downey speed-up each, so that they may run at every power of two as well.

    A log cannot tell how its jobs would scale: this *assumes* it. A job on n0 nodes gets an average
    parallelism that is log-uniform over n0 to 4 n0, and a variation uniform over 0 to
    *most_variation*; at n0 it runs as long as the log says. Nodes draw 400 to 1,000 W by
    `hpcsim.speedup.PowerCurve`. Cirne and Berman (IPDPS 2001) did the like from a survey of users
    whose numbers were never published; this is not their model.

    Args:
        workload: the log.
        nodes: of the machine, the most a job may use; default the log's own.
        most_variation: the largest sigma, 0 or more.
        seed: of the draws.

    Raises:
        WorkloadError: the size of the machine is not known, or an argument is out of range.
    """
    check_number("most_variation", most_variation, least=0)
    check_whole("seed", seed, least=0)
    size = machine_size(workload, nodes)
    rng = np.random.default_rng(seed)
    asked = workload.columns["nodes"].astype(np.int64)
    count = len(asked)
    parallelism = np.minimum(asked * WIDEST_PARALLELISM ** rng.random(count), np.maximum(size, asked))
    variation = rng.uniform(0, most_variation, count)
    efficiency = downey_speed_up(asked, parallelism, variation) / asked
    counts = np.empty(count, dtype=object)
    counts[:] = [allowed(powers_of_two(size), 1, own) for own in asked.tolist()]
    assumed_w = asked * node_power_w(efficiency, IDLE_W, PEAK_W, WAITING_SHARE)
    recorded_w = workload.columns.get("mean_power_w", np.full(count, np.nan))
    columns: dict[str, NDArray[Any]] = {
        "allowed_nodes": counts,
        "scaling_law": np.full(count, DOWNEY, dtype=np.int8),
        "scaling_a": parallelism,
        "scaling_b": variation,
        "mean_power_w": np.where(np.isnan(recorded_w), assumed_w, recorded_w),
        "idle_w": np.full(count, IDLE_W),
        "peak_w": np.full(count, PEAK_W),
        "waiting_share": np.full(count, WAITING_SHARE),
    }
    return changed(workload, columns, call("make_moldable", nodes=size, most_variation=most_variation, seed=seed))


def make_rigid(workload: Workload) -> Workload:
    """Return the jobs with no other node count than the one they ask for; what is known of others stays hidden."""
    result = changed(workload, {}, call("make_rigid"))
    result.columns.pop("allowed_nodes", None)
    return result
