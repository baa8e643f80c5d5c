"""Which of the free nodes does a job get? A `Placement` answers where the policy names none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, dataclass_transform

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.job import Job
from hpcsim.node_ids import Interval


@dataclass_transform(kw_only_default=True, eq_default=False)
class Placement(ABC):
    """Base of all placements. Annotated class attributes are its keyword-only parameters."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(kw_only=True, eq=False)(cls)

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything and prepare for a run on *cluster*; draw random numbers from *rng* only."""

    @abstractmethod
    def place(self, job: Job, free: Sequence[Interval], cluster: Cluster) -> list[Interval]:
        """Choose `job.nodes` nodes out of *free*, which are sorted, disjoint and enough."""
