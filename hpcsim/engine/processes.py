"""What happens by itself in a run. Something pending only for what does something, never one a job."""

from __future__ import annotations

import math

from hpcsim.engine.jobs import JobLife
from hpcsim.engine.truth import Truth


class Arrivals:
    """Feeds the workload's jobs in, each at its submit time, however long the log.

    Arrivals stand beside SimPy's heap and not in it: at their instant they come last anyway, and a
    heap of ends alone is shorter.

    Attributes:
        next_s: when the next jobs arrive, ``inf`` when the workload is used up.
    """

    def __init__(self, truth: Truth, life: JobLife) -> None:
        self._life = life
        self._jobs = truth.arriving()
        self._next = next(self._jobs, None)
        self.next_s = math.inf if self._next is None else self._next.submit_s
        life.is_fed = self._next is None

    def feed(self) -> None:
        """Admit the jobs of the instant `next_s`, which the clock shows, and go to the next one."""
        job, now_s, admit = self._next, self.next_s, self._life.admit
        assert job is not None
        admit(job)
        for job in self._jobs:
            if job.submit_s != now_s:
                self._next = job
                self.next_s = job.submit_s
                return
            admit(job)
        self.next_s = math.inf
        self._life.is_fed = True
