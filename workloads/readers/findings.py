"""What reading the text of a log found wrong, line by line, before any rule about jobs looks at it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from hpcsim.ingest import EXAMPLES_KEPT, Effect, Example


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a reader: its name, what it does to a row, the field it looks at, and why."""

    name: str
    effect: Effect
    field: str
    remark: str


@dataclass(slots=True)
class Finding:
    """The lines that one rule touched, and the first few of them before and after."""

    rule: Rule
    lines: array[int] = field(default_factory=lambda: array("q"))
    examples: list[Example] = field(default_factory=list)


class Findings:
    """Findings by rule, in the order in which the rules first acted."""

    def __init__(self) -> None:
        self._by_rule: dict[Rule, Finding] = {}

    def add(self, rule: Rule, line: int, before: str, after: str) -> None:
        """Record that *rule* touched one line."""
        finding = self._by_rule.setdefault(rule, Finding(rule))
        finding.lines.append(line)
        if len(finding.examples) < EXAMPLES_KEPT:
            finding.examples.append(Example(line, before, after))

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._by_rule.values())

    def refused_lines(self) -> set[int]:
        """Return the lines that became no row."""
        return {line for finding in self if finding.rule.effect == "refused" for line in finding.lines}
