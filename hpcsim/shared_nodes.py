"""The layout of a machine whose nodes jobs may share: every node has cores, GPUs and memory of its own to give.

A state is one array: cores, GPUs and memory of node 0, of node 1, and so on. An exclusive job claims
all that its nodes have. Memory of a group that does not model it is neither asked for nor claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.cluster import Cluster
from hpcsim.job import Job
from hpcsim.node_layout import Choice, Claim, NodeLayout, State

KINDS = 3
"""Cores, GPUs, bytes of memory."""

Amounts = NDArray[np.float64]


class SharedNodes(NodeLayout):
    """Nodes one by one, each with what is left of it."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        kinds = [(kind.group.cores, kind.group.gpus, kind.group.memory_bytes) for kind in self.classes]
        self._whole = np.repeat(np.array(kinds, dtype=np.float64), [kind.nodes for kind in self.classes], axis=0)
        self._ids_of: dict[tuple[int, ...], NDArray[np.int64]] = {}

    def whole(self) -> State:
        """Return the state of the idle machine."""
        return self._whole.ravel().copy()

    def fits(self, job: Job, state: State) -> bool:
        """Tell whether *state* has room for *job*."""
        return any(len(self._able(job, choice, state)) >= choice.nodes for choice in self.eligible(job).choices)

    def _claim_of(self, job: Job, choice: Choice, state: State, avoid: frozenset[str]) -> Claim | None:
        able = self._able(job, choice, state)
        if len(able) < choice.nodes:
            return None
        if avoid:
            order = {at: place for place, at in enumerate(self._preferred(choice.classes, avoid))}
            able = np.array(sorted(able.tolist(), key=lambda node: (order[self.class_of(node)], node)))
        return self.claim_of(job, able[: choice.nodes].tolist())

    def claim_of(self, job: Job, node_ids: Any) -> Claim:
        """Return the claim of *job* on these nodes."""
        claim = []
        for node in sorted(node_ids):
            for kind, amount in enumerate(self._wanted(job, node)):
                if amount:
                    claim.append((node * KINDS + kind, amount))
        return tuple(claim)

    def nodes_in(self, claim: Claim) -> list[int]:
        """Return the ids of a claim's nodes, ascending."""
        return list(dict.fromkeys(place // KINDS for place, _ in self.on_nodes(claim)))

    def nodes_of(self, claim: Claim) -> int:
        """Return how many nodes a claim touches."""
        return len(self.nodes_in(claim))

    def is_equal(self, first: State, second: State) -> bool:
        """Tell whether the same is free."""
        return bool(np.array_equal(first, second))

    def most_nodes(self, state: State) -> int:
        """Return how many nodes have a core left."""
        return int(np.count_nonzero(state[: self._whole.size : KINDS]))

    def _only(self, choices: Sequence[Choice]) -> None:
        return None

    def _places(self, classes: set[int]) -> None:
        return None

    def lowest(self, first: State, second: State) -> State:
        """Return, place by place, the smaller amount."""
        return np.minimum(first, second)

    def is_idle(self, state: State, node: int) -> bool:
        """Tell whether nobody holds anything of *node*."""
        return bool(np.array_equal(state[node * KINDS : node * KINDS + KINDS], self._whole[node]))

    def has(self, job: Job, state: State, node: int) -> bool:
        """Tell whether *node* has what *job* wants of it."""
        left = state[node * KINDS : node * KINDS + KINDS]
        return bool(np.all(left >= self._wanted(job, node)))

    def _wanted(self, job: Job, node: int) -> tuple[float, float, float]:
        cores, gpus, memory_bytes = self._whole[node].tolist()
        if job.exclusive:
            return cores, gpus, memory_bytes
        return job.cores_per_node, job.gpus_per_node, min(job.memory_bytes_per_node, memory_bytes)

    def _able(self, job: Job, choice: Choice, state: State) -> NDArray[np.int64]:
        """Return the nodes of *choice* that have what *job* wants of each, ascending."""
        nodes = self._nodes_of_classes(choice.classes)
        left, whole = state[: self._whole.size].reshape(-1, KINDS)[nodes], self._whole[nodes]
        if job.exclusive:
            is_able = (left == whole).all(axis=1)
        else:
            is_able = (left[:, 0] >= job.cores_per_node) & (left[:, 1] >= job.gpus_per_node)
            is_able &= left[:, 2] >= np.minimum(job.memory_bytes_per_node, whole[:, 2])
        able: NDArray[np.int64] = nodes[is_able]
        return able

    def _nodes_of_classes(self, classes: tuple[int, ...]) -> NDArray[np.int64]:
        found = self._ids_of.get(classes)
        if found is None:
            spans = sorted((self.classes[at].low, self.classes[at].high + 1) for at in classes)
            found = self._ids_of[classes] = np.concatenate([np.arange(low, end) for low, end in spans])
        return found
