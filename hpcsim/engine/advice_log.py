"""What advice became of the jobs of a run: a reason for each, and the counts and limits that it changed."""

from __future__ import annotations

from array import array

import numpy as np

from hpcsim.advisor import REASONS, Reason
from hpcsim.job import Job

_CODE = {reason: code for code, reason in enumerate(REASONS)}
NOT_ASKED = 255
"""Code of a job that has not been submitted."""


class AdviceLog:
    """Columns by job row.

    Args:
        rows: of the workload.
        has_budget: whether answers are discarded by the wall clock, so that a second run may go otherwise.

    Attributes:
        codes: one a row: an index into `hpcsim.advisor.REASONS`, or `NOT_ASKED`.
        effective: row -> (nodes, limit in s) of the jobs that advice changed.
        first_error: what the advisor did wrong the first time, or the empty string.
        propensity: row -> probability of the answer, of the jobs for which it was below 1.
        errors: how often its hooks raised apart from its advice.
        late: how many answers came after the time budget and were discarded.
        requeued: how many jobs were queued again because advice had killed them.
        wall_s: seconds that each answer took, by the wall clock.
    """

    def __init__(self, rows: int, *, has_budget: bool = False) -> None:
        self.codes = bytearray([NOT_ASKED]) * rows
        self.has_budget = has_budget
        self.effective: dict[int, tuple[int, float]] = {}
        self.propensity: dict[int, float] = {}
        self.first_error = ""
        self.errors = 0
        self.late = 0
        self.requeued = 0
        self.wall_s = array("d")

    def record(self, job: Job, reason: Reason) -> None:
        """Note why *job* is as it is now; later advice replaces earlier."""
        self.codes[job.row] = _CODE[reason]
        if job.requested is None:
            self.effective.pop(job.row, None)
        else:
            self.effective[job.row] = (job.nodes, job.limit_s)

    def blame(self, fault: str) -> None:
        """Note what the advisor did wrong, if it is the first time."""
        self.first_error = self.first_error or fault

    def describe(self) -> dict[str, str | int | bool]:
        """Return what the advisor did wrong, as plain data for provenance."""
        return {
            "refused": self.codes.count(_CODE["kept-error"]),
            "errors_of_hooks": self.errors,
            "first_error": self.first_error,
            "late": self.late,
            "requeued": self.requeued,
            "reproducible": not self.has_budget,
        }

    def latency(self) -> dict[str, float]:
        """Return how long answers took by the wall clock, in seconds: median, 99th percentile and the longest."""
        if not self.wall_s:
            return {}
        p50_s, p99_s, most_s = np.percentile(np.frombuffer(self.wall_s), (50, 99, 100)).tolist()
        return {"advice_p50_s": p50_s, "advice_p99_s": p99_s, "advice_max_s": most_s}
