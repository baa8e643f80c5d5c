"""Orders: who comes first? Each is a policy by itself and the order of a backfilling one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hpcsim.job import Job
from hpcsim.listener import Listener
from hpcsim.policy import Order
from hpcsim.system import System


class FCFS(Order):
    """First come, first served: start jobs in order of arrival; stop at the first that does not fit."""

    guarantees = ("fcfs-order",)
    invariances = ("time-shift", "time-scale")

    def key(self, job: Job, system: System) -> Any:
        """Return the same key for all: ties go by queue position."""
        return 0

    def listeners(self) -> Sequence[Listener]:
        """Return nobody: the system's queue is in this order already."""
        return ()

    def in_order(self, system: System) -> Sequence[Job]:
        """Return the system's queue."""
        return system.queue


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
