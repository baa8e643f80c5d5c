"""Folders and files for results: refused before the run, not after it."""

from __future__ import annotations

import os
from pathlib import Path

from hpcsim.errors import ResultError
from hpcsim.results.storage import refuse_foreign


def check_folder(path: Path | None) -> None:
    """Refuse a folder that could not be written; make nothing yet.

    Raises:
        ResultError: it is a file, or no folder can be made there.
    """
    if path is None:
        return
    existing = next((folder for folder in (path, *path.absolute().parents) if folder.exists()), Path("/"))
    if not existing.is_dir():
        raise ResultError(f"Cannot write into {path}: {existing} is not a folder.", "Give another folder.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ResultError(f"Cannot write into {path}: no permission for {existing}.", "Give another folder.")


def check_result_folder(path: Path | None) -> None:
    """Refuse a folder that could not be written, or that holds anything but an earlier result."""
    check_folder(path)
    if path is not None:
        refuse_foreign(path)


def folder_name(label: str) -> str:
    """Return the name of the folder for the results of a policy: its label, without what would lead elsewhere."""
    return label.replace("/", "_").lstrip(".") or "policy"


def check_file(path: Path | None) -> None:
    """Refuse a file that could not be written, as `check_folder` does for its folder."""
    if path is None:
        return
    if path.is_dir():
        raise ResultError(f"Cannot write {path}: it is a folder.", "Give the name of a file in it.")
    check_folder(path.absolute().parent)
