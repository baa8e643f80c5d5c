"""How long will a job run? An `Estimator` answers for planning; killing is always by the request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, dataclass_transform

from hpcsim.job import Job
from hpcsim.listener import Listener

if TYPE_CHECKING:
    from hpcsim.system import System


@dataclass_transform(kw_only_default=True, eq_default=False)
class Estimator(Listener, ABC):
    """Base of all estimators. Learn from finished jobs in `on_end`, and from nothing else.

    Annotated class attributes are its keyword-only parameters.
    """

    clairvoyant = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(kw_only=True, eq=False)(cls)

    def reset(self) -> None:
        """Forget everything; called before each run."""

    @abstractmethod
    def limit_s(self, job: Job, system: System) -> float:
        """Return the seconds that *job* is planned to run, from its start."""

    def expired(self, job: Job, system: System) -> float:
        """Return a new estimate, from the start, for a job that has outlived the last one.

        By default one second more than it has run.
        """
        return system.now_s - system.started_s(job) + 1
