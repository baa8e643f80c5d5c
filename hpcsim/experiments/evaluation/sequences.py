"""A sequence of jobs to be tested on, and the ways in which sequences are cut out of a log."""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hpcsim.workload import Workload

JOBS = 1024
"""Jobs of a sequence, as in Zhang et al., "RLScheduler", SC 2020."""

PUBLISHED_STARTS = (1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085)
"""First rows of RLScheduler's ten sequences, among the first 10,000 jobs of a log."""

_COLUMNS = ("job_id", "submit_s", "run_s", "limit_s", "nodes", "user_id", "group_id")


class Tested(Protocol):
    """A sequence as figures on it need it: what it is called, where it is from, how long; see `Sequence`."""

    @property
    def label(self) -> str:
        """Return which one it is, for people."""

    @property
    def source(self) -> str:
        """Return what it was cut from."""

    @property
    def condition(self) -> str:
        """Return what was varied."""

    @property
    def jobs(self) -> int:
        """Return the number of its jobs."""


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """Consecutive jobs that meet an empty machine.

    Attributes:
        label: which one, for people: ``"lublin-1 from 1981"``.
        workload: its jobs.
        nodes: of the machine.
        source: sequences of one source are not independent of each other: a log, a generated workload.
        condition: what was varied, where something was: ``"load 0.9"``.
    """

    label: str
    workload: Workload
    nodes: int
    source: str
    condition: str = ""

    @property
    def jobs(self) -> int:
        """Return the number of its jobs."""
        return len(self.workload)


def rows_of(workload: Workload, first: int, jobs: int = JOBS) -> Workload:
    """Return *jobs* consecutive rows from *first* on, with the columns that scheduling knows."""
    kept = [name for name in _COLUMNS if name in workload.columns]
    cut = Workload({name: workload.columns[name][first : first + jobs] for name in kept})
    cut.limits_are_run_times = workload.limits_are_run_times
    return cut


def cut(workload: Workload, nodes: int, source: str, starts: Many[int], condition: str = "") -> list[Sequence]:
    """Return the sequences that begin at rows *starts* of a log."""
    return [Sequence(f"{source} from {first}", rows_of(workload, first), nodes, source, condition) for first in starts]


def random_starts(rows: int, count: int, seed: Many[int]) -> list[int]:
    """Return *count* different first rows of whole sequences among *rows*, in the log's order."""
    possible = max(1, rows - JOBS + 1)
    chosen: NDArray[np.int64] = np.random.default_rng(seed).choice(possible, size=min(count, possible), replace=False)
    return sorted(int(first) for first in chosen)


def consecutive_starts(rows: int, share: float, *, is_last: bool = True) -> list[int]:
    """Return the first rows of whole, consecutive sequences in the last *share* of *rows*, or in all before it."""
    first = rows - int(rows * share)
    begin, end = (first, rows) if is_last else (0, first)
    return list(range(begin, end - JOBS + 1, JOBS))
