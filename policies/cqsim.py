"""CQSim's backfilling (`Backfill(protocol="cqsim")`): candidates are tested by their true run time.

CQSim plans the ends of running jobs by their requests, as everybody does. But whether a waiting job
would be over before the reservation, it decides by the run time that the log recorded, which no
scheduler knows. So it is a clairvoyant policy, and its figures are no figures of EASY.

Source: the published code of CQSim (SPEAR-UIC), as of its backfilling module.
"""

from __future__ import annotations

from hpcsim.job import Job
from hpcsim.policies.reserving import ReservingPass
from hpcsim.system import System


class CqsimPass(ReservingPass):
    """Reservations and candidates last as long as they truly will; running jobs until their limits."""

    def _length_s(self, job: Job, system: System) -> float:
        """Return a waiting job's true run time, at least one second."""
        return max(min(system.true_run_time_s(job), job.limit_s), 1)
