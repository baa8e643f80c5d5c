"""The waiting jobs in slots, with columns beside them and three sorted views, kept as jobs come and go."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from hpcsim.job import Job
from hpcsim.policies.learning.features import AREA_OFFSET, AREA_SCALE, FIXED, LOG_SCALE

SUBMIT, LIMIT, NODES, AREA, LOG_REQUEST, SERIAL, USER = range(FIXED, FIXED + 7)
"""Rows behind the features: submit and requested time in s, nodes, area in seconds of the whole machine,
log10(1 + request) / 8, number of the arrival, number of the user."""


class Machine(NamedTuple):
    """What a job's features are measured against: sizes of the machine."""

    nodes: int
    memory_bytes: int
    gpus: int


class _Place(NamedTuple):
    """Where a waiting job stands: in the slots and in each sorted view."""

    slot: int
    serial: int
    area: float
    limit_s: float


class WaitingColumns:
    """Waiting jobs in slots that are used again; entering and leaving are O(log n) and moves of memory.

    Attributes:
        columns: float64 [rows, slots]: the features that do not change while a job waits, a row each in
            their order, and then what the constants name, `SUBMIT` to `USER`.
        queued_area_s: seconds that the whole machine needs for all waiting requests that have a limit.
        slowdown_rate: sum over waiting jobs of 1 h / max(requested time, shortest).
    """

    def __init__(self, machine: Machine, short_s: float) -> None:
        self._machine = machine
        self._short_s = short_s
        self._jobs: list[Job | None] = []
        self._vacant: list[int] = []
        self._places: dict[int, _Place] = {}
        self._arrivals = 0
        self._by_arrival: list[tuple[int, int]] = []
        self._by_area: list[tuple[float, int, int]] = []
        self._by_request: list[tuple[float, int, int]] = []
        self.queued_area_s = 0.0
        self.slowdown_rate = 0.0
        self.columns = np.zeros((USER + 1, 0))
        self._grow(64)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def oldest_submit_s(self) -> float:
        """Submit time of the job that stands first in the queue; NaN without one."""
        if not self._by_arrival:
            return math.nan
        oldest = self._jobs[self._by_arrival[0][1]]
        assert oldest is not None
        return float(oldest.submit_s)

    def jobs(self, slots: Sequence[int]) -> list[Job | None]:
        """Return the jobs in *slots*."""
        jobs = self._jobs
        return [jobs[slot] for slot in slots]

    def add(self, job: Job, user: int, serial: int | None = None) -> None:
        """Let *job* in, last in the queue or in the place of an earlier *serial*."""
        if serial is None:
            self._arrivals += 1
            serial = self._arrivals
        if not self._vacant:
            self._grow(2 * len(self._jobs))
        slot = self._vacant.pop()
        share = job.nodes / self._machine.nodes
        area_s = job.limit_s * share
        self._jobs[slot] = job
        self._places[job.row] = _Place(slot, serial, area_s, job.limit_s)
        insort(self._by_arrival, (serial, slot))
        insort(self._by_area, (area_s, serial, slot))
        insort(self._by_request, (job.limit_s, serial, slot))
        self.columns[:, slot] = self._describe(job, share, area_s, serial, user)
        self._count(job.limit_s, area_s, 1)

    def remove(self, job: Job) -> tuple[int, int]:
        """Let *job* out; return its serial number and its user's."""
        place = self._places.pop(job.row)
        slot, serial, area_s, limit_s = place
        self._jobs[slot] = None
        self._vacant.append(slot)
        del self._by_arrival[bisect_left(self._by_arrival, (serial, slot))]
        del self._by_area[bisect_left(self._by_area, (area_s, serial, slot))]
        del self._by_request[bisect_left(self._by_request, (limit_s, serial, slot))]
        self._count(limit_s, area_s, -1)
        return serial, int(self.columns[USER, slot])

    def window(self, most: int, hidden: Collection[int] = ()) -> list[int]:
        """Return the slots of at most *most* jobs, without the rows of *hidden*.

        Up to that many jobs: all, as they arrived. Of more: the half with the smallest areas, a
        quarter that waits longest, and the quarter with the shortest requests, each the first that no
        earlier view has taken. Ties go by arrival.
        """
        taken = {self._places[row].slot for row in hidden}
        if len(self._places) - len(taken) <= most:
            if taken:
                return [slot for _, slot in self._by_arrival if slot not in taken]
            return [slot for _, slot in self._by_arrival]
        chosen: list[int] = []
        half = most - most // 2
        views: Any = (
            (self._by_area, half),
            (self._by_arrival, half + (most - half + 1) // 2),
            (self._by_request, most),
        )
        for view, until in views:
            for entry in view:
                if len(chosen) >= until:
                    break
                slot = entry[-1]
                if slot not in taken:
                    taken.add(slot)
                    chosen.append(slot)
        return chosen

    def _describe(self, job: Job, share: float, area_s: float, serial: int, user: int) -> tuple[float, ...]:
        """Return a column of `columns`."""
        machine, limit_s = self._machine, job.limit_s
        return (
            1.0,
            _within(math.log10(limit_s) / LOG_SCALE) if limit_s > 1 else 0.0,
            _within(1 + math.log10(share) / 6),
            _within((AREA_OFFSET + math.log10(area_s)) / AREA_SCALE) if area_s > 0 else 0.0,
            _within(share),
            _within(job.memory_bytes_per_node / machine.memory_bytes) if machine.memory_bytes else 0.0,
            _within(job.gpus_per_node / machine.gpus) if machine.gpus else 0.0,
            job.submit_s,
            limit_s,
            job.nodes,
            area_s,
            math.log10(1 + limit_s) / LOG_SCALE,
            serial,
            user,
        )

    def _count(self, limit_s: float, area_s: float, sign: int) -> None:
        """Keep the sums over the queue; they begin anew with an empty one, so that no rounding error stays."""
        if not self._places:
            self.queued_area_s = self.slowdown_rate = 0.0
            return
        if area_s < math.inf:
            self.queued_area_s += sign * area_s
        self.slowdown_rate += sign * 3600 / max(limit_s, self._short_s)

    def _grow(self, slots: int) -> None:
        """Make room for *slots* jobs."""
        known = len(self._jobs)
        self._jobs += [None] * (slots - known)
        self._vacant = [*range(slots - 1, known - 1, -1), *self._vacant]
        self.columns = np.concatenate([self.columns, np.zeros((USER + 1, slots - known))], axis=1)


def _within(share: float) -> float:
    return min(max(share, 0.0), 1.0)
