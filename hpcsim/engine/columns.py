"""What a run leaves behind: raw columns, appended to as it goes. `hpcsim.results` makes tables of them."""

from __future__ import annotations

from array import array
from math import nan

from hpcsim.job import Job, JobState

STATES = tuple(JobState)
"""State columns hold indices into this."""

CODE = {state: code for code, state in enumerate(STATES)}
OPEN = 254
NOT_SUBMITTED = 255


class RunColumns:
    """Columns by job row, by attempt (an allocation) and by instant.

    Attributes:
        state: one code a row: an index into `STATES`, `OPEN` or `NOT_SUBMITTED`.
        eligible_s, ended_s: one time a row, NaN before; `ended_s` also for jobs that never started.
        attempt_of: last attempt of each row, -1 without one; attempts: how many.
        reasons: row -> why it ended so, where there is something to say.
        attempt_row, attempt_start_s, attempt_end_s, attempt_state, node_ids: one entry an attempt.
        time_s, used_nodes, queue_length, queued_node_s: one entry an instant with a change.
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
        self.node_ids: list[str] = []
        self.time_s = array("d")
        self.used_nodes = array("q")
        self.queue_length = array("q")
        self.queued_node_s = array("d")
        self.added: list[Job] = []
        self.rows_given = rows

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

    def started(self, row: int, now_s: float, node_ids: str) -> int:
        """Record a new attempt; return its number."""
        attempt = len(self.node_ids)
        self.attempt_of[row] = attempt
        self.attempt_row.append(row)
        self.attempt_start_s.append(now_s)
        self.attempt_end_s.append(nan)
        self.attempt_state.append(OPEN)
        self.node_ids.append(node_ids)
        return attempt

    def ended(self, row: int, now_s: float, code: int, attempt: int = -1) -> None:
        """Record a job's end, and its attempt's where there was one."""
        self.state[row] = code
        self.ended_s[row] = now_s
        if attempt >= 0:
            self.attempt_end_s[attempt] = now_s
            self.attempt_state[attempt] = code

    def instant(self, now_s: float, used: int, queued: int, queued_node_s: float) -> None:
        """Record the machine's state after an instant, if it differs from the last one."""
        times = self.time_s
        if times:
            if times[-1] == now_s:
                self.used_nodes[-1], self.queue_length[-1], self.queued_node_s[-1] = used, queued, queued_node_s
                return
            if (
                self.used_nodes[-1] == used
                and self.queue_length[-1] == queued
                and self.queued_node_s[-1] == queued_node_s
            ):
                return
        times.append(now_s)
        self.used_nodes.append(used)
        self.queue_length.append(queued)
        self.queued_node_s.append(queued_node_s)
