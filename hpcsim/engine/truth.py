"""What only the engine knows: how long a job would run, and how it would end by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hpcsim.engine.scalings import Scalings
from hpcsim.job import Job, JobState
from hpcsim.workload import END_STATES, Workload

CHUNK = 4096
Fate = tuple[float, int]
"""(run time in seconds, index into `END_STATES`)."""


class Truth:
    """The fate of each job that has been submitted and has not started."""

    def __init__(self, workload: Workload, scalings: Scalings) -> None:
        self._workload = workload
        self._scalings = scalings
        self._asked_run_s: dict[int, float] = {}  # of jobs that were moved to another count
        self._fates: dict[int, Fate] = {}

    def arriving(self) -> Iterator[Job]:
        """Yield the workload's jobs in order of arrival, built lazily; their fates become known."""
        order = self._workload.arrival_order()
        for first in range(0, len(order), CHUNK):
            rows = order[first : first + CHUNK]
            runs, states = self._column("run_s", rows), self._column("end_state", rows)
            for job, run_s, end_state in zip(self._workload.jobs(rows), runs, states, strict=True):
                self._fates[job.row] = (run_s, end_state)
                yield job

    def add(self, row: int, run_s: float, end_state: JobState) -> None:
        """Set the fate of a job that a user submitted."""
        self._fates[row] = (run_s, END_STATES.index(end_state))

    def run_s(self, job: Job) -> float:
        """Return the run time of a job that has not started, at its own node count."""
        asked_run_s = self._asked_run_s.get(job.row, self._fates[job.row][0])
        if job.requested is None or job.nodes == job.requested.nodes:
            return asked_run_s
        ratio = self._scalings.run_ratio(job.requested, job.nodes)
        return asked_run_s if ratio is None else asked_run_s * ratio

    def power_w(self, job: Job) -> float:
        """Return the mean power of a job at its own node count, in watts; NaN where nobody knows."""
        return self._scalings.power_w(job.requested or job, job.nodes)

    def move(self, job: Job) -> None:
        """Let a job that has not started run at its node count of now."""
        asked_run_s, end_state = self._asked_run_s.get(job.row), self._fates[job.row][1]
        if asked_run_s is None:
            self._asked_run_s[job.row] = self._fates[job.row][0]
        self._fates[job.row] = (self.run_s(job), end_state)

    def asked_fate(self, row: int) -> Fate:
        """Return run time and own end state that a job that has not started would have as its user asked for it."""
        run_s, end_state = self._fates[row]
        return self._asked_run_s.get(row, run_s), end_state

    def restore(self, row: int, fate: Fate) -> None:
        """Give a job that waits again the fate it has at the count asked for."""
        self._fates[row] = fate

    def reveal(self, row: int) -> Fate:
        """Return run time and own end state of a job that starts or leaves, and forget them."""
        if self._asked_run_s:
            self._asked_run_s.pop(row, None)
        return self._fates.pop(row)

    def _column(self, name: str, rows: Any) -> list[Any]:
        column = self._workload.columns.get(name)
        return np.zeros(len(rows), dtype=np.int8).tolist() if column is None else column[rows].tolist()
