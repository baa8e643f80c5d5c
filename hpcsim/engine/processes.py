"""What happens by itself in a run. Something pending only for what does something, never one a job."""

from __future__ import annotations

from typing import Any

import simpy

from hpcsim.engine.clock import ARRIVAL, Happening
from hpcsim.engine.jobs import JobLife
from hpcsim.engine.truth import Truth


class Arrivals(Happening):
    """Feeds the workload's jobs in, each at its submit time: one pending event, however long the log."""

    def __init__(self, env: simpy.Environment, truth: Truth, life: JobLife) -> None:
        super().__init__()
        self.env = env
        self._life = life
        self._jobs = truth.arriving()
        self._next = next(self._jobs, None)
        if self._next is None:
            life.is_fed = True
        else:
            self.happen_at(env, self._next.submit_s, ARRIVAL, self._feed)

    def _feed(self, event: Any) -> None:
        """Admit the jobs of this instant and go to the next one."""
        job, now_s, admit = self._next, self.env._now, self._life.admit
        assert job is not None
        admit(job)
        for job in self._jobs:
            if job.submit_s != now_s:
                self._next = job
                self.happen_at(self.env, job.submit_s, ARRIVAL, self._feed)
                return
            admit(job)
        self._life.is_fed = True
