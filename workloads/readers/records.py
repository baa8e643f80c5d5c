"""Records of finished jobs as schedulers and data sets write them, in our units, before any rule looks at them.

A reader of one format turns its text into `Records`; what then makes a job of a record, and what is
mended or refused, is the same for all of them (`hpcsim.workloads.readers.record_rules`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.workloads.readers.findings import Findings, Rule

Column = NDArray[Any]
Mask = NDArray[np.bool_]


class Ending(IntEnum):
    """How a record says that its job ended, as far as a simulation cares."""

    COMPLETED = 0
    FAILED = 1
    CANCELLED = 2
    RUNNING = 3
    WAITING = 4
    UNKNOWN = 5


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of few distinct values: `values[codes[row]]`; code -1 is "not known"."""

    codes: NDArray[np.int32]
    values: list[Any]

    @classmethod
    def of(cls, items: Iterable[Any]) -> Coded:
        """Return *items* as codes; None is "not known"."""
        known: dict[Any, int] = {}
        codes = [-1 if item is None else known.setdefault(item, len(known)) for item in items]
        return cls(np.array(codes, dtype=np.int32), list(known))

    def decoded(self, rows: Any = slice(None)) -> Column:
        """Return the values of *rows* as an array of objects, None where not known."""
        table = np.empty(len(self.values) + 1, dtype=object)
        table[:-1] = self.values
        return table[self.codes[rows]]  # type: ignore[no-any-return]

    def mapped(self, meaning: Iterable[Any], unknown: Any, dtype: Any) -> Column:
        """Return one value of *meaning* a row, in the order of `values`; *unknown* where not known."""
        return np.array([*meaning, unknown], dtype=dtype)[self.codes]


@dataclass(slots=True)
class Records:
    """One entry a record; all arrays have one length.

    Attributes:
        lines: where each record starts in the file, from 1 (row numbers in tables).
        job_id: numbers or texts.
        submit_s, start_s, end_s: epoch seconds or the log's own; NaN where not known.
        run_s: occupancy; by default end less start.
        limit_s: requested time; ``inf`` none, NaN not known.
        nodes, processors: whole job; 0 where not known.
        ending: values of `Ending`.
        more: further columns of the workload, ready to be carried along.
        coded: columns of few values (user, account, partitions, state ...), decoded for kept rows only.
        findings: lines that became no record, and what was mended on the way.
        refusals: rules of the format itself, each with the rows that it refuses and the value it saw.
        changes: likewise rules that changed values, with before and after; noted ones too.
        totals: rules about lines that are no records (steps, headers): rule, how many, the first.
        titles: our names to the format's own, for messages.
    """

    lines: NDArray[np.int64]
    job_id: Column
    submit_s: Column
    start_s: Column
    end_s: Column
    limit_s: Column
    nodes: Column
    processors: Column
    ending: Column
    run_s: Column | None = None
    more: dict[str, Column] = field(default_factory=dict)
    coded: dict[str, Coded] = field(default_factory=dict)
    findings: Findings = field(default_factory=Findings)
    refusals: list[tuple[Rule, Mask, Column | str]] = field(default_factory=list)
    changes: list[tuple[Rule, Mask, Column | str, Column | str]] = field(default_factory=list)
    totals: list[tuple[Rule, int, int, str]] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.run_s is None:
            self.run_s = self.end_s - self.start_s

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def occupancy_s(self) -> Column:
        """Seconds from start to end; NaN where not known."""
        assert self.run_s is not None
        return self.run_s

    def rule(self, name: str, effect: Any, column: str, remark: str) -> Rule:
        """Return a rule about one of our columns, under the format's own title."""
        return Rule(name, effect, self.titles.get(column, column), remark)
