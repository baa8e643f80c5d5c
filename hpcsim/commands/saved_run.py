"""Saved runs as arguments of commands: read one, or several with a name for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hpcsim.commands import options
from hpcsim.errors import ResultError

if TYPE_CHECKING:
    from hpcsim.results.result import Result

Run = Annotated[
    Path, typer.Argument(metavar="RUN", parser=options.path, help="Folder that `hpcsim run --out` has written.")
]
Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...", parser=options.path, help="Folders of saved runs, or one that holds such folders."
    ),
]


def read_runs(folders: Sequence[Path]) -> dict[str, Result]:
    """Return the results in *folders*, named by the folders; one that is no run stands for the runs in it.

    Raises:
        ResultError: a folder is no result and holds none, or two have one name.
    """
    from hpcsim.results.result import Result

    found: dict[str, Result] = {}
    for run in [run for folder in folders for run in _runs_in(folder)]:
        name = run.resolve().name
        if name in found:
            raise ResultError(f"Two of the runs are called '{name}'.", "Rename one of the folders.")
        found[name] = Result.load(run)
    return found


def _runs_in(folder: Path) -> list[Path]:
    """Return *folder* itself, or the runs that it holds."""
    if not folder.is_dir() or (folder / "jobs.parquet").exists():
        return [folder]
    runs = sorted(path.parent for path in folder.glob("*/jobs.parquet"))
    return runs or [folder]


def is_sweep(folder: Path) -> bool:
    """Tell whether *folder* is that of a sweep."""
    return (folder / "sweep.json").is_file()
