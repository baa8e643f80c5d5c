"""Which node counts are worth asking about, and which of them a job may be advised."""

from __future__ import annotations

import math
import zlib

import numpy as np
from numpy.typing import NDArray

from hpcsim.cluster import Cluster
from hpcsim.job import Job
from hpcsim.surrogates.advice.forecast import Forecast, is_sound

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]

ROUNDING = 1e-9


def counts_of(job: Job, machine_nodes: int, most: int) -> Counts:
    """Return the counts to forecast, ascending, the one asked for among them.

    All that the job allows and the machine has; if they are more than *most*, those nearest to an even
    spacing of logarithms, both ends included.
    """
    allowed = {count for count in job.allowed_nodes if 1 <= count <= machine_nodes}
    counts = np.array(sorted(allowed | {job.nodes}), dtype=np.int64)
    if len(counts) <= most:
        return counts
    logs = np.log(counts)
    wanted = np.linspace(logs[0], logs[-1], max(most - 1, 2))
    after = np.clip(np.searchsorted(logs, wanted), 1, len(logs) - 1)
    nearest = np.where(wanted - logs[after - 1] < logs[after] - wanted, after - 1, after)
    return np.asarray(counts[np.union1d(nearest, np.flatnonzero(counts == job.nodes))])


def most_limit_s(job: Job, cluster: Cluster) -> float:
    """Return the longest limit that a partition open to *job* allows; ``inf`` where none has a maximum."""
    return max((partition.max_limit_s for partition in cluster.partitions_of(job)), default=math.inf)


def limits_s(job: Job, forecast: Forecast, most_s: float) -> NDArray[np.float64]:
    """Return the effective limit at each count, shape [N]: never under the request, never over *most_s*.

    It is the request times what the upper run time there is of the run time at the count asked for.
    """
    if math.isinf(job.limit_s):
        return np.full(len(forecast.nodes), math.inf)
    growth = np.maximum(forecast.upper_run_s / forecast.run_s[forecast.asked], 1.0)
    limits = np.maximum(np.minimum(job.limit_s * growth, most_s), job.limit_s)
    limits[forecast.asked] = job.limit_s
    return np.asarray(limits)


def clears_limit(forecast: Forecast, most_s: float) -> Mask:
    """Tell of each count whether even the upper run time stays within the longest limit, *most_s*."""
    return np.asarray(forecast.upper_run_s <= most_s)


def spends_no_more(forecast: Forecast) -> Mask:
    """Tell of each count whether it takes no more node-seconds than the count asked for: the guard of the queue."""
    node_s = forecast.nodes * forecast.run_s
    return np.asarray(node_s <= node_s[forecast.asked] * (1 + ROUNDING))


def within_budget(
    forecast: Forecast, waits_s: NDArray[np.float64], cluster: Cluster, power_w: float, budget_w: float
) -> Mask:
    """Tell of each count whether the machine stays within *budget_w*: as it draws now, or idle if the job waits."""
    power = cluster.groups[0].power
    idle_w = power.idle_w if power is not None else 0.0
    beyond_w = forecast.power_w - forecast.nodes * idle_w
    base_w = np.where(waits_s > 0, idle_w * cluster.nodes, power_w)
    return np.asarray(~(base_w + beyond_w > budget_w))


def sound_places(forecast: Forecast) -> NDArray[np.int64]:
    """Return the places of counts with usable forecasts; none if that asked for has no usable one."""
    sound = is_sound(forecast)
    return np.flatnonzero(sound) if sound[forecast.asked] else np.zeros(0, dtype=np.int64)


def takes_advice(job: Job, adoption: float, seed: int) -> bool:
    """Tell whether the user of *job* takes advice: always the same answer for a user, yes for a share *adoption*."""
    if adoption >= 1:
        return True
    person = job.user_id if job.user_id is not None else job.row
    return zlib.crc32(f"{seed}:{person}".encode()) / 2**32 < adoption
