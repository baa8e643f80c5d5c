"""A workload: what users asked for, what then happened by the log, and where it all came from.

Columns are NumPy arrays, narrow, and absent where the log has nothing. A `Job` is built from a row
only at its arrival. `run_s` and the other columns of `HIDDEN` are the future: the engine reads
them, policies and advisors never do.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import repeat
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.errors import WorkloadError, closest
from hpcsim.ingest import IngestLedger
from hpcsim.job import Job, JobState, builder_of
from hpcsim.node_ids import MOST_NODES

if TYPE_CHECKING:
    import pandas as pd

Column = NDArray[Any]

REQUIRED = ("job_id", "submit_s", "run_s", "limit_s", "nodes")
"""Columns that every workload has."""

HIDDEN = (
    *("run_s", "end_state", "recorded_state", "recorded_wait_s", "recorded_nodes", "cpu_s", "used_memory_bytes"),
    *("recorded_exit_status", "recorded_energy_j"),
    # power of the whole job at the count it asks for: measured, where the log has it
    *("mean_power_w", "max_power_w", "power_series_w", "power_step_s", "efficiency"),
    # what the job would do at other node counts, see hpcsim.scaling
    *("scaling_law", "scaling_a", "scaling_b", "scaling_table", "idle_w", "peak_w", "waiting_share"),
)
"""Columns that only the engine, metrics and validation may read: they were not known at submission."""

UNKNOWABLE = frozenset({"user_id", "group_id", "app_id", "account", "qos", "name", "power_w"})
"""Fields of a job in which -1 and NaN say "not known"; in all others they are values like any other."""

SAMPLE_S = 20.0
"""Seconds between the samples of a power series, where there is no column ``power_step_s``."""

END_STATES = (JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED)
"""How a job that is not killed ends by itself; column ``end_state`` holds indices into this."""


@dataclass(eq=False)
class Workload:
    """Columns of jobs in the log's order, with provenance and the reader's ledger.

    Attributes:
        columns: name -> array of one length. Required: ``job_id``, ``submit_s``, ``run_s``,
            ``limit_s`` (``inf``: none), ``nodes``. A field of `Job` of the same name fills that
            field; any other column is carried along and written back by writers.
        machine_nodes: nodes (or processors) of the machine by the log itself, or None.
        counted: what ``nodes`` counts, ``"nodes"`` or ``"processors"``.
        limits_are_run_times: the log had no limits, so the reader set them to the run times.
        header: the file's own header, key -> values in order.
        provenance: source, hash, reader, options and transformations, in order.
        ledger: what the reader kept, changed, refused.
    """

    columns: dict[str, Column]
    machine_nodes: int | None = None
    counted: str = "nodes"
    limits_are_run_times: bool = False
    header: dict[str, list[str]] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    ledger: IngestLedger = field(default_factory=IngestLedger)

    def __post_init__(self) -> None:
        missing = [name for name in REQUIRED if name not in self.columns]
        if missing:
            raise WorkloadError(f"The workload has no column '{missing[0]}'.", f"Give all of {', '.join(REQUIRED)}.")
        for name, column in self.columns.items():
            _check_shape(name, column)
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise WorkloadError(f"The workload's columns differ in length: {lengths}.", "Give each job every column.")
        _check_values(self.columns)

    @classmethod
    def of(
        cls,
        *,
        submit_s: ArrayLike,
        run_s: ArrayLike,
        nodes: ArrayLike,
        limit_s: ArrayLike | None = None,
        job_id: ArrayLike | None = None,
        **columns: Any,
    ) -> Self:
        """Return a workload from sequences, one entry a job; without limits they are the run times."""
        run = _times("run_s", run_s)
        count = len(run)
        return cls(
            {
                "job_id": np.arange(1, count + 1) if job_id is None else _column("job_id", job_id),
                "submit_s": _times("submit_s", submit_s),
                "run_s": run,
                "limit_s": run.copy() if limit_s is None else _times("limit_s", limit_s),
                "nodes": _column("nodes", nodes) if count else np.zeros(0, dtype=np.int64),
            }
            | {name: _column(name, values) for name, values in columns.items()},
            limits_are_run_times=limit_s is None,
            ledger=IngestLedger(source="in memory", format="arrays", rows=count),
        )

    def __len__(self) -> int:
        return len(self.columns["submit_s"])

    def __getattr__(self, name: str) -> Column:
        if name.startswith("_") or name == "columns":
            raise AttributeError(name)
        try:
            return self.columns[name]
        except KeyError:
            hint = closest(name, self.columns)
            raise AttributeError(f"the workload has no column or attribute '{name}'.{hint}") from None

    def arrival_order(self) -> NDArray[np.int64]:
        """Return row numbers by submit time, ties in the log's order."""
        return np.argsort(self.columns["submit_s"], kind="stable")

    def job(self, row: int) -> Job:
        """Return the job of one row."""
        return next(iter(self.jobs(np.array([row]))))

    def jobs(self, rows: NDArray[np.int64] | None = None) -> Iterable[Job]:
        """Build the jobs of *rows* (default: all, in the log's order)."""
        rows = np.arange(len(self)) if rows is None else rows
        filled = [field for field in fields(Job)[1:] if field.name != "requested"]
        while filled[-1].name not in self.columns:
            filled.pop()
        values = (
            self.known(field.name, rows) if field.name in self.columns else repeat(field.default) for field in filled
        )
        return map(builder_of(Job), rows.tolist(), *values)

    def known(self, name: str, rows: Any = slice(None)) -> list[Any]:
        """Return what one field of the jobs of *rows* holds, None where it is not known; empty without the column."""
        if name not in self.columns:
            return []
        column = self.columns[name][rows]
        return _known(column) if name in UNKNOWABLE else column.tolist()

    def select(self, rows: NDArray[Any], note: str) -> Self:
        """Return the workload of some rows (indices or a mask); *note* goes into the provenance."""
        steps = [*self.provenance.get("transformations", []), note]
        return type(self)(
            {name: column[rows] for name, column in self.columns.items()},
            machine_nodes=self.machine_nodes,
            counted=self.counted,
            limits_are_run_times=self.limits_are_run_times,
            header=self.header,
            provenance=self.provenance | {"transformations": steps},
            ledger=self.ledger,
        )

    def head(self, count: int) -> Self:
        """Return the first *count* jobs in the log's order."""
        return self.select(np.arange(min(count, len(self))), f"first {count} jobs")

    def offered_load(self, nodes: int) -> float:
        """Return sum(nodes x run time) / (machine nodes x span of submits); NaN without a span."""
        if not len(self):
            return math.nan
        span = float(self.columns["submit_s"].max() - self.columns["submit_s"].min())
        area = float((self.columns["nodes"].astype(float) * self.columns["run_s"]).sum())
        return area / (nodes * span) if span > 0 else math.nan

    def sha256(self) -> str:
        """Return a hash of all columns, names and types included."""
        digest = hashlib.sha256()
        for name in sorted(self.columns):
            column = self.columns[name]
            digest.update(f"{name}:{column.dtype.str}:{len(column)};".encode())
            digest.update(repr(_ordered(column)).encode() if column.dtype == object else column.tobytes())
        return digest.hexdigest()

    def to_frame(self) -> pd.DataFrame:
        """Return the columns as a pandas DataFrame, one row a job."""
        import pandas as pd

        return pd.DataFrame(self.columns)


