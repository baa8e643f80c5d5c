"""Profiles: which column of a table is what, and in which unit. A table without one is never guessed at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hpcsim.errors import WorkloadError, closest
from hpcsim.workloads.readers.findings import Findings
from hpcsim.workloads.readers.records import Coded, Column, Ending, Records
from hpcsim.workloads.readers.sacct_values import ENDINGS
from hpcsim.workloads.readers.table_columns import ids, listed, numbers, seconds, texts
from hpcsim.workloads.readers.tables import Batch, batches, check_columns, column_names

TIMES = ("submit_s", "start_s", "end_s")
AMOUNTS = ("run_s", "limit_s", "recorded_wait_s", "nodes", "processors", "cores", "gpus", "memory_bytes")
PER_NODE = ("cores_per_node", "gpus_per_node", "memory_bytes_per_node")
MEASURED = ("recorded_energy_j", "mean_power_w", "max_power_w")
TEXTS = ("user_id", "group_id", "account", "qos", "name", "app_id")
KNOWN = ("job_id", *TIMES, *AMOUNTS, *PER_NODE, *MEASURED, *TEXTS, "partitions", "state")
"""What a column can be to us. Times are instants, `cores`, `gpus` and `memory_bytes` those of the whole job."""

SWF_STATES = {"0": Ending.FAILED, "1": Ending.COMPLETED, "5": Ending.CANCELLED}
_MANY = frozenset({*AMOUNTS, *MEASURED, *PER_NODE})


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProfile:
    """How to read one kind of table.

    Attributes:
        name: of the format, for messages and provenance.
        columns: ours -> theirs. Those of `optional` may be missing, all others are needed.
        optional: of ours.
        factors: what to multiply a column of ours with, to get our unit.
        zone: of times that name none.
        states: their texts -> `Ending`; others are not known.
        carried: their columns to keep under their own names.
        extra: further columns to read, for the reader itself.
    """

    name: str
    columns: Mapping[str, str]
    optional: frozenset[str] = frozenset()
    factors: Mapping[str, float] = field(default_factory=dict)
    zone: str = "UTC"
    states: Mapping[str, Ending] = field(default_factory=lambda: {**SWF_STATES, **ENDINGS})
    carried: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (*self.columns, *self.factors):
            if name not in KNOWN:
                raise WorkloadError(
                    f"No job has a '{name}'.{closest(name, KNOWN)}", f"Columns can be: {', '.join(KNOWN)}.", field=name
                )
        for name, factor in self.factors.items():
            if name not in _MANY or not _is_factor(factor):
                raise WorkloadError(
                    f"The factor of '{name}' is {factor!r}.", f"Give a number above 0 for one of {sorted(_MANY)}."
                )


def read_records(
    path: Path,
    profile: TableProfile,
    findings: Findings,
    *,
    limit_rows: int | None = None,
    each_batch: Callable[[Batch], dict[str, Column]] | None = None,
    names: Sequence[str] | None = None,
) -> Records:
    """Return the records of a table; *each_batch* computes further columns from a batch's raw ones.

    Raises:
        WorkloadError: it cannot be read, or lacks a column that is needed.
    """
    present = list(names) if names is not None else column_names(path)
    chosen = {
        ours: theirs for ours, theirs in profile.columns.items() if theirs in present or ours not in profile.optional
    }
    check_columns(path, [*chosen.values(), *profile.carried, *profile.extra], present)
    wanted = list(dict.fromkeys([*chosen.values(), *profile.carried, *profile.extra]))
    parts: list[dict[str, Any]] = []
    rows = 0
    for batch in batches(path, wanted, findings, names=names):
        parts.append(_values(batch, chosen, profile) | (each_batch(batch) if each_batch else {}))
        rows += len(batch)
        if limit_rows is not None and rows >= limit_rows:
            break
    columns = {name: _joined([part[name] for part in parts], limit_rows) for name in parts[0]} if parts else {}
    return _records(columns, profile, chosen, findings)


def _values(batch: Batch, chosen: Mapping[str, str], profile: TableProfile) -> dict[str, Any]:
    values: dict[str, Any] = {"lines": np.array(batch.lines, dtype=np.int64)}
    for ours, theirs in chosen.items():
        array = batch.columns[theirs]
        if ours == "job_id":
            values[ours] = ids(array)
        elif ours in TIMES:
            values[ours] = seconds(array, profile.zone)
        elif ours in _MANY:
            with np.errstate(over="ignore"):
                values[ours] = numbers(array) * profile.factors.get(ours, 1)
        elif ours == "partitions":
            values[ours] = _partitions(array)
        else:
            values[ours] = texts(array)
    return values | {f"carried {theirs}": _carried(batch.columns[theirs]) for theirs in profile.carried}


def _partitions(array: Any) -> Coded:
    """Return partitions as tuples: of a list, or of one text."""
    import pyarrow as pa

    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        return Coded.of([tuple(map(str, value)) if value else None for value in listed(array)])
    coded = texts(array)
    return Coded(coded.codes, [tuple(filter(None, str(value).split(","))) for value in coded.values])


def _carried(array: Any) -> Any:
    column = numbers(array)
    return texts(array) if np.isnan(column).all() else column


def _joined(parts: list[Any], limit: int | None) -> Any:
    """Return the pieces of one column as one, its first *limit* rows."""
    if isinstance(parts[0], Coded):
        return Coded.of([value for part in parts for value in part.decoded().tolist()][:limit])
    if any(part.dtype == object for part in parts):
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)[:limit]


def _records(columns: dict[str, Any], profile: TableProfile, chosen: Mapping[str, str], findings: Findings) -> Records:
    count = len(columns.get("lines", ()))
    unknown = np.full(count, np.nan)
    times = {name: columns.get(name, unknown).copy() for name in TIMES}
    run = columns.get("run_s", times["end_s"] - times["start_s"])
    if "start_s" not in columns and "end_s" in columns:
        times["start_s"] = times["end_s"] - run
    if "start_s" not in columns and "end_s" not in columns and "recorded_wait_s" in columns:
        wait = columns["recorded_wait_s"]
        times["start_s"] = times["submit_s"] + np.where(wait >= 0, wait, np.nan)
        times["end_s"] = times["start_s"] + run
    if "submit_s" not in columns:
        times["submit_s"] = times["start_s"].copy()
    nodes, processors = _counts(columns, unknown)
    state = columns.get("state", Coded.of([None] * count))
    meaning = [profile.states.get(str(value).strip().upper(), Ending.UNKNOWN) for value in state.values]
    records = Records(
        lines=columns.get("lines", np.empty(0, dtype=np.int64)),
        job_id=columns.get("job_id", np.arange(1, count + 1)),
        **times,
        run_s=run,
        limit_s=columns.get("limit_s", unknown),
        nodes=nodes,
        processors=processors,
        ending=state.mapped(meaning, Ending.UNKNOWN, np.int8),
        findings=findings,
        titles=dict(chosen),
        coded={name: columns[name] for name in (*TEXTS, "partitions") if name in columns},
    )
    if "state" in columns:
        records.coded["recorded_state"] = state
    _add_sizes(records, columns)
    for name, column in columns.items():
        if name.startswith("carried "):
            target: dict[str, Any] = records.coded if isinstance(column, Coded) else records.more
            target[name.removeprefix("carried ")] = column
        elif name in (*MEASURED, "power_series_w"):
            records.more[name] = column
    return records


def _counts(columns: Mapping[str, Any], unknown: Column) -> tuple[Column, Column]:
    """Return nodes and processors; either stands in for the other where the table has only one of them."""
    nodes = columns.get("nodes", columns.get("processors", unknown))
    processors = columns.get("processors", columns.get("cores", nodes))
    return whole(nodes), whole(processors)


def _add_sizes(records: Records, columns: Mapping[str, Any]) -> None:
    nodes = np.maximum(records.nodes, 1)
    for total, per_node in (("cores", PER_NODE[0]), ("gpus", PER_NODE[1]), ("memory_bytes", PER_NODE[2])):
        if per_node in columns:
            records.more[per_node] = whole(columns[per_node])
        elif total in columns:
            records.more[per_node] = whole(columns[total] / nodes)


def whole(counts: Column) -> Column:
    """Return counts rounded up, 0 where not known; those beyond any machine stay so."""
    bounded = np.minimum(np.nan_to_num(np.asarray(counts, dtype=np.float64), nan=0.0, posinf=2.0**62), 2.0**62)
    return np.ceil(np.maximum(bounded, 0.0)).astype(np.int64)


def _is_factor(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")
