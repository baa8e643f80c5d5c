"""What advice could reach at best: a rule that knows the true run time and power at every node count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hpcsim.job import Job
from hpcsim.surrogates.advice.forecast import Forecast
from hpcsim.surrogates.advice.rule_advisor import RuleAdvisor
from hpcsim.system import System


class Oracle(RuleAdvisor):
    """Advise by the truth, with no doubt: an upper bound for advisors with the same rule, and no advisor to deploy."""

    clairvoyant = True

    def forecast(self, job: Job, counts: NDArray[np.int64], system: System) -> Forecast | None:
        """Return the truth about *job*."""
        twins = [job if count == job.nodes else job.advised(count, job.limit_s) for count in counts.tolist()]
        run_s = np.array([system.true_run_time_s(twin) for twin in twins])
        power_w = np.array([system.true_power_w(twin) for twin in twins])
        everywhere = np.ones(len(counts), dtype=bool)
        return Forecast(counts, run_s, run_s, power_w, everywhere, int(np.flatnonzero(counts == job.nodes)[0]))
