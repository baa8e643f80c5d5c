"""The report that a command writes: interactive where Plotly is installed, else the small page without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hpcsim.results.result import Result


def write_report_file(results: Mapping[str, Result], path: Path, *, title: str) -> None:
    """Write the best report that this installation can make to *path*; its folder is made if need be.

    Raises:
        ResultError: there is no result, or the file cannot be written.
    """
    from hpcsim.results.page.document import is_available, write_page
    from hpcsim.results.report import write_report

    path.parent.mkdir(parents=True, exist_ok=True)
    write = write_page if is_available() else write_report
    write(results, path, title=title)
