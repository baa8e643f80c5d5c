"""`hpcsim demo`: four policies side by side, with no file and no option."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from hpcsim.commands import options
from hpcsim.commands.comparison_table import print_comparison
from hpcsim.commands.out_folder import check_folder
from hpcsim.commands.output import print_table
from hpcsim.commands.progress import watch
from hpcsim.commands.report_file import write_report_file
from hpcsim.experiments.advice_demo import LOAD as ADVICE_LOAD
from hpcsim.experiments.advice_demo import by_policy, run_advice_demo
from hpcsim.experiments.demo import LOAD, run_demo
from hpcsim.results.quantities import duration, number
from hpcsim.results.result import Result

REPORT = "report.html"


def demo(
    out: options.ReportFolder = Path("demo-out"),
    seed: options.Seed = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="N", help="How many jobs to generate.")] = 5_000,
    advice: Annotated[
        bool, typer.Option("--advice", help="Moldable jobs: FCFS, EASY and PPO-GTrXL without and with an advisor.")
    ] = False,
) -> None:
    """Compare four policies on a generated workload.

    FCFS, EASY, conservative backfilling and a trained network, PPO-GTrXL; the last line printed is the
    path of an HTML report. --advice shows instead what advice on node counts changes.
    """
    from hpcsim.results.comparison import compare
    from hpcsim.results.pairwise import against_first

    check_folder(out)
    shown = (
        run_advice_demo(jobs=jobs, seed=seed, watch=watch) if advice else run_demo(jobs=jobs, seed=seed, watch=watch)
    )
    load = ADVICE_LOAD if advice else LOAD
    of = "Advice on node counts: moldable jobs" if advice else "Generated workload"
    title = f"{of} (load {load}, seed {seed}) on {shown.cluster.nodes} nodes"
    if advice:
        _print_advice(title, shown.results)
    else:
        print_comparison(title, compare(shown.results))
    path = (out / REPORT).absolute()
    together = by_policy(shown.results) if advice else [shown.results]
    pairs = [pair for results in together for pair in against_first(results, seed=seed)]
    write_report_file(shown.results, path, title=title, pairs=pairs)
    typer.echo(path)


def _print_advice(title: str, results: Mapping[str, Result]) -> None:
    headings = ("policy", "mean\nturnaround", "mean\nwait", "energy,\nMWh", "on another\ncount", "killed by\nadvice")
    rows = []
    for label, result in results.items():
        found = result.summary()
        changed, again = (found.get(f"advice_{name}") for name in ("changed", "requeued"))
        times = (duration(found[f"mean_{name}_s"]) for name in ("turnaround", "wait"))
        rows.append((label, *times, f"{(found['energy_j'] or 0) / 3.6e9:.2f}", number(changed), number(again)))
    print_table(title, headings, rows)
