"""The parameters of the Lublin-Feitelson model: batch, interactive, and all jobs as one class.

Source: U. Lublin, D. G. Feitelson, The workload on parallel supercomputers: modeling the
characteristics of rigid jobs, J. Parallel Distrib. Comput. 63(11):1105-1122, 2003, with the values of
the authors' program of 1999. Gammas are (shape, scale).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hpcsim.workloads.models.cycles import DAY_S, Cycle

REFERENCE_NODES = 128
"""The machine that the sizes were fitted for; other machines shift them by log2(nodes / 128)."""

LONGEST_LOG_RUN = 12.0
LONGEST_LOG_GAP = 13.0
BUCKETS = 48
DAY_BEGINS = 11
"""Half-hour at which the day's cycle begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobClass:
    """One class of jobs.

    Attributes:
        serial, powers_of_two: shares of jobs of size 1 and, of the others, of rounded ones.
        u_low, u_medium, u_high, u_probability: the two-stage uniform of log2(size).
        short, long: gammas of ln(run time), and `slope`, `offset`: the share of short ones is
            slope x size + offset.
        gap: gamma of ln(gap); its shape is multiplied by `rush_hour_ratio`.
        cycle: gamma over half-hours from which the day's weights are taken.
        queue_id: field 15 of the SWF; 0 is interactive by convention.
    """

    serial: float
    powers_of_two: float
    u_low: float
    u_medium: float
    u_high: float
    u_probability: float
    short: tuple[float, float]
    long: tuple[float, float]
    slope: float
    offset: float
    gap: tuple[float, float]
    cycle: tuple[float, float]
    rush_hour_ratio: float
    queue_id: int = 1


BATCH = JobClass(
    serial=0.2927,
    powers_of_two=0.6686,
    u_low=1.2,
    u_medium=5.0,
    u_high=7.0,
    u_probability=0.875,
    short=(6.57, 0.823),
    long=(639.1, 0.0156),
    slope=-0.003,
    offset=0.6986,
    gap=(6.0415, 0.8531),
    cycle=(6.1271, 5.2740),
    rush_hour_ratio=1.0519,
)
INTERACTIVE = JobClass(
    serial=0.1541,
    powers_of_two=0.625,
    u_low=1.0,
    u_medium=3.0,
    u_high=5.5,
    u_probability=0.705,
    short=(3.8351, 0.6605),
    long=(7.073, 0.6856),
    slope=-0.0118,
    offset=0.9156,
    gap=(6.5510, 0.6621),
    cycle=(8.9186, 3.6680),
    rush_hour_ratio=0.9797,
    queue_id=0,
)
TYPELESS = JobClass(
    serial=0.244,
    powers_of_two=0.576,
    u_low=0.8,
    u_medium=4.5,
    u_high=7.0,
    u_probability=0.86,
    short=(4.2, 0.94),
    long=(312.0, 0.03),
    slope=-0.0054,
    offset=0.78,
    gap=(10.2303, 0.4871),
    cycle=(8.1737, 3.9631),
    rush_hour_ratio=1.0225,
)

CLASSES: dict[str, tuple[JobClass, ...]] = {
    "batch": (BATCH,),
    "interactive": (INTERACTIVE,),
    "typeless": (TYPELESS,),
    "both": (BATCH, INTERACTIVE),
}
"""What the model can generate, by the name of its argument `classes`."""


def day_cycle(job_class: JobClass) -> Cycle:
    """Return the weights of the 48 half-hours of a day, index 0 at midnight; their mean is 1."""
    shape, scale = job_class.cycle
    weights: NDArray[np.float64] = np.zeros(BUCKETS)
    for half_hour in range(DAY_BEGINS, DAY_BEGINS + BUCKETS):
        share = gamma_cdf(half_hour + 0.5, shape, scale) - gamma_cdf(half_hour - 0.5, shape, scale)
        weights[(half_hour - 1) % BUCKETS] = share
    return Cycle.of(weights, DAY_S)


def gamma_cdf(x: float, shape: float, scale: float) -> float:
    """Return P(X <= x) of a gamma variable, by the series of the lower incomplete gamma function.

    All its terms are positive, so nothing cancels. (SciPy has it too, and is no dependency.)
    """
    z = x / scale
    term = total = 1.0 / shape
    k = shape
    while term > total * 1e-16:
        k += 1
        term *= z / k
        total += term
    return total * math.exp(shape * math.log(z) - z - math.lgamma(shape))