def _known(column: Column) -> list[Any]:
    """Return the values of one of the fields of `UNKNOWABLE`, None where -1 or NaN says "not known"."""
    values: list[Any] = column.tolist()
    if column.dtype == object or not bool(np.any((column == -1) | (column != column))):  # noqa: PLR0124 - NaN alone differs
        return values
    return [None if value == -1 or value != value else value for value in values]  # noqa: PLR0124 - likewise


def _ordered(column: Column) -> list[Any]:
    """Return the values of a column of objects; sets as sorted lists, for their own order differs by process."""
    return [sorted(value) if isinstance(value, frozenset | set) else value for value in column.tolist()]


def _times(name: str, values: ArrayLike) -> Column:
    """Return times as int64 where all are integral, else float64, so that integral times stay exact."""
    column = _column(name, values)
    if column.dtype.kind in "iu":
        return column.astype(np.int64, copy=False)
    if len(column) and column.dtype.kind != "f":
        raise WorkloadError(f"The workload's column '{name}' holds no numbers.", "Give seconds.", field=name)
    column = column.astype(np.float64, copy=False)
    exact = len(column) > 0 and bool(np.all(np.isfinite(column) & (np.abs(column) < 2**53)))
    return column.astype(np.int64) if exact and bool(np.all(column == np.floor(column))) else column


def _check_shape(name: str, column: Any) -> None:
    """Refuse what is no array with one entry a job."""
    if not isinstance(column, np.ndarray) or column.ndim != 1:
        raise WorkloadError(
            f"The workload's column '{name}' is no one-dimensional array.", "Give one entry a job.", field=name
        )


def _column(name: str, values: Any) -> Column:
    """Return an array of one dimension; ragged entries such as tuples become objects."""
    if hasattr(values, "__array__"):
        column = np.asarray(values)
    elif isinstance(values, Iterable) and not isinstance(values, str | bytes):
        column = _array(list(values))
    else:
        column = values
    _check_shape(name, column)
    return column


def _array(values: list[Any]) -> Column:
    if any(isinstance(value, tuple | list | set | frozenset) for value in values):
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column
    return np.asarray(values)


def _check_values(columns: Mapping[str, Column]) -> None:
    """Refuse values that no reader may let through: the engine relies on them."""
    rules: Sequence[tuple[str, Callable[[Column], Column], str]] = (
        ("submit_s", np.isfinite, "a submit time that is not a number"),
        ("run_s", lambda run: np.isfinite(run) & (run >= 0), "a run time that is negative or not a number"),
        ("limit_s", lambda limit: limit >= 0, "a limit that is negative or not a number"),
        ("nodes", lambda nodes: nodes >= 1, "a node count below 1"),
        ("nodes", lambda nodes: nodes <= MOST_NODES, f"a node count above {MOST_NODES}"),
    )
    for name in ("submit_s", "run_s", "limit_s"):
        if columns[name].dtype.kind not in "iuf":
            raise WorkloadError(f"The workload's column '{name}' holds no numbers.", "Give seconds.", field=name)
    ends = columns.get("end_state", np.zeros(0, dtype=np.int8))
    if len(ends) and (ends.dtype.kind not in "iu" or ends.min() < 0 or ends.max() >= len(END_STATES)):
        states = ", ".join(f"{index} ({state})" for index, state in enumerate(END_STATES))
        raise WorkloadError("The workload has an unknown end state.", f"Known: {states}.", field="end_state")
    if columns["nodes"].dtype.kind not in "iu":
        raise WorkloadError("Node counts must be whole numbers.", "Round them first.", field="nodes")
    for name, holds, fault in rules:
        bad = np.flatnonzero(~holds(columns[name]))
        if len(bad):
            job_id, value = columns["job_id"][bad[0]], columns[name][bad[0]]
            raise WorkloadError(f"Job {job_id} has {fault} ({value}).", "Drop or mend the job.", field=name)
