"""Keep a result in a folder: whole or not at all, the same bytes for the same result, and never over foreign files."""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsim.errors import ResultError
from hpcsim.ingest import IngestLedger
from hpcsim.results.advised import JOB_ADVICE_COLUMNS
from hpcsim.results.energy import JOB_ENERGY_COLUMNS, POWER_COLUMNS
from hpcsim.results.provenance import PROVENANCE_KEYS
from hpcsim.results.summary import SUMMARY_KEYS
from hpcsim.results.tables import ATTEMPT_COLUMNS, JOB_COLUMNS, PROMISE_COLUMNS, TIMELINE_COLUMNS
from hpcsim.results.wait_recorder import WAIT_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

TABLES = {
    "jobs": JOB_COLUMNS,
    "attempts": ATTEMPT_COLUMNS,
    "timeline": TIMELINE_COLUMNS,
    "promises": PROMISE_COLUMNS,
}
"""Tables of a result, each in ``<name>.parquet``, and their columns."""

_FURTHER = {"jobs": (JOB_ENERGY_COLUMNS, JOB_ADVICE_COLUMNS, (*JOB_ADVICE_COLUMNS, *JOB_ENERGY_COLUMNS))}
"""What a table may have behind its columns."""

RECORDS = {
    "summary": tuple(SUMMARY_KEYS),
    "provenance": PROVENANCE_KEYS,
    "ingest": tuple(IngestLedger().to_dict()),
    "timings": (),
}
"""Records of a result, each in ``<name>.json``, and the keys that it has at least."""

REPEATING = ("nodes", "state", "state_reason", "attempts", "attempt", "lost_node_s", "user_id", "partition", "advice")
"""Columns of few different values: dictionaries make them small, and the others slow to write."""

FILES = (*(f"{name}.parquet" for name in TABLES), *(f"{name}.json" for name in RECORDS))
"""The files of every saved result."""

FURTHER = {"power": POWER_COLUMNS, "waits": WAIT_COLUMNS}
"""Tables that only some results have, and their columns: of machines with power, of runs that explain waits."""

FURTHER_FILES = tuple(f"{name}.parquet" for name in FURTHER)


def write_folder(folder: Path, tables: Mapping[str, pd.DataFrame], records: Mapping[str, Mapping[str, Any]]) -> None:
    """Write tables and records into *folder*, replacing a result that is there.

    Raises:
        ResultError: *folder* is a file, holds anything but a result, or cannot be written.
    """
    folder = folder.resolve()
    refuse_foreign(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _beside(folder) as draft:
            for name, table in tables.items():
                _write_table(draft / f"{name}.parquet", table)
            for name, record in records.items():
                _write_record(draft / f"{name}.json", record)
            _replace(folder, draft)
    except OSError as error:
        raise ResultError(
            f"Cannot write the result folder {folder}: {error}.", "Free some space, or choose another folder."
        ) from error


def refuse_foreign(folder: Path) -> None:
    """Raise `ResultError` if *folder* is a file, or a folder with anything in it that is not of a result."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ResultError(f"{folder} is a file.", "Give a folder for the result.")
    foreign = sorted(entry.name for entry in folder.iterdir() if entry.name not in (*FILES, *FURTHER_FILES))
    if foreign:
        raise ResultError(
            f"{folder} holds '{foreign[0]}', which is not part of a result, so it will not be replaced.",
            "Give a new or empty folder.",
        )


def read_table(folder: Path, name: str) -> pd.DataFrame:
    """Read one table of a saved result.

    Raises:
        ResultError: its file is missing, truncated, or of something else.
    """
    return _read_table(
        folder / f"{name}.parquet", (TABLES[name], *(TABLES[name] + more for more in _FURTHER.get(name, ())))
    )


def read_further(folder: Path, name: str) -> pd.DataFrame | None:
    """Read one of `FURTHER`, None if the saved result has none. Raises `ResultError` as `read_table` does."""
    path = folder / f"{name}.parquet"
    return _read_table(path, (FURTHER[name],)) if path.exists() else None


def _read_table(path: Path, allowed: tuple[tuple[str, ...], ...]) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table: pd.DataFrame = pq.ParquetFile(path).read().to_pandas()
    except FileNotFoundError as error:
        raise _missing(path) from error
    except (pa.ArrowException, OSError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise _unreadable(path, reason) from error
    if tuple(table.columns) not in allowed:
        raise _unreadable(path, f"it has the columns {', '.join(map(str, table.columns))}")
    return table


def read_record(folder: Path, name: str) -> dict[str, Any]:
    """Read one record of a saved result. Raises `ResultError` as `read_table` does."""
    path = folder / f"{name}.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise _missing(path) from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, str(error)) from error
    if not isinstance(record, dict):
        raise _unreadable(path, f"it holds a {type(record).__name__}, not an object")
    lacking = [key for key in RECORDS[name] if key not in record]
    if lacking:
        raise _unreadable(path, f"it lacks '{lacking[0]}'")
    return record


def plain(value: Any) -> Any:
    """Return *value* as data that JSON has: NaN as null, infinities as ``"inf"``, sets as sorted lists."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return plain(value.item()) if hasattr(value, "item") else str(value)


def _write_table(path: Path, table: pd.DataFrame) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = pa.Table.from_pandas(table, preserve_index=False)
    repeating = [name for name in arrow.column_names if name in REPEATING]
    pq.write_table(arrow, path, compression="zstd", use_dictionary=repeating)


def _write_record(path: Path, record: Mapping[str, Any]) -> None:
    text = json.dumps(plain(record), indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """Make a draft folder beside *folder*, on the same file system; nothing of it is left on an error."""
    draft = folder.parent / f".{folder.name}.{secrets.token_hex(4)}.draft"
    draft.mkdir()
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _replace(folder: Path, draft: Path) -> None:
    """Put *draft* in the place of *folder*; an older result is moved aside first, and back on an error."""
    if not folder.exists() or not any(folder.iterdir()):
        draft.replace(folder)
        return
    old = draft.with_suffix(".old")
    folder.rename(old)
    try:
        draft.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    shutil.rmtree(old)


def _missing(path: Path) -> ResultError:
    is_there = path.parent.is_dir()
    cause = f"{path.parent} has no {path.name}" if is_there else f"There is no result folder {path.parent}"
    return ResultError(f"{cause}.", "Check the path, or run the simulation again.")


def _unreadable(path: Path, reason: str) -> ResultError:
    return ResultError(f"Cannot read {os.fspath(path)}: {reason}.", "It is truncated or no result; run it again.")
