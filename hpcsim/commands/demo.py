"""`hpcsim demo`: four policies side by side, with no file and no option."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hpcsim.commands import options
from hpcsim.commands.comparison_table import print_comparison
from hpcsim.commands.out_folder import check_folder
from hpcsim.commands.progress import watch
from hpcsim.commands.report_file import write_report_file
from hpcsim.experiments.demo import LOAD, run_demo

REPORT = "report.html"


def demo(
    out: options.ReportFolder = Path("demo-out"),
    seed: options.Seed = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="N", help="How many jobs to generate.")] = 5_000,
) -> None:
    """Compare four policies on a generated workload.

    FCFS, EASY, conservative backfilling and a trained network, PPO-GTrXL; the last line printed is the
    path of an HTML report.
    """
    from hpcsim.results.comparison import compare
    from hpcsim.results.pairwise import against_first

    check_folder(out)
    shown = run_demo(jobs=jobs, seed=seed, watch=watch)
    title = f"Generated workload (load {LOAD}, seed {seed}) on {shown.cluster.nodes} nodes"
    print_comparison(title, compare(shown.results))
    path = (out / REPORT).absolute()
    write_report_file(shown.results, path, title=title, pairs=against_first(shown.results, seed=seed))
    typer.echo(path)
