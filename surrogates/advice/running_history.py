"""What is known of users and applications, kept up to date job by job as jobs end.

The same figures as `hpcsim.surrogates.features.contexts_table` takes from a table of finished jobs,
at a cost per job that does not grow with the number of jobs that have ended.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from hpcsim.surrogates.features.columns import APP_HISTORY, PAIR_HISTORY, SUPPORT, USER_HISTORY

NAN = math.nan


@dataclass(frozen=True, slots=True)
class Ended:
    """A job that ended well: who ran what, until when, how long, on how many nodes, at what power (NaN: unknown)."""

    user: float
    app: float
    end_s: float
    run_s: float
    nodes: float
    power_w: float


@dataclass(slots=True)
class Figures:
    """Sums over the jobs of one group that have ended."""

    jobs: int = 0
    log_run: float = 0.0
    log_nodes: float = 0.0
    node_w: float = 0.0
    measured: int = 0
    last_log_run: float = NAN
    last_node_w: float = NAN
    last_end_s: float = NAN
    counts: set[float] = field(default_factory=set)

    def add(self, job: Ended) -> None:
        """Count one more job, which ended no earlier than the others."""
        log_run = math.log(max(job.run_s, 1.0))
        node_w = job.power_w / job.nodes
        self.jobs += 1
        self.log_run += log_run
        self.log_nodes += math.log(job.nodes)
        if not math.isnan(node_w):
            self.node_w += node_w
            self.measured += 1
        self.last_log_run, self.last_node_w, self.last_end_s = log_run, node_w, job.end_s
        self.counts.add(job.nodes)

    def known(self, now_s: float) -> dict[str, float]:
        """Return what `History.seen` of the features knows, at *now_s*."""
        jobs = self.jobs
        if not jobs:
            return UNKNOWN
        return {
            "jobs": float(jobs),
            "counts": float(len(self.counts)),
            "last_log_run": self.last_log_run,
            "mean_log_run": self.log_run / jobs,
            "mean_log_node_s": (self.log_run + self.log_nodes) / jobs,
            "last_node_w": self.last_node_w,
            "mean_node_w": self.node_w / self.measured if self.measured else NAN,
            "mean_log_nodes": self.log_nodes / jobs,
            "log_since_s": math.log(max(now_s - self.last_end_s, 1.0)),
            "least_nodes": min(self.counts),
            "most_nodes": max(self.counts),
        }


UNKNOWN = {
    **dict.fromkeys(("jobs", "counts"), 0.0),
    **dict.fromkeys(("last_log_run", "mean_log_run", "mean_log_node_s", "last_node_w", "mean_node_w"), NAN),
    **dict.fromkeys(("mean_log_nodes", "log_since_s", "least_nodes", "most_nodes"), NAN),
}

PREFIXES = ("pair", "app", "user")
WANTED = tuple(
    (prefix, tuple(name.removeprefix(f"{prefix}_") for name in names))
    for prefix, names in zip(PREFIXES, (PAIR_HISTORY, (*APP_HISTORY, *SUPPORT), USER_HISTORY), strict=True)
)
HISTORY_ORDER = tuple(f"{prefix}_{name}" for prefix, names in WANTED for name in names)
"""The columns that `RunningHistory.seen` fills, in its order."""


class RunningHistory:
    """Finished jobs by pair of user and application, by application, and by user."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, float, float], Figures] = {}
        self._recent: list[Ended] = []
        self._nobody = Figures()

    def add(self, job: Ended) -> None:
        """Note a job that has just ended; it counts from the next instant on."""
        self._recent.append(job)

    def seen(self, user: float, app: float, now_s: float) -> list[float]:
        """Return the figures of `HISTORY_ORDER` for a job that *user* submits of *app* now."""
        if self._recent:
            self._settle(now_s)
        groups, nobody = self._groups, self._nobody
        keys = (("pair", user, app), ("app", 0.0, app), ("user", user, 0.0))
        found = []
        for (_, names), key in zip(WANTED, keys, strict=True):
            known = groups.get(key, nobody).known(now_s)
            found += [known[name] for name in names]
        return found

    def _settle(self, now_s: float) -> None:
        """Count the jobs that ended before *now_s*."""
        later = []
        for job in self._recent:
            if job.end_s >= now_s:
                later.append(job)
                continue
            for key in (("pair", job.user, job.app), ("app", 0.0, job.app), ("user", job.user, 0.0)):
                self._groups.setdefault(key, Figures()).add(job)
        self._recent = later


def history_of(ends: list[Ended]) -> RunningHistory:
    """Return the history of *ends*, in order of their ends."""
    history = RunningHistory()
    for job in sorted(ends, key=lambda job: job.end_s):
        history.add(job)
    return history


def ended_of(table: np.ndarray) -> list[Ended]:
    """Return the jobs of an array [jobs, 6] with the columns of `Ended`, in its order."""
    return [Ended(*row) for row in table.tolist()]
