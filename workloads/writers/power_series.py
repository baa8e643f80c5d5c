"""Power over time of generated jobs, as PM100 samples it: one list of watts a job, every 20 s."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

STEP_S = 20
NODE_STEP_W = 10
"""Node power is measured at the power supplies, in steps of 10 W."""

FLICKER = 0.05
"""Normal spread of a sample about its job's mean, as a share of it."""

FIRST_SAMPLE = 0.93
"""What the first sample reaches of the others, while the job starts up."""

CPU_W, MEMORY_W = (60.0, 220.0), (37.0, 55.0)
"""Least and most watts of a node's processors and memory, jobs' means between."""

SHORTER = 0.2
"""Share of jobs whose processor and memory lists are a sample shorter than that of the node."""

WITHOUT_PARTS = 2867 / 231_238
"""Share of jobs whose processor and memory lists are empty."""


@dataclass(frozen=True, eq=False)
class Lists:
    """One list of whole watts a job: `values` of all jobs on end, `offsets` [J + 1] into them."""

    values: NDArray[np.int64]
    offsets: NDArray[np.int32]

    def to_arrow(self) -> Any:
        """Return an Arrow array of lists of 64-bit integers."""
        import pyarrow as pa

        return pa.ListArray.from_arrays(pa.array(self.offsets), pa.array(self.values))


def node_series(power_w: NDArray[Any], run_s: NDArray[Any], rng: np.random.Generator) -> Lists:
    """Return samples of the whole jobs' node power; their mean is *power_w* but for the steps of 10 W."""
    counts = sample_counts(run_s, rng)
    return _series(power_w, counts, rng, step_w=NODE_STEP_W)


def part_series(
    nodes: NDArray[Any],
    node_lists: Lists,
    bounds_w: tuple[float, float],
    has_parts: NDArray[np.bool_],
    rng: np.random.Generator,
) -> Lists:
    """Return samples of processors or memory, *bounds_w* a node, for the jobs of *node_lists* that have them."""
    low, high = bounds_w
    counts = np.diff(node_lists.offsets) - (rng.random(len(nodes)) < SHORTER)
    counts = np.where(has_parts, np.maximum(counts, 0), 0)
    return _series(nodes * rng.uniform(low, high, len(nodes)), counts, rng, step_w=1)


def sample_counts(run_s: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return how many samples, one every 20 s, fall into each run; runs shorter than that may have none."""
    return np.asarray((run_s + rng.integers(0, STEP_S, len(run_s))) // STEP_S, dtype=np.int64)


def _series(mean_w: NDArray[Any], counts: NDArray[Any], rng: np.random.Generator, *, step_w: int) -> Lists:
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    samples = 1 + FLICKER * rng.standard_normal(int(offsets[-1]), dtype=np.float32)
    has_any = np.flatnonzero(counts)
    samples[offsets[has_any]] *= FIRST_SAMPLE
    if len(has_any):
        sums = np.add.reduceat(samples, offsets[has_any], dtype=np.float64)
        samples *= np.repeat((mean_w[has_any] * counts[has_any] / sums / step_w).astype(np.float32), counts[has_any])
    return Lists(np.rint(samples).astype(np.int64) * step_w, offsets)
