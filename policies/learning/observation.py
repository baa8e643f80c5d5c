"""What a learned scheduler sees at a decision, as arrays of fixed shape. NumPy alone.

An `Observer` hears what happens to jobs and keeps columns of what waits and runs, so that an
observation costs the same, less than 0.1 ms, however long the queue. The environment and a trained policy
use the same one: what was learned on is what is decided on.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hpcsim.cluster import Cluster
from hpcsim.errors import InvalidArgument
from hpcsim.job import Job, JobOutcome
from hpcsim.policies.learning.features import (
    FIXED,
    GLOBAL_FEATURES,
    JOB_FEATURES,
    LOG_SCALE,
    NODE_FEATURES,
    schema,
    schema_hash,
)
from hpcsim.policies.learning.held_nodes import HeldNodes, log_time
from hpcsim.policies.learning.priors import HEURISTIC_PRIORS
from hpcsim.policies.learning.user_history import UserHistory
from hpcsim.policies.learning.waiting_columns import (
    NODES,
    Machine,
    WaitingColumns,
)
from hpcsim.recorder import Recorder
from hpcsim.system import System

__all__ = [
    "GLOBAL_FEATURES",
    "HEURISTIC_PRIORS",
    "JOB_FEATURES",
    "NODE_FEATURES",
    "Observation",
    "Observer",
    "schema",
    "schema_hash",
]

_CHANGING = [name for name, _ in JOB_FEATURES][FIXED:]
_FITS, _OF_USER = _CHANGING.index("fits"), _CHANGING.index("user_log_ratio")

MOST_ROWS = 10_000
"""Slots for jobs, or rows for node groups, at most: all are computed at every decision."""

Floats = NDArray[np.float32]
Columns = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """A decision's view: K slots of jobs, N node groups, the machine as a whole.

    Attributes:
        jobs: float32 [K, F], columns `JOB_FEATURES`; rows of empty slots are 0.
        nodes: float32 [N, G], columns `NODE_FEATURES`.
        globals: float32 [H], entries `GLOBAL_FEATURES`.
        mask: int8 [K], 1 where a job stands.
        queue: the K jobs, None in empty slots; or None where jobs are not kept, as in a batch.
    """

    jobs: Floats
    nodes: Floats
    globals: Floats
    mask: NDArray[np.int8]
    queue: tuple[Job | None, ...] | None = None


class Glance(NamedTuple):
    """The queue and the window in five figures.

    Attributes:
        free: nodes that count as free.
        seen: waiting jobs that may be seen.
        shown: jobs in the window.
        fitting: share of the window's jobs that fit.
        longest_s: longest wait in the queue.
    """

    free: int
    seen: int
    shown: int
    fitting: float
    longest_s: float


class Observer(Recorder):
    """Keeps what an observation is made of, and makes it. Let it listen to the run.

    Args:
        window: slots for jobs, K. Of more waiting jobs a union of views is shown: the half with the
            smallest areas, a quarter that waits longest, a quarter with the shortest requests.
        groups: rows for node groups, N. A machine with more shows its N - 1 largest and the others
            together in the last row.
        short_s: requested times below this count as this many seconds in ``log_slowdown_rate``: the
            tau of bounded slowdown.
        wait_cap_s: the wait at which ``wait_over_cap`` reaches 1.

    Raises:
        InvalidArgument: one of them is out of range.
    """

    def __init__(
        self, window: int = 32, groups: int = 4, *, short_s: float = 10.0, wait_cap_s: float = 172_800.0
    ) -> None:
        check_view(window, groups, short_s=short_s, wait_cap_s=wait_cap_s)
        self.window = window
        self.groups = groups
        self.short_s = float(short_s)
        self.wait_cap_s = float(wait_cap_s)

    def reset(self, cluster: Cluster) -> None:
        """Forget everything; the next run is on *cluster*, empty."""
        memory_bytes = max(group.memory_bytes for group in cluster.groups)
        gpus = max(group.gpus for group in cluster.groups)
        self._nodes = cluster.nodes
        self._waiting = WaitingColumns(Machine(cluster.nodes, memory_bytes, gpus), self.short_s)
        self._held = HeldNodes(cluster, self.groups)
        self._users = UserHistory()
        self._arrived: dict[int, Job] = {}
        self._begun: dict[int, tuple[Job, str, float]] = {}
        self._ended: list[tuple[Job, float]] = []

    def on_submit(self, job: Job, system: System) -> None:
        """A job has entered the queue."""
        self._arrived[job.row] = job

    def on_leave(self, job: Job, system: System) -> None:
        """A job has left the queue."""
        if self._arrived.pop(job.row, None) is None:
            _, user = self._waiting.remove(job)
            self._users.wait(user, -1)

    def on_change(self, old: Job, new: Job, system: System) -> None:
        """A waiting job was changed in its place."""
        if old.row in self._arrived:
            self._arrived[old.row] = new
        else:
            serial, user = self._waiting.remove(old)
            self._waiting.add(new, user, serial)

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """A job holds nodes from now on."""
        self._begun[job.row] = (job, node_ids, system.now_s)

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """A job has ended: its nodes are free, its run time is history. One that never ran teaches nothing."""
        if self._begun.pop(job.row, None) is None:
            self._held.end(job)
        if outcome.attempts:
            self._ended.append((job, outcome.end_s - outcome.start_s))

    def _settle(self) -> None:
        """Enter what has happened since the last observation; what came and went in between never is."""
        for job in self._arrived.values():
            user = self._users.number(job)
            self._users.wait(user, 1)
            self._waiting.add(job, user)
        for job, node_ids, start_s in self._begun.values():
            self._held.start(job, node_ids, start_s)
        self._users.learn(self._ended)
        self._arrived.clear()
        self._begun.clear()
        self._ended.clear()

    def observe(self, system: System, hidden: Collection[int] = (), free: int | None = None) -> Observation:
        """Return what is seen now; all arrays are new.

        Args:
            system: the view at this instant.
            hidden: rows of waiting jobs that are not to be seen yet.
            free: nodes that count as free; default: all that nobody holds.
        """
        self._settle()
        now_s = system.now_s
        free = system.free if free is None else free
        slots = self._waiting.window(self.window, hidden)
        jobs = np.zeros((self.window, len(JOB_FEATURES)), dtype=np.float32)
        mask = np.zeros(self.window, dtype=np.int8)
        queue = self._waiting.jobs(slots)
        count, fitting, longest_s = len(slots), 0.0, 0.0
        if self._waiting:
            longest_s = max(now_s - self._waiting.oldest_submit_s, 0.0)
        if count:
            mask[:count] = 1
            columns = self._waiting.columns.take(slots, axis=1)
            changing = self._changing(columns, self._fits(queue, columns, free, system), now_s, longest_s)
            fitting = int(np.count_nonzero(changing[_FITS])) / count
            jobs[:count, :FIXED] = columns[:FIXED].T
            jobs[:count, FIXED:] = changing.T
        seen = len(self._waiting) - len(hidden)
        figures = self._describe_machine(now_s, Glance(free, seen, count, fitting, longest_s))
        queue += [None] * (self.window - count)
        return Observation(jobs, self._held.describe(now_s), figures, mask, tuple(queue))

    def _fits(self, queue: list[Job | None], columns: Columns, free: int, system: System) -> NDArray[np.bool_]:
        if system.nodes_are_alike:
            return np.asarray(columns[NODES] <= free)
        return np.array([job is not None and system.fits(job) for job in queue])

    def _changing(self, columns: Columns, fits: NDArray[np.bool_], now_s: float, longest_s: float) -> Columns:
        """Return the features that change while a job waits, [F - FIXED, jobs], in their order."""
        submit_s, limit_s, _, area_s, log_limit, serial, user = columns[FIXED:]
        features = np.empty((len(JOB_FEATURES) - FIXED, len(serial)))
        log_wait, over_request, fit, by_area, by_request, by_age, over_longest, over_cap = features[:_OF_USER]
        wait_s = now_s - submit_s
        np.multiply(np.log1p(wait_s), 1 / (LOG_SCALE * math.log(10)), out=log_wait)
        np.subtract(log_wait, log_limit, out=over_request)
        fit[:] = fits
        shares = _shares(len(serial))
        if len(serial) == len(self._waiting):  # all that wait, as they arrived
            by_area[area_s.argsort(kind="stable")] = shares
            by_request[limit_s.argsort(kind="stable")] = shares
            by_age[:] = shares
        else:
            by_area[np.lexsort((serial, area_s))] = shares
            by_request[np.lexsort((serial, limit_s))] = shares
            by_age[serial.argsort()] = shares
        np.multiply(wait_s, 1 / longest_s if longest_s > 0 else 0.0, out=over_longest)
        np.multiply(wait_s, 1 / self.wait_cap_s, out=over_cap)
        self._look_up(user.astype(np.intp), columns[1], features[_OF_USER:])
        np.minimum(features, 1.0, out=features)
        return np.maximum(features, -1.0, out=features)

    def _look_up(self, users: NDArray[np.intp], log_request: Columns, of_user: Columns) -> None:
        """Fill in what users' ended jobs tell: the last features, which begin as rows of the history."""
        self._users.table.take(users, axis=1, out=of_user, mode="clip")
        _, _, queue_share, predicted, last_two = of_user
        queue_share /= len(self._waiting)
        predicted += log_request
        np.minimum(log_request, last_two, out=last_two)

    def _describe_machine(self, now_s: float, glance: Glance) -> Floats:
        free, seen, shown, fitting, longest_s = glance
        waiting = self._waiting
        next_end_s = self._held.next_end_s
        return np.array(
            [
                free / self._nodes,
                min(math.log10(1 + seen) / 5, 1),
                min(math.log10(1 + len(self._held)) / 5, 1),
                log_time(max(next_end_s - now_s, 0.0)) if next_end_s < math.inf else 1.0,
                min(math.log10(1 + max(waiting.queued_area_s, 0.0)) / 9, 1),
                min(math.log10(1 + max(waiting.slowdown_rate, 0.0)) / 8, 1),
                log_time(longest_s),
                min(longest_s / self.wait_cap_s, 1),
                shown / seen if seen else 1.0,
                fitting,
                self._users.log_ratio,
            ],
            dtype=np.float32,
        )


def check_view(window: int, groups: int, **seconds: float) -> None:
    """Check what an `Observer` is made with.

    Raises:
        InvalidArgument: one of them is out of range; the message says which.
    """
    for name, value in (("window", window), ("groups", groups)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_ROWS:
            raise InvalidArgument(f"{name} is {value!r:.40}.", f"Give a whole number from 1 to {MOST_ROWS:,}.")
    for name, time_s in seconds.items():
        if isinstance(time_s, bool) or not isinstance(time_s, int | float) or not 0 < time_s < math.inf:
            raise InvalidArgument(f"{name} is {time_s!r:.40}.", "Give seconds, above 0.")


@cache
def _shares(size: int) -> Columns:
    """Return 0, 1/size, ... of so many ranks."""
    return np.arange(size) / size
