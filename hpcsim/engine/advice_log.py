"""What advice became of the jobs of a run: a reason for each, and the counts and limits that it changed."""

from __future__ import annotations

from hpcsim.advisor import REASONS, Reason
from hpcsim.job import Job

_CODE = {reason: code for code, reason in enumerate(REASONS)}
NOT_ASKED = 255
"""Code of a job that has not been submitted."""


class AdviceLog:
    """Columns by job row.

    Attributes:
        codes: one a row: an index into `hpcsim.advisor.REASONS`, or `NOT_ASKED`.
        effective: row -> (nodes, limit in s) of the jobs that advice changed.
        first_error: what the advisor did wrong the first time, or the empty string.
        errors: how often its hooks raised apart from its advice.
    """

    def __init__(self, rows: int) -> None:
        self.codes = bytearray([NOT_ASKED]) * rows
        self.effective: dict[int, tuple[int, float]] = {}
        self.first_error = ""
        self.errors = 0

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

    def describe(self) -> dict[str, str | int]:
        """Return what the advisor did wrong, as plain data for provenance."""
        refused = self.codes.count(_CODE["kept-error"])
        return {"refused": refused, "errors_of_hooks": self.errors, "first_error": self.first_error}
