"""Workloads as Arrow files that every worker maps into memory: read once, however many runs share them.

Numbers are not copied when a file is opened: all processes of a machine share its pages. What is no
column (header, provenance, ledger) stands as JSON in the schema's metadata.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import ExperimentError, WorkloadError
from hpcsim.ingest import Example, IngestLedger, RuleCount
from hpcsim.results.storage import plain
from hpcsim.workload import Workload

FORMAT = b"hpcsim-workload-1"
_SEQUENCES = {"tuple": tuple, "frozenset": frozenset}


@dataclass(frozen=True, slots=True)
class StoredWorkload:
    """What is known of a stored workload without its columns; *machine_nodes* is None where it was guessed."""

    path: str
    sha256: str
    jobs: int
    counted: str
    machine_nodes: int | None
    warnings: tuple[str, ...] = ()


def store(workload: Workload, path: Path, warnings: tuple[str, ...] = ()) -> StoredWorkload:
    """Write *workload* to *path*, whole or not at all.

    Raises:
        WorkloadError: a column holds what has no form in the file.
        OSError: the file cannot be written.
    """
    import pyarrow as pa

    columns, dtypes = {}, {}
    for name, column in workload.columns.items():
        columns[name], dtypes[name] = _to_arrow(name, column)
    facts = {
        "sha256": workload.sha256(),
        "jobs": len(workload),
        "counted": workload.counted,
        "machine_nodes": None if workload.ledger.machine_is_guessed else workload.machine_nodes,
        "warnings": warnings,
    }
    rest = {
        "machine_nodes": workload.machine_nodes,
        "counted": workload.counted,
        "limits_are_run_times": workload.limits_are_run_times,
        "header": workload.header,
        "provenance": plain(workload.provenance),
        "ledger": asdict(workload.ledger),
    }
    texts = {b"facts": facts, b"rest": rest, b"dtypes": dtypes}
    metadata = {b"format": FORMAT} | {key: json.dumps(value).encode() for key, value in texts.items()}
    table = pa.table(columns).replace_schema_metadata(metadata)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.draft")
    try:
        with pa.OSFile(str(draft), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return _facts(path, facts)


def stored(path: Path) -> StoredWorkload:
    """Return what is known of the workload in *path*.

    Raises:
        ExperimentError: it is missing, truncated or of something else.
    """
    return _facts(path, json.loads(_open(path).schema.metadata[b"facts"]))


def load(path: Path) -> Workload:
    """Return the workload in *path*; its number columns are views of the file, and read-only.

    Raises:
        ExperimentError: it is missing, truncated or of something else.
    """
    table = _open(path)
    rest, dtypes = (json.loads(table.schema.metadata[key]) for key in (b"rest", b"dtypes"))
    columns = {name: _from_arrow(table.column(name), dtypes[name]) for name in table.column_names}
    return Workload(columns, **rest | {"ledger": _ledger(rest["ledger"])})


def _open(path: Path) -> Any:
    import pyarrow as pa

    try:
        table = pa.ipc.open_file(pa.memory_map(os.fspath(path))).read_all()
    except (pa.ArrowException, OSError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ExperimentError(
            f"Cannot read the stored workload {path}: {reason}.", "Delete it; a resumed sweep makes it again."
        ) from error
    if (table.schema.metadata or {}).get(b"format") != FORMAT:
        raise ExperimentError(f"{path} is no workload that hpcsim stored.", "Move it away, then resume the sweep.")
    return table


def _to_arrow(name: str, column: NDArray[Any]) -> tuple[Any, str]:
    """Return a column as Arrow array, and what it was: a dtype or the kind of its entries."""
    import pyarrow as pa

    if column.dtype.kind in "biuf":
        return pa.array(np.ascontiguousarray(column)), column.dtype.str
    if column.dtype.kind == "U":
        return pa.array(column.tolist(), pa.string()), column.dtype.str
    kinds = {type(value).__name__ for value in column.tolist()} - {"NoneType"}
    kind = kinds.pop() if len(kinds) == 1 else "mixed"
    try:
        if kind in _SEQUENCES:  # sorted, for a set has no order of its own that two processes share
            order = sorted if kind == "frozenset" else list
            return pa.array([None if value is None else order(value) for value in column]), kind
        if kind in {"str", "int", "float", "bool"}:
            return pa.array(column.tolist()), "object"
        return pa.array([json.dumps(value) for value in column.tolist()], pa.string()), "json"
    except (TypeError, ValueError, pa.ArrowException) as error:
        cause = f"Column '{name}' cannot be stored: {error}."
        raise WorkloadError(cause, "Give it one kind of value.", field=name) from error


def _from_arrow(column: Any, dtype: str) -> NDArray[Any]:
    """Return what `_to_arrow` was given."""
    if dtype in {"object", "json", *_SEQUENCES}:
        values = column.to_pylist()
        if dtype == "json":
            values = [json.loads(value) for value in values]
        elif dtype in _SEQUENCES:
            values = [None if value is None else _SEQUENCES[dtype](value) for value in values]
        entries = np.empty(len(values), dtype=object)
        entries[:] = values
        return entries
    if np.dtype(dtype).kind == "U":
        return np.array(column.to_pylist(), dtype=dtype)
    if column.num_chunks == 1 and dtype != np.dtype(bool).str:
        array: NDArray[Any] = column.chunk(0).to_numpy(zero_copy_only=True)
        return array
    return np.asarray(column.to_numpy(), dtype=dtype)


def _ledger(record: dict[str, Any]) -> IngestLedger:
    rules = [
        replace(RuleCount(**rule), examples=[Example(**example) for example in rule["examples"]])
        for rule in record["rules"]
    ]
    return IngestLedger(**record | {"rules": rules})


def _facts(path: Path, facts: dict[str, Any]) -> StoredWorkload:
    return StoredWorkload(os.fspath(path), **facts | {"warnings": tuple(facts["warnings"])})
