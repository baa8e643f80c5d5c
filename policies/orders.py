"""Orders: who comes first? Each is a policy by itself and the order of a backfilling one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hpcsim import registry
from hpcsim.cluster import Cluster
from hpcsim.errors import HpcsimError
from hpcsim.job import Job, JobOutcome
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


class LCFS(Order):
    """Last come, first served: the job submitted last comes first; of equal submits, the first in the log."""

    invariances = ("time-shift", "time-scale")

    def key(self, job: Job, system: System) -> Any:
        """Return the submit time in seconds, negated."""
        return -job.submit_s


class LAF(Order):
    """Largest area first: requested time times nodes."""

    invariances = ("time-shift", "time-scale")

    def key(self, job: Job, system: System) -> Any:
        """Return the requested node-seconds, negated."""
        return -job.area_node_s


class FewestNodes(Order):
    """The job that asks for the fewest nodes comes first."""

    invariances = ("time-shift", "time-scale")

    def key(self, job: Job, system: System) -> Any:
        """Return the nodes."""
        return job.nodes


class MostNodes(Order):
    """The job that asks for the most nodes comes first."""

    invariances = ("time-shift", "time-scale")

    def key(self, job: Job, system: System) -> Any:
        """Return the nodes, negated."""
        return -job.nodes


class RandomOrder(Order):
    """Jobs in random order: each draws its place at arrival."""

    invariances = ("time-shift", "time-scale")

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget all places; draw the next ones from *rng*."""
        super().reset(cluster, rng)
        self._rng = rng
        self._places: dict[int, float] = {}

    def key(self, job: Job, system: System) -> Any:
        """Return the job's place, the same at each call."""
        place = self._places.get(job.row)
        if place is None:
            place = self._places[job.row] = self._rng.random()
        return place

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """Forget the job's place."""
        self._places.pop(job.row, None)


class ByFunction(Order):
    """Jobs by any function of job and system, smallest first.

    Parameters:
        function: takes a `Job` and a `System`, returns a sort key; or where one is, as
            ``"module:function"`` or ``"file.py:function"``. It has to be given.
        changes: the key changes while a job waits, so that jobs are sorted at each pass. False: it
            is asked for once, at arrival, which is faster.
    """

    function: Callable[[Job, System], Any] | str | None = None
    changes: bool = True

    def __post_init__(self) -> None:
        found = registry.find("orders", self.function) if isinstance(self.function, str) else self.function
        if not callable(found):
            raise HpcsimError(f"function is {self.function!r}.", "Give a function of job and system, or where one is.")
        self._function: Callable[[Job, System], Any] = found
        vars(self)["is_dynamic"] = self.changes

    def key(self, job: Job, system: System) -> Any:
        """Return what the function says."""
        return self._function(job, system)
