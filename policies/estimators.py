"""Estimators of run time for planning."""

from __future__ import annotations

from hpcsim.estimator import Estimator
from hpcsim.job import Job
from hpcsim.system import System


class Requested(Estimator):
    """The requested time: what the user asked for, and what the machine enforces."""

    def limit_s(self, job: Job, system: System) -> float:
        """Return the job's limit in seconds."""
        return job.limit_s
