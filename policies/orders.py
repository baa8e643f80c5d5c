"""Orders: who comes first? Each is a policy by itself and the order of a backfilling one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hpcsim.decision import Decision, Start
from hpcsim.job import Job
from hpcsim.policy import Order, Policy
from hpcsim.system import System


class FCFS(Order):
    """First come, first served: start jobs in order of arrival; stop at the first that does not fit."""

    guarantees = ("fcfs-order",)
    invariances = ("time-shift", "time-scale")

    # The queue is in this order already, so the table of `Order` is not needed.
    on_submit = Policy.on_submit
    on_start = Policy.on_start
    on_end = Policy.on_end

    def key(self, job: Job, system: System) -> Any:
        """Return the same key for all: ties go by queue position."""
        return 0

    def schedule(self, system: System) -> Iterator[Decision]:
        """Start jobs in order of arrival; stop at the first that does not fit."""
        for job in system.queue:
            if not system.fits(job):
                return
            yield Start(job)


class SJF(Order):
    """Shortest job first, by requested time."""

    invariances = ("time-shift", "time-scale")

    def key(self, job: Job, system: System) -> Any:
        """Return the requested time in seconds."""
        return job.limit_s


class LJF(Order):
    """Longest job first, by requested time."""

    invariances = ("time-shift", "time-scale")

    def key(self, job: Job, system: System) -> Any:
        """Return the requested time in seconds, negated."""
        return -job.limit_s


class SAF(Order):
    """Smallest area first: requested time times nodes."""

    invariances = ("time-shift", "time-scale")

    def key(self, job: Job, system: System) -> Any:
        """Return the requested node-seconds."""
        return job.area_node_s
