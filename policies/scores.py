"""Orders by a score of waiting time, requested time, nodes and submit time: WFP3, UNICEP, F1 to F4.

A requested or submit time of 0 (or less), of which no logarithm or quotient exists, is read as 0.1 s.

Sources: WFP3 and UNICEP, Tang, Lan, Desai and Buettner, "Fault-aware, utility-based job scheduling on
Blue Gene/P systems", CLUSTER 2009. F1 to F4, Carastan-Santos and de Camargo, "Obtaining dynamic
scheduling policies with simulation and machine learning", SC 2017.
"""

from __future__ import annotations

from math import log2, log10, sqrt
from typing import Any, Literal

from hpcsim.errors import HpcsimError
from hpcsim.job import Job
from hpcsim.policy import Order
from hpcsim.system import System

_ZERO_S = 0.1
_HAIR = 1e-15  # added to n = 1, whose logarithm is 0


class WaitingScore(Order):
    """An order by a score that grows as a job waits, largest first.

    Parameters:
        compat: None, the true wait. ``"rlscheduler"`` repeats a defect of RLScheduler's baselines:
            there the start of a waiting job is -1, so that its wait is -1 - submit, a negative
            number, and what should bring a job forward (short, for WFP3 also wide) puts it back. Use
            it only to compare with figures published from that simulator.
    """

    compat: Literal["rlscheduler"] | None = None

    is_dynamic = True
    invariances = ("time-shift",)

    def __post_init__(self) -> None:
        if self.compat not in (None, "rlscheduler"):
            raise HpcsimError(f"compat is {self.compat!r}.", "Give 'rlscheduler', or leave it out.")
        if self.compat is not None:
            vars(self).update(invariances=(), is_dynamic=False)  # what was -1 stays -1

    def wait_s(self, job: Job, system: System) -> float:
        """Return for how many seconds *job* has waited, by *compat*."""
        return (-1 if self.compat else system.now_s) - job.submit_s


class WFP3(WaitingScore):
    """WFP3: (wait / requested time)^3 x nodes, largest first."""

    def key(self, job: Job, system: System) -> Any:
        """Return the score, negated."""
        return -((self.wait_s(job, system) / _positive(job.limit_s)) ** 3) * job.nodes


class UNICEP(WaitingScore):
    """UNICEP: wait / (log2(nodes) x requested time), largest first; of one node log2(1 + 1e-15)."""

    def key(self, job: Job, system: System) -> Any:
        """Return the score, negated."""
        width = log2(job.nodes + _HAIR if job.nodes == 1 else job.nodes)
        return -self.wait_s(job, system) / (width * _positive(job.limit_s))


class F1(Order):
    """F1: log10(requested time) x nodes + 870 x log10(submit time), smallest first."""

    def key(self, job: Job, system: System) -> Any:
        """Return the score."""
        return log10(_positive(job.limit_s)) * job.nodes + 870 * log10(_positive(job.submit_s))


class F2(Order):
    """F2: sqrt(requested time) x nodes + 25,600 x log10(submit time), smallest first."""

    def key(self, job: Job, system: System) -> Any:
        """Return the score."""
        return sqrt(job.limit_s) * job.nodes + 25_600 * log10(_positive(job.submit_s))


class F3(Order):
    """F3: requested time x nodes + 6,860,000 x log10(submit time), smallest first."""

    def key(self, job: Job, system: System) -> Any:
        """Return the score."""
        return job.limit_s * job.nodes + 6_860_000 * log10(_positive(job.submit_s))


class F4(Order):
    """F4: requested time x sqrt(nodes) + 530,000 x log10(submit time), smallest first."""

    def key(self, job: Job, system: System) -> Any:
        """Return the score."""
        return job.limit_s * sqrt(job.nodes) + 530_000 * log10(_positive(job.submit_s))


def _positive(seconds: float) -> float:
    return seconds if seconds > 0 else _ZERO_S
