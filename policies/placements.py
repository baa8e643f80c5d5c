"""Placements: which of the free nodes a job gets, where its policy names none.

A topology-aware one is written the same way: `Placement.place` is given the free nodes and the
cluster, and `reset` the cluster of the run, to look up once what its nodes have to do with each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.job import Job
from hpcsim.node_ids import Interval, intervals_of
from hpcsim.placement import Placement


class FirstFit(Placement):
    """The free nodes with the lowest ids: what a run without a placement does."""

    def place(self, job: Job, free: Sequence[Interval], cluster: Cluster) -> list[Interval]:
        """Take from the lowest ids on."""
        return _fill(free, job.nodes)


class BestFit(Placement):
    """The smallest free block that holds the whole job; else the smallest blocks, which keeps the large ones whole."""

    def place(self, job: Job, free: Sequence[Interval], cluster: Cluster) -> list[Interval]:
        """Take the tightest block, or fill the smallest ones up."""
        fitting = [block for block in free if _size(block) >= job.nodes]
        return _fill([min(fitting, key=_size)] if fitting else sorted(free, key=_size), job.nodes)


class Contiguous(Placement):
    """The first free block that holds the whole job; else as few blocks as possible.

    It is a wish, not a condition: no job waits for a block. Neighbours are nodes whose ids are.
    """

    def place(self, job: Job, free: Sequence[Interval], cluster: Cluster) -> list[Interval]:
        """Take one block if there is one, else the largest ones."""
        fitting = next((block for block in free if _size(block) >= job.nodes), None)
        return _fill([fitting] if fitting else sorted(free, key=_size, reverse=True), job.nodes)


class RandomNodes(Placement):
    """Free nodes drawn at random, all equally likely."""

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Draw from *rng*."""
        self._rng = rng

    def place(self, job: Job, free: Sequence[Interval], cluster: Cluster) -> list[Interval]:
        """Draw without replacement."""
        ids = np.concatenate([np.arange(low, high + 1) for low, high in free])
        return intervals_of(self._rng.choice(ids, size=job.nodes, replace=False, shuffle=False).tolist())


def _size(block: Interval) -> int:
    low, high = block
    return high - low + 1


def _fill(blocks: Sequence[Interval], nodes: int) -> list[Interval]:
    """Return *nodes* ids from the *blocks*, one after the other, each from its low end."""
    taken = []
    for low, high in blocks:
        size = min(high - low + 1, nodes)
        taken.append((low, low + size - 1))
        nodes -= size
        if not nodes:
            break
    return taken
