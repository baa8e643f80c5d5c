"""Applies rules to the rows of a log, and keeps the account of it: the ingest ledger.

A reader says which rows a rule touches; the assessment counts them, takes a few examples, weighs
them in node-seconds, and in strict mode raises the fault that comes first in the file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.ingest import EXAMPLES_KEPT, Example, IngestLedger, RuleCount
from hpcsim.workloads.readers.findings import Finding, Findings, Rule

Mask = NDArray[np.bool_]
Values = NDArray[Any] | str


class Assessment:
    """The rows of one log under its reader's rules.

    Attributes:
        refused, changed: masks of rows so far.
        rules: what each rule did, in order.
    """

    def __init__(self, lines: NDArray[np.int64], node_s: NDArray[np.float64], findings: Findings) -> None:
        self.refused: Mask = np.zeros(len(lines), dtype=bool)
        self.changed: Mask = np.zeros(len(lines), dtype=bool)
        self.rules: list[RuleCount] = []
        self._lines = lines
        self._node_s = node_s
        self._first_fault: tuple[int, RuleCount] | None = None
        self._refused_without_row = 0
        self._refusals: list[tuple[str, NDArray[np.int64], Values]] = []
        for finding in findings:
            self._take(finding)

    @property
    def refused_rows(self) -> int:
        """Lines that became no job, those that could not be read included."""
        return self._refused_without_row + int(np.count_nonzero(self.refused))

    def apply(self, rule: Rule, touched: Mask, before: Values, after: Values) -> None:
        """Apply *rule* to the *touched* rows that are not refused yet; *before* and *after* show what it did."""
        rows = np.flatnonzero(touched & ~self.refused)
        if not len(rows):
            return
        examples = [
            Example(int(self._lines[row]), _shown(before, row), _shown(after, row)) for row in rows[:EXAMPLES_KEPT]
        ]
        if rule.effect == "refused":
            self.refused[rows] = True
            values = before if isinstance(before, str) else before[rows]
            self._refusals.append((f"{rule.name}, {rule.field}", self._lines[rows], values))
        elif rule.effect == "changed":
            self.changed[rows] = True
        self._count(rule, len(rows), float(self._node_s[rows].sum()), examples)

    def note(self, rule: Rule, before: str, after: str, *, rows: int = 0, line: int = 0) -> None:
        """Record something about the log as a whole, or about *rows* lines that are no rows, the first at *line*."""
        self._count(rule, rows, 0.0, [Example(line, before, after)])

    def raise_first_fault(self, path: str) -> None:
        """Raise the first line that was changed or refused, if there is one.

        Raises:
            WorkloadError: with path, line and field.
        """
        if self._first_fault is None:
            return
        line, rule = self._first_fault
        before = next(example.before for example in rule.examples if example.line == line)
        cause = f"{path}, line {line}: {rule.field} is {before!r} ({rule.rule}: {rule.remark})."
        remedy = "Mend the line, or read with mode='repair' or 'quarantine'."
        raise WorkloadError(cause, remedy, path=path, line=line, field=rule.field)

    def reasons(self) -> dict[int, str]:
        """Return why each refused line was refused, by line number, as ``rule, field: value``."""
        return {
            int(line): f"{reason}: {_shown(values, place)}"
            for reason, lines, values in self._refusals
            for place, line in enumerate(lines)
        }

    def ledger(self, source: str, file_format: str, mode: Any) -> IngestLedger:
        """Return the account of all rows."""
        return IngestLedger(
            source=source,
            format=file_format,
            mode=mode,
            rows=len(self._lines) + self._refused_without_row,
            changed=int(np.count_nonzero(self.changed & ~self.refused)),
            refused=self.refused_rows,
            node_s=float(self._node_s.sum()),
            rules=self.rules,
        )

    def _take(self, finding: Finding) -> None:
        lines = np.array(finding.lines, dtype=np.int64)
        node_s = 0.0
        if finding.rule.effect == "refused":
            self._refused_without_row += len(lines)
            self._refusals.append((finding.rule.name, lines, finding.rule.remark))
        else:
            rows = np.searchsorted(self._lines, np.unique(lines))
            node_s = float(self._node_s[rows].sum())
            self.changed[rows] |= finding.rule.effect == "changed"
        self._count(finding.rule, len(lines), node_s, finding.examples)

    def _count(self, rule: Rule, rows: int, node_s: float, examples: list[Example]) -> None:
        count = RuleCount(rule.name, rule.effect, rule.field, rule.remark, rows, node_s, examples)
        self.rules.append(count)
        if rule.effect != "noted" and (self._first_fault is None or examples[0].line < self._first_fault[0]):
            self._first_fault = (examples[0].line, count)


def _shown(values: Values, row: int) -> str:
    if isinstance(values, str):
        return values
    value = values[row]
    if isinstance(value, np.floating):
        return "not known" if np.isnan(value) else f"{value:.0f}" if value == np.floor(value) else str(value)
    return str(value)
