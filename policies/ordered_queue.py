"""The waiting jobs in an order's key order, for policies that backfill."""

from __future__ import annotations

from collections.abc import Generator

from hpcsim.decision import Decision, Start
from hpcsim.job import Job
from hpcsim.policy import Order
from hpcsim.system import System
from hpcsim.waiting import WaitingTable


class OrderedQueue:
    """Waiting jobs by key: a sorted table where keys are static, sorted at each pass where not."""

    def __init__(self, order: Order) -> None:
        self.is_static = not order.is_dynamic
        self.table = WaitingTable()
        self._order = order

    def add(self, job: Job, system: System) -> None:
        """A job has arrived."""
        self.table.add(job, self._order.key(job, system) if self.is_static else 0, job.limit_s)

    def remove(self, job: Job) -> None:
        """A job has left the queue, if it was in it."""
        self.table.remove(job)

    def start_leading(self, system: System) -> Generator[Decision, None, list[Job]]:
        """Start jobs in key order up to the first that does not fit; return the blocked ones.

        Use as ``blocked = yield from queue.start_leading(system)``. Where keys are static the list
        is the table's own and changes with it.
        """
        if self.is_static:
            for job in self.table.leading(system.free):
                yield Start(job)
            return self.table.jobs
        jobs = sorted(self.table.jobs, key=lambda job: self._order.key(job, system))
        started, free = 0, system.free
        for job in jobs:
            free -= job.nodes
            if free < 0:
                break
            started += 1
            yield Start(job)
        return jobs[started:]
