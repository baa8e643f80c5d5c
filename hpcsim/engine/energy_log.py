"""What was drawn over a run, as raw columns. `hpcsim.results.energy` makes tables of them."""

from __future__ import annotations

from array import array
from math import nan


class EnergyLog:
    """Watts of jobs in spans of constant power, and watts of the machine's parts at each change.

    Attributes:
        job_row, job_from_s, job_to_s, job_w: one entry a span of a job.
        time_s, jobs_w, idle_w, boot_w, off_w: the machine from each instant until the next.
        end_s: until when it was watched.
    """

    def __init__(self) -> None:
        self.job_row = array("q")
        self.job_from_s, self.job_to_s, self.job_w = array("d"), array("d"), array("d")
        self.time_s, self.jobs_w = array("d"), array("d")
        self.idle_w, self.boot_w, self.off_w = array("d"), array("d"), array("d")
        self.end_s = nan

    def span(self, row: int, from_s: float, to_s: float, watts: float) -> None:
        """Record that a job drew *watts* for a while."""
        self.job_row.append(row)
        self.job_from_s.append(from_s)
        self.job_to_s.append(to_s)
        self.job_w.append(watts)

    def instant(self, time_s: float, jobs_w: float, rest_w: tuple[float, float, float]) -> None:
        """Record what jobs, and idle, booting and off nodes draw from *time_s* on."""
        self.time_s.append(time_s)
        self.jobs_w.append(jobs_w)
        self.idle_w.append(rest_w[0])
        self.boot_w.append(rest_w[1])
        self.off_w.append(rest_w[2])


class Sum:
    """A sum of many floats that keeps the digits that each addition would lose (Neumaier 1974)."""

    __slots__ = ("_lost", "_sum")

    def __init__(self) -> None:
        self._sum = 0.0
        self._lost = 0.0

    def add(self, value: float) -> None:
        """Add *value*."""
        total = self._sum + value
        larger, smaller = (self._sum, value) if abs(self._sum) >= abs(value) else (value, self._sum)
        self._lost += (larger - total) + smaller
        self._sum = total

    @property
    def value(self) -> float:
        """The sum."""
        return self._sum + self._lost
