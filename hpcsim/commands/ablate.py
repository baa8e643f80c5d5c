"""`hpcsim ablate`: which ingredient of the learned scheduler matters, each changed alone, at equal decisions."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hpcsim.commands import options
from hpcsim.commands.output import print_json, print_table, results_only, say


class AblationSize(StrEnum):
    """How large an ablation is; see `hpcsim.experiments.ablation.plan.PRESETS`."""

    SMOKE = "smoke"
    DEMO = "demo"
    FULL = "full"


def ablate(
    *,
    preset: Annotated[
        AblationSize, typer.Option("--preset", help="smoke takes seconds, demo half an hour, full days on one core.")
    ] = AblationSize.SMOKE,
    out: Annotated[Path, typer.Option("--out", parser=options.path, metavar="DIR", help="Folder for the study.")],
    variant: Annotated[
        list[str] | None,
        typer.Option("--variant", metavar="NAME", help="Only this one beside the base, as 'baseline PPO'; repeat it."),
    ] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", metavar="N", min=1, help="Trainings of each variant.")] = None,
    workers: options.Workers = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the study in DIR.")] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="Run nothing: compare what has finished in DIR, even while it runs.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Train PPO-GTrXL with one ingredient changed at a time, and compare on jobs that none has seen.

    All variants learn from equally many decisions with the same recipe. DIR gets ablation.html,
    ablation.md, learning curves and tables. What was stopped goes on with --resume.
    """
    from hpcsim.experiments.ablation import run_ablation
    from hpcsim.experiments.ablation.rows import HEADINGS, RULE_HEADINGS, network_rows, rule_rows

    with results_only():
        done = run_ablation(
            out,
            preset=preset.value,
            variants=variant or (),
            seeds=seeds,
            workers=workers,
            resume=resume,
            runs=not partial,
            tell=say,
        )
    if json:
        print_json({name: table.to_dict("records") for name, table in done.tables.named().items()})
        return
    kept = (0, 1, 2, 5, 4)  # the page has the other columns as well
    rows = [tuple(row[at] for at in kept) for row in network_rows(done.tables)]
    headings = [HEADINGS[at] for at in kept]
    print_table("PPO-GTrXL, one ingredient changed at a time", headings, rows, last_is_text=True)
    print_table("Beside them", RULE_HEADINGS, list(rule_rows(done.tables)))
    for said in done.sentences:
        typer.echo(said)
    say(f"Page, tables and learning curves are in {out}; begin with {out / 'ablation.html'}")
