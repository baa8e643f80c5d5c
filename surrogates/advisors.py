"""Advisors that learn nothing: what users choose, one count for all, one scaling law for all."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hpcsim.advisor import Advice, Advisor, Reason
from hpcsim.errors import InvalidArgument
from hpcsim.job import Job
from hpcsim.speedup import Amdahl, PowerCurve
from hpcsim.system import System

Floats = NDArray[np.float64]

Front = tuple[tuple[int, float, float], ...]
"""The counts considered: (nodes, run time in s, power in W)."""


class UserChoice(Advisor):
    """Keep every request: the run without advice, with its columns; the baseline of all others."""

    def advise(self, job: Job, system: System) -> Advice:
        """Decline."""
        return kept(job, "kept-declined")


class Fixed(Advisor):
    """Advise one node count to all jobs that allow it.

    The limit of a job made narrower grows by as much as its nodes shrink: whatever its law, a job is
    not slower than that, as long as nodes do not hinder each other.

    Args:
        nodes: the count.
    """

    nodes: int

    def __post_init__(self) -> None:
        if isinstance(self.nodes, bool) or not isinstance(self.nodes, int) or self.nodes < 1:
            raise InvalidArgument(f"The fixed node count is {self.nodes}.", "Give a whole number from 1.")

    def advise(self, job: Job, system: System) -> Advice:
        """Advise `nodes`, or keep a request that does not allow them."""
        if self.nodes == job.nodes:
            return kept(job, "kept-no-gain")
        if self.nodes not in job.allowed_nodes:
            return kept(job, "kept-no-support")
        limit_s = job.limit_s * max(1.0, job.nodes / self.nodes)
        return advised(job, self.nodes, limit_s)


class ScalingLaw(Advisor):
    """Advise the count of least energy that is not much slower, by one law for all jobs.

    T(n) = T(1) (f + (1 - f)/n + c log2 n), and a node draws idle + (peak - idle)(w + (1 - w) efficiency).
    One pessimistic law errs towards narrow counts, which costs a busy machine little: a strong baseline
    of learned advisors. The run time at the count asked for is taken as limit / `overestimate`; it
    serves the front alone, since only ratios decide. Limits grow with the predicted run time and a
    margin, never beyond the ratio of nodes, and never shrink.

    Args:
        serial_share: f, from 0 to 1.
        communication: c, the cost of each doubling of the nodes, 0 or more.
        slowdown: the longest run time allowed, over that at the count asked for.
        limit_margin: by what factor limits grow beyond the predicted run time.
        overestimate: by what factor users overstate their run times.
        idle_w, peak_w, waiting_share: power of a node, see `hpcsim.speedup.PowerCurve`.
    """

    serial_share: float = 0.05
    communication: float = 0.0
    slowdown: float = 1.2
    limit_margin: float = 1.2
    overestimate: float = 1.8
    idle_w: float = 400.0
    peak_w: float = 1000.0
    waiting_share: float = 0.5

    def __post_init__(self) -> None:
        for name, least in (("slowdown", 0), ("limit_margin", 1), ("overestimate", 1)):
            value = getattr(self, name)
            if not least <= value < math.inf or value == 0:
                wanted = f"a number from {least}" if least else "a number above 0"
                raise InvalidArgument(f"The {name} of a scaling law is {value}.", f"Give {wanted}.")
        self._law = Amdahl(self.serial_share, self.communication)
        self._curve = PowerCurve(self.idle_w, self.peak_w, self.waiting_share)

    def advise(self, job: Job, system: System) -> Advice:
        """Advise the feasible count of least energy; of equals the fewest nodes."""
        counts = sorted({count for count in job.allowed_nodes if count >= 1} | {job.nodes})
        nodes = np.array(counts)
        ratios, powers_w = self._law.ratio(nodes, job.nodes), self._curve.job_w(nodes, self._law)
        front = self._front(job, counts, ratios, powers_w)
        is_quick = ratios <= self.slowdown * (1 + 1e-12)
        if not is_quick.any():
            return kept(job, "kept-deadline", front)
        energies = np.where(is_quick, ratios * powers_w, np.inf)
        for at in np.argsort(energies, kind="stable").tolist():
            if not is_quick[at]:
                break
            if counts[at] == job.nodes:
                return kept(job, "kept-no-gain", front)
            answer = advised(job, counts[at], self._limit_s(job, counts[at], float(ratios[at])), front)
            if not system.cluster.never_runs(job.advised(answer.nodes, answer.limit_s)):
                return answer
        return kept(job, "kept-deadline", front)

    def _limit_s(self, job: Job, nodes: int, ratio: float) -> float:
        """Return the limit on *nodes*, where the run time is *ratio* times as long."""
        return job.limit_s * max(1.0, min(ratio * self.limit_margin, job.nodes / nodes))

    def _front(self, job: Job, counts: Sequence[int], ratios: Floats, powers_w: Floats) -> Front:
        run_s = job.limit_s / self.overestimate * ratios
        return tuple(zip(counts, run_s.tolist(), powers_w.tolist(), strict=True))


def advised(job: Job, nodes: int, limit_s: float, front: Front = ()) -> Advice:
    """Return advice to run *job* on *nodes*; whole seconds of its limit stay whole, rounded up."""
    return Advice(nodes=nodes, limit_s=whole_limit_s(job, limit_s), reason="advised", front=front)


def whole_limit_s(job: Job, limit_s: float) -> float:
    """Return *limit_s*, rounded up to whole seconds where the limit of *job* is whole."""
    is_whole = isinstance(job.limit_s, int) and math.isfinite(limit_s)
    return math.ceil(limit_s - 1e-9) if is_whole else limit_s


def kept(job: Job, reason: Reason, front: Front = (), propensity: float = 1.0) -> Advice:
    """Return advice to leave *job* as its user asked."""
    return Advice(nodes=job.nodes, limit_s=job.limit_s, reason=reason, front=front, propensity=propensity)
