"""Advise a job on its node count at submission: `Advisor` is asked, `Advice` is the answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, dataclass_transform, get_args

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.job import Job, JobOutcome
from hpcsim.system import System

if TYPE_CHECKING:
    from hpcsim.surrogate import Prediction

Reason = Literal[
    "advised", "kept-no-gain", "kept-no-support", "kept-rigid", "kept-deadline", "kept-declined", "kept-error"
]

REASONS: tuple[Reason, ...] = get_args(Reason)
"""All reasons. ``kept-rigid`` is the engine's own, for jobs that run at one count only: advisors are not asked
about those. So is ``kept-error``, for an advisor that raised or answered nonsense."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The node count and limit a job should have, and why.

    Only advice with the reason ``advised`` changes a job; its `nodes` are one of the job's
    `allowed_nodes` or what it asks for. With any other reason `nodes` repeats the request.
    `front` holds the trade-offs considered, as (nodes, run time in s, power in W). `propensity` is the
    probability with which this answer was given: below 1 where the advisor explores.
    """

    nodes: int
    limit_s: float
    reason: Reason
    front: tuple[tuple[int, float, float], ...] = ()
    prediction: Prediction | None = None
    propensity: float = 1.0


@dataclass_transform(kw_only_default=True, eq_default=False)
class Advisor(ABC):
    """Base of all advisors. Annotated class attributes are its keyword-only parameters.

    An advisor that raises or answers nonsense never breaks a run: the request stands, counted.

    Attributes:
        clairvoyant: it may call `System.true_run_time_s` and `System.true_power_w`, also of
            ``job.advised(nodes, limit_s)``; only for upper bounds.
    """

    clairvoyant: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(kw_only=True, eq=False)(cls)

    @abstractmethod
    def advise(self, job: Job, system: System) -> Advice:
        """Return advice for *job*, as its user asked for it; it is about to enter the queue, or waits there."""

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything and prepare for a run."""

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """Learn from a finished job."""
