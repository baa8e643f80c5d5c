"""What a run leaves behind: raw columns, appended to as it goes. `hpcsim.results` makes tables of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hpcsim.engine.advice_log import NOT_ASKED, AdviceLog
from hpcsim.engine.energy_log import EnergyLog
from hpcsim.job import Job, JobState
from hpcsim.node_ids import Interval

STATES = tuple(JobState)
"""State columns hold indices into this."""

CODE = {state: code for code, state in enumerate(STATES)}
OPEN = 254
NOT_SUBMITTED = 255


class LostAttempt(NamedTuple):
    """An attempt after which its job waited again.

    Attributes:
        end_s: when it ended; code: how, an index into `STATES`.
        area_node_s: requested node-seconds of the job as it waited for this attempt; 0 without a limit.
    """

    end_s: float
    code: int
    area_node_s: float


class RunColumns:
    """Columns by job row and by attempt (an allocation); what can be derived is not recorded.

    Attributes:
        state: one code a row: an index into `STATES`, `OPEN` or `NOT_SUBMITTED`.
        eligible_s: one time a row, NaN before.
        ended_s: one time a row, NaN before; also of jobs that never started.
        reasons: row -> why it ended so, where there is something to say.
        attempt_row, attempt_start_s: one entry an attempt.
        lows, highs: node intervals of all attempts, one after the other, both ends included. The
            second and further intervals of an attempt have their low end written as ``-1 - low``.
        promise_row, promise_at_s, promise_start_s: one entry a `Reserve`: for whom, when it was made,
            and the promised start; ``inf`` withdraws. A promise ends when its job leaves the queue.
        books: which ledger kept the nodes, see `hpcsim.engine.need`.
        energy: what was drawn, where the machine's power is described.
        advice: what an advisor said of each job, where the run has one.
        lost: attempt -> `LostAttempt`, of attempts after which the job was queued again.
        added: jobs that were submitted during the run, in row order after the workload's.
    """

    def __init__(self, rows: int, books: str = "counting") -> None:
        self.books = books
        self.state = bytearray([NOT_SUBMITTED]) * rows
        self.eligible_s = array("d", [nan]) * rows
        self.ended_s = array("d", [nan]) * rows
        self.reasons: dict[int, str] = {}
        self.attempt_row = array("q")
        self.attempt_start_s = array("d")
        self.lows = array("q")
        self.highs = array("q")
        self.promise_row = array("q")
        self.promise_at_s = array("d")
        self.promise_start_s = array("d")
        self.lost: dict[int, LostAttempt] = {}
        self.added: list[Job] = []
        self.energy: EnergyLog | None = None
        self.advice: AdviceLog | None = None

    def add_row(self, job: Job) -> None:
        """Make room for a job submitted during the run."""
        self.added.append(job)
        self.state.append(NOT_SUBMITTED)
        self.eligible_s.append(nan)
        self.ended_s.append(nan)
        if self.advice is not None:
            self.advice.codes.append(NOT_ASKED)

    def submitted(self, row: int, now_s: float) -> None:
        """Record that a job became eligible."""
        self.state[row] = OPEN
        self.eligible_s[row] = now_s

    def started(self, row: int, now_s: float, intervals: Sequence[Interval]) -> None:
        """Record a new attempt."""
        self.attempt_row.append(row)
        self.attempt_start_s.append(now_s)
        low, high = intervals[0]
        self.lows.append(low)
        self.highs.append(high)
        if len(intervals) > 1:
            for low, high in intervals[1:]:
                self.lows.append(-1 - low)
                self.highs.append(high)

    def promised(self, row: int, now_s: float, start_s: float) -> None:
        """Record a promise, made now, of a start at *start_s* or earlier."""
        self.promise_row.append(row)
        self.promise_at_s.append(now_s)
        self.promise_start_s.append(start_s)

    def restarted(self, row: int, now_s: float) -> None:
        """Move the start of a job's last attempt."""
        self.attempt_start_s[self._last_attempt(row)] = now_s

    def queued_again(self, row: int, lost: LostAttempt) -> None:
        """Record that a job's last attempt was lost: the job waits again."""
        self.lost[self._last_attempt(row)] = lost

    def _last_attempt(self, row: int) -> int:
        owners = self.attempt_row
        return next(at for at in range(len(owners) - 1, -1, -1) if owners[at] == row)

    def ended(self, row: int, now_s: float, code: int) -> None:
        """Record a job's end, and so its last attempt's where there was one."""
        self.state[row] = code
        self.ended_s[row] = now_s

    def attempt_of(self) -> NDArray[np.int64]:
        """Return the last attempt of each row, -1 without one."""
        attempts = np.full(len(self.state), -1)
        rows = np.frombuffer(self.attempt_row, dtype=np.int64)
        attempts[rows] = np.arange(len(rows))
        return attempts

    def node_ids(self) -> Iterator[str]:
        """Yield the nodes of each attempt, written ``"0-127,130"``."""
        text = ""
        for low, high in zip(self.lows, self.highs, strict=True):
            if low < 0:
                text += f",{-1 - low}-{high}" if -1 - low != high else f",{high}"
                continue
            if text:
                yield text
            text = f"{low}-{high}" if low != high else str(low)
        if text:
            yield text
