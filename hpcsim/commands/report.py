"""`hpcsim report`: saved runs as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hpcsim.commands import options
from hpcsim.commands.out_folder import check_file
from hpcsim.commands.output import say
from hpcsim.commands.report_file import write_report_file, write_text
from hpcsim.commands.saved_run import Runs, is_sweep, read_runs
from hpcsim.errors import ResultError
from hpcsim.results.quantities import count

if TYPE_CHECKING:
    from hpcsim.results.pairwise import Pairwise
    from hpcsim.results.result import Result


def report(
    runs: Runs,
    out: Annotated[
        Path, typer.Option("--out", "-o", parser=options.path, metavar="FILE", help="The HTML file to write.")
    ] = Path("report.html"),
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Heading of the page.")] = None,
) -> None:
    """Write one self-contained HTML page on saved runs: verdict, figures, charts, and why each job waited.

    Runs are named by their folders, and changes are against the first. A folder that holds several
    runs, as `hpcsim compare --out` writes, stands for all of them. The folder of a sweep gives the
    page of that sweep: how each differs from the baseline, and how sure that is.
    """
    from hpcsim.results.page.document import is_available

    check_file(out)
    if any(is_sweep(folder) for folder in runs):
        _report_sweep(runs, out, title)
        return
    results = read_runs(runs)
    write_report_file(results, out, title=title or _title(results), pairs=_pairs(results))
    if not is_available():
        say("A small page without interaction; for the full one: pip install 'hpcsim-des[report]'.")
    typer.echo(str(out))


def _report_sweep(folders: list[Path], out: Path, title: str | None) -> None:
    """Write the page of a sweep, which stands alone."""
    from hpcsim.experiments.sweep import Sweep
    from hpcsim.experiments.sweep_page import render_sweep

    if len(folders) > 1:
        raise ResultError("A sweep has a page of its own.", "Give its folder alone.")
    write_text(out, render_sweep(Sweep.load(folders[0]), title=title))
    typer.echo(str(out))


def _pairs(results: dict[str, Result]) -> list[Pairwise]:
    """Return each run against the first; none, with the reason said, where they cannot be held against each other."""
    from hpcsim.results.pairwise import against_first

    try:
        return against_first(results)
    except ResultError as error:
        say(f"No differences in the report: {error.cause}")
        return []


def _title(results: dict[str, Result]) -> str:
    """Return what ran where, from the first result."""
    first = next(iter(results.values()))
    source = Path(str(first.ingest.get("source") or "Workload")).name
    return f"{source} on {count(first.nodes, first.counted.removesuffix('s'))}"
