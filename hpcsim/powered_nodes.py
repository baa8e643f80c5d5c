"""Layouts under a power cap: beside the places of nodes, the last place of a state is watts.

A claim then ends with the watts that a job adds to what its nodes draw idle. Policies that plan with
nodes plan with watts as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.job import Job
from hpcsim.node_layout import Choice, Claim, NodeLayout, State
from hpcsim.shared_nodes import SharedNodes

POWER_CAP = "power cap"
"""What all jobs compete for under a cap, beside groups of nodes."""

TOLERANCE_W = 1e-6


class WithWatts(NodeLayout):
    """What both kinds of layout have under a cap. `watts` says what a job adds on given nodes."""

    watts: Callable[[Job, Claim], float]

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self.place = len(super().whole())

    def fits(self, job: Job, state: State) -> bool:
        """Tell whether *state* has room for *job*, and watts."""
        return self.claim(job, state) is not None

    def claim_of(self, job: Job, node_ids: Sequence[int]) -> Claim:
        """Return the claim of *job* on these nodes."""
        return self._with_watts(job, super().claim_of(job, node_ids))

    def on_nodes(self, claim: Claim) -> Claim:
        """Return the part of a claim that is on nodes."""
        return claim[:-1] if claim and claim[-1][0] == self.place else claim

    def nodes_of(self, claim: Claim) -> int:
        """Return how many nodes a claim holds."""
        return super().nodes_of(self.on_nodes(claim))

    def _with_watts(self, job: Job, claim: Claim) -> Claim:
        nodes = self.on_nodes(claim)
        return (*nodes, (self.place, self.watts(job, nodes)))

    def _claim_of(self, job: Job, choice: Choice, state: State, avoid: frozenset[str]) -> Claim | None:
        nodes = super()._claim_of(job, choice, state, avoid)
        claim = None if nodes is None else self._with_watts(job, nodes)
        return claim if claim is not None and claim[-1][1] <= state[self.place] + TOLERANCE_W else None

    def _only(self, choices: Sequence[Choice]) -> None:
        return None

    def _places(self, classes: set[int]) -> None:
        return None


class PoweredNodes(WithWatts):
    """Classes of exclusive nodes, and watts."""

    def whole(self) -> State:
        """Return the state of the idle machine."""
        return [*super().whole(), 0.0]


class PoweredSharedNodes(WithWatts, SharedNodes):
    """Nodes one by one, and watts."""

    def whole(self) -> State:
        """Return the state of the idle machine."""
        return np.append(super().whole(), 0.0)
