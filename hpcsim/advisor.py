"""Advise a job on its node count at submission: `Advisor` is asked, `Advice` is the answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, dataclass_transform

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.job import Job, JobOutcome
from hpcsim.system import System

if TYPE_CHECKING:
    from hpcsim.surrogate import Prediction

Reason = Literal[
    "advised", "kept-no-gain", "kept-no-support", "kept-rigid", "kept-deadline", "kept-declined", "kept-error"
]


@dataclass(frozen=True, slots=True)
class Advice:
    """The node count and limit a job should have, and why.

    `front` holds the trade-offs considered, as (nodes, run time in s, power in W).
    """

    nodes: int
    limit_s: float
    reason: Reason
    front: tuple[tuple[int, float, float], ...] = ()
    prediction: Prediction | None = None


@dataclass_transform(kw_only_default=True, eq_default=False)
class Advisor(ABC):
    """Base of all advisors. Annotated class attributes are its keyword-only parameters.

    An advisor that raises or answers nonsense never breaks a run: the request stands, counted.
    """

    clairvoyant: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(kw_only=True, eq=False)(cls)

    @abstractmethod
    def advise(self, job: Job, system: System) -> Advice:
        """Return advice for *job*, which is about to enter the queue."""

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything and prepare for a run."""

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """Learn from a finished job."""
