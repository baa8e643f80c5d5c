"""The SimPy processes of a run. A process only for what does something by itself, never one a job."""

from __future__ import annotations

from collections.abc import Generator

import simpy

from hpcsim.engine.clock import ARRIVAL, Instant
from hpcsim.engine.jobs import JobLife
from hpcsim.engine.truth import Truth


def arrivals(env: simpy.Environment, truth: Truth, life: JobLife) -> Generator[simpy.Event, None, None]:
    """Feed the workload's jobs in, each at its submit time: one pending event, however long the log."""
    admit = life.admit
    now_s = None
    for job in truth.arriving():
        if job.submit_s != now_s:
            now_s = job.submit_s
            yield Instant(env, now_s, ARRIVAL)
        admit(job)
    life.is_fed = True
