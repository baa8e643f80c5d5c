"""What a run leaves behind: raw columns, appended to as it goes. `hpcsim.results` makes tables of them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from math import nan

from hpcsim.job import Job, JobState
from hpcsim.node_ids import Interval

STATES = tuple(JobState)
"""State columns hold indices into this."""

CODE = {state: code for code, state in enumerate(STATES)}
OPEN = 254
NOT_SUBMITTED = 255


class RunColumns:
    """Columns by job row and by attempt (an allocation).

    Attributes:
        state: one code a row: an index into `STATES`, `OPEN` or `NOT_SUBMITTED`.
        eligible_s, ended_s: one time a row, NaN before; `ended_s` also for jobs that never started.
        attempt_of: last attempt of each row, -1 without one.
        reasons: row -> why it ended so, where there is something to say.
        attempt_row, attempt_start_s, attempt_end_s, attempt_state: one entry an attempt.
        first_interval: one entry an attempt: where its nodes begin in `lows` and `highs`.
        lows, highs: node intervals of all attempts, one after the other, both ends included.
        added: jobs that were submitted during the run, in row order after the workload's.
    """

    def __init__(self, rows: int) -> None:
        self.state = bytearray([NOT_SUBMITTED]) * rows
        self.eligible_s = array("d", [nan]) * rows
        self.ended_s = array("d", [nan]) * rows
        self.attempt_of = array("q", [-1]) * rows
        self.reasons: dict[int, str] = {}
        self.attempt_row = array("q")
        self.attempt_start_s = array("d")
        self.attempt_end_s = array("d")
        self.attempt_state = bytearray()
        self.first_interval = array("q")
        self.lows = array("q")
        self.highs = array("q")
        self.added: list[Job] = []

    def add_row(self, job: Job) -> None:
        """Make room for a job submitted during the run."""
        self.added.append(job)
        self.state.append(NOT_SUBMITTED)
        self.eligible_s.append(nan)
        self.ended_s.append(nan)
        self.attempt_of.append(-1)

    def submitted(self, row: int, now_s: float) -> None:
        """Record that a job became eligible."""
        self.state[row] = OPEN
        self.eligible_s[row] = now_s

    def started(self, row: int, now_s: float, intervals: Sequence[Interval]) -> int:
        """Record a new attempt; return its number."""
        attempt = len(self.attempt_row)
        self.attempt_of[row] = attempt
        self.attempt_row.append(row)
        self.attempt_start_s.append(now_s)
        self.attempt_end_s.append(nan)
        self.attempt_state.append(OPEN)
        lows, highs = self.lows, self.highs
        self.first_interval.append(len(lows))
        for low, high in intervals:
            lows.append(low)
            highs.append(high)
        return attempt

    def ended(self, row: int, now_s: float, code: int, attempt: int = -1) -> None:
        """Record a job's end, and its attempt's where there was one."""
        self.state[row] = code
        self.ended_s[row] = now_s
        if attempt >= 0:
            self.attempt_end_s[attempt] = now_s
            self.attempt_state[attempt] = code

    @property
    def node_ids(self) -> list[str]:
        """Nodes of each attempt, written ``"0-127,130"``."""
        pieces = [f"{low}-{high}" if low != high else str(low) for low, high in zip(self.lows, self.highs, strict=True)]
        if len(pieces) == len(self.first_interval):
            return pieces
        bounds = [*self.first_interval, len(pieces)]
        return [",".join(pieces[first:last]) for first, last in pairwise(bounds)]
