"""What a learned policy did, decision by decision, and what went on in its network meanwhile.

A policy that decides by a network offers ``inspected(since_s, until_s)``: itself again, with the same
parameters, as an `Inspected` policy that keeps a record and decides as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Column = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Inspection:
    """A record of N decisions of a network that attends to its past.

    Attributes:
        columns: name -> [N] values. ``time_s``; ``waiting`` jobs; of the job chosen and, with the prefix
            ``rule_``, of the job that the rule would have chosen: ``job_id``, ``nodes``, ``limit_s``,
            ``area_node_s``, ``wait_s``; ``alone_job_id``, the job that the network chooses when its past
            is hidden from it; ``moved``, by how much hiding the past changes its probabilities: their
            total variation, 0 to 1.
        attention: [N, heads, span], weight on the decision that is so many decisions old, itself first;
            NaN where there was none to see. Heads are those of all blocks, block by block.
        heads: names of the heads.
        gates: name -> [N], how far a gate let through what its part added: 0 nothing, 1 all of it.
        gates_at_first: what an untrained gate lets through, NaN without gates.
        factors: kind of token -> [N, features], the recalibration's factor of each feature: the mean factor
            of the channels that react to it, by how strongly they do; 1 changes nothing.
        features: kind of token -> names of its features.
        rule: the rule that it is compared with.
        is_prior: the rule is part of the network.
    """

    columns: Mapping[str, Column]
    attention: Floats
    heads: tuple[str, ...]
    gates: Mapping[str, Floats]
    gates_at_first: float
    factors: Mapping[str, Floats]
    features: Mapping[str, tuple[str, ...]]
    rule: str
    is_prior: bool

    def __len__(self) -> int:
        return len(self.columns["time_s"])


@runtime_checkable
class Inspected(Protocol):
    """A policy that keeps a record of what it decides."""

    def inspection(self) -> Inspection:
        """Return the record of the last run."""
