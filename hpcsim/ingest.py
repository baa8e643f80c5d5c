"""What a reader did to a log: the ingest ledger, and the three ways of dealing with a fault.

Every row is kept, changed or refused. The ledger says which, by which rule, with the values before
and after for the first few, and what share of the log's node-seconds was touched. Nothing is
rewritten silently.
"""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, dataclass
from typing import Any, Literal

Mode = Literal["repair", "strict", "quarantine"]
Effect = Literal["changed", "refused", "noted"]
EXAMPLES_KEPT = 5
GUESSED_MACHINE = "machine-from-widest-job"
"""Rule of readers: the log names no machine, so its widest job stands in for one."""


@dataclass(frozen=True, slots=True)
class Example:
    """One row that a rule touched: its line in the file, and the value before and after."""

    line: int
    before: str
    after: str


@dataclass(slots=True)
class RuleCount:
    """How often one rule acted. ``node_s`` are the node-seconds (nodes x run time) of those rows."""

    rule: str
    effect: Effect
    field: str
    remark: str
    rows: int = 0
    node_s: float = 0.0
    examples: list[Example] = dataclasses.field(default_factory=list)


@dataclass(slots=True)
class IngestLedger:
    """The account of one file: `rows` = rows kept as they stood + `changed` + `refused`."""

    source: str = ""
    format: str = ""
    mode: Mode = "repair"
    rows: int = 0
    changed: int = 0
    refused: int = 0
    node_s: float = 0.0
    rules: list[RuleCount] = dataclasses.field(default_factory=list)

    @property
    def kept(self) -> int:
        """Rows that became jobs, changed or not."""
        return self.rows - self.refused

    @property
    def touched_share(self) -> float:
        """Share of the log's node-seconds in rows that were changed or refused (0 to 1).

        A row that two rules changed is counted by each, so that the share is an upper bound.
        """
        touched = sum(rule.node_s for rule in self.rules if rule.effect != "noted")
        return min(1.0, touched / self.node_s) if self.node_s > 0 else 0.0

    @property
    def machine_is_guessed(self) -> bool:
        """Whether the size of the machine is only that of the widest job."""
        return any(rule.rule == GUESSED_MACHINE for rule in self.rules)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self) | {"kept": self.kept, "touched_share": self.touched_share}
