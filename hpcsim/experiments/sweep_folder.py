"""The folder of a sweep: what lies where, who may write into it, and which results in it can be believed."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hpcsim.errors import DiskFull, ExperimentError, ResultError
from hpcsim.experiments.cell_run import CELLS, FAILED, NO_SPACE, PARTIAL, RESUME_LATER, WORKLOADS
from hpcsim.results import storage

PLAN, EXPERIMENT, TABLE, LOCK = "sweep.json", "experiment.toml", "table.csv", "sweep.lock"
FOLDERS = (CELLS, FAILED, PARTIAL, WORKLOADS)
OURS = (*FOLDERS, PLAN, EXPERIMENT, TABLE, LOCK, "trials.csv", "front.html")
FORMAT = "hpcsim-sweep-1"

_DRAFT = re.compile(r"\..*\.(draft|old)$")
_MAGIC = b"PAR1"


def prepare(folder: Path, *, resume: bool) -> None:
    """Make the folders of a sweep.

    Raises:
        ExperimentError: *folder* holds something else, or a sweep and *resume* is False.
        DiskFull: there is no space left.
    """
    if folder.exists() and not folder.is_dir():
        raise ExperimentError(f"{folder} is a file.", "Give a folder for the sweep.")
    entries = sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []
    if PLAN in entries:
        if not resume:
            raise ExperimentError(f"{folder} holds a sweep already.", "Add --resume to go on with it, or name another.")
    elif others := [name for name in entries if name not in OURS and not _DRAFT.match(name)]:
        raise ExperimentError(
            f"{folder} holds '{others[0]}', which is not part of a sweep.", "Give a new or empty folder."
        )
    with writing(folder):
        for name in FOLDERS:
            (folder / name).mkdir(parents=True, exist_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for one sweep at a time. A sweep that is killed lets it go.

    Raises:
        ExperimentError: another sweep holds it; the sentence says which.
    """
    path = folder / LOCK
    with writing(path):
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+", encoding="utf-8")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = file.read().strip() or "another process"
            raise ExperimentError(
                f"Another sweep is running in {folder} ({holder}).", "Wait for it, or give another folder."
            ) from error
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()} on {platform.node()}\n")
        file.flush()
        yield


def sweep_up(folder: Path) -> None:
    """Remove what killed workers left half-written; call it with the lock held."""
    for name in FOLDERS:
        for entry in (folder / name).iterdir():
            if _DRAFT.match(entry.name):
                remove(entry)


def remove(path: Path) -> None:
    """Remove a file or a folder with all that is in it; what has gone already is no error."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all.

    Raises:
        DiskFull: there is no space left.
        ExperimentError: it cannot be written for another reason.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.draft")
    with writing(path):
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the operating system into one of ours, about *path*."""
    try:
        yield
    except OSError as error:
        reason = f"Cannot write {path}: {error.strerror or error}."
        if error.errno in NO_SPACE:
            raise DiskFull(reason, RESUME_LATER) from error
        raise ExperimentError(reason, "Check the path and its permissions.") from error


def read_plan(folder: Path) -> dict[str, Any]:
    """Return the plan of the sweep in *folder*.

    Raises:
        ExperimentError: there is none, or it is truncated or foreign.
    """
    path = folder / PLAN
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ExperimentError(f"There is no sweep in {folder}: it has no {PLAN}.", "Check the path.") from error
    except (OSError, ValueError) as error:
        raise ExperimentError(f"Cannot read {path}: {error}.", "Repeat the sweep with --resume.") from error
    if not isinstance(plan, dict) or plan.get("format") != FORMAT:
        raise ExperimentError(f"{path} is no plan of a sweep.", "Give the folder of a sweep.")
    return plan


def damage(folder: Path) -> str:
    """Return what is wrong with the cell's result in *folder*, or the empty string.

    Tables are looked at from both ends, which tells a truncated one; records are read whole.
    """
    try:
        return _wrong_file(folder) or _wrong_content(folder)
    except ResultError as error:
        return error.cause.rstrip(".")
    except OSError as error:
        return f"{error.filename}: {error.strerror}"


def _wrong_file(folder: Path) -> str:
    if not folder.is_dir():
        return f"{folder} is no folder"
    others = sorted({entry.name for entry in folder.iterdir()} - {*storage.FILES, *storage.FURTHER_FILES})
    if others:
        return f"{folder / others[0]} is not part of a result"
    broken = [path for path in _tables_in(folder) if not _is_whole(path)]
    return f"{broken[0]} is missing, truncated or no table" if broken else ""


def _tables_in(folder: Path) -> list[Path]:
    """Return the tables that a result in *folder* has: those of every one, and further ones that are there."""
    further = [folder / name for name in storage.FURTHER_FILES if (folder / name).exists()]
    return [*(folder / f"{name}.parquet" for name in storage.TABLES), *further]


def _wrong_content(folder: Path) -> str:
    records = {name: storage.read_record(folder, name) for name in storage.RECORDS}
    provenance = records["provenance"]
    if provenance.get("cell") != folder.name:
        return f"{folder} holds the result of something else"
    is_cut_short = provenance["error"] is not None or not (provenance["complete"] or provenance["until_s"] is not None)
    return f"{folder} holds a run that was cut short" if is_cut_short else ""


def foreign(folder: Path, keys: Sequence[str]) -> list[Path]:
    """Return what lies among the results and belongs to no cell of *keys*, sorted."""
    known = set(keys)
    entries = sorted((folder / CELLS).iterdir()) if (folder / CELLS).is_dir() else []
    return [entry for entry in entries if entry.name not in known and not _DRAFT.match(entry.name)]


def _is_whole(path: Path) -> bool:
    """Tell whether a Parquet file has its mark at both ends."""
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
            file.seek(0, os.SEEK_END)
            if file.tell() < 3 * len(_MAGIC):
                return False
            file.seek(-len(_MAGIC), os.SEEK_END)
            return head == file.read() == _MAGIC
    except FileNotFoundError:
        return False
