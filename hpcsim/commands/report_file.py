"""The report that a command writes: interactive where Plotly is installed, else the small page without scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hpcsim.results.pairwise import Pairwise
    from hpcsim.results.result import Result


def write_report_file(results: Mapping[str, Result], path: Path, *, title: str, pairs: Sequence[Pairwise] = ()) -> None:
    """Write the best report that this installation can make to *path*; its folder is made if need be.

    *pairs* are comparisons of two results each, which the report shows with their intervals.

    Raises:
        ResultError: there is no result, or the file cannot be written.
    """
    from hpcsim.results.page.document import is_available, write_page
    from hpcsim.results.pairwise_report import pairwise_tables
    from hpcsim.results.report import write_report

    path.parent.mkdir(parents=True, exist_ok=True)
    if is_available():
        headlines = [pair.headline() for pair in pairs]
        write_page(results, path, title=title, headlines=headlines, differences=pairwise_tables(pairs))
    else:
        write_report(results, path, title=title, pairs=pairs)


def write_text(path: Path, page: str) -> None:
    """Write *page* to *path*; its folder is made if need be. Raises `ResultError` if it cannot be written."""
    from hpcsim.errors import ResultError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise ResultError(f"Cannot write the report {path}: {error}.", "Check the path.") from error
