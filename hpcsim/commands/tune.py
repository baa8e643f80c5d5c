"""`hpcsim tune`: which settings are worth having, where objectives pull apart?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hpcsim.commands import options
from hpcsim.commands.output import print_json, print_table, results_only, say
from hpcsim.commands.sweep import place_to_run
from hpcsim.errors import ExperimentError
from hpcsim.results.quantities import MISSING, count, figure, number

if TYPE_CHECKING:
    import pandas as pd

FRONT = "front.html"


def tune(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="Study file, TOML.")],
    *,
    out: options.Out = None,
    workers: options.Workers = 1,
    dask: options.Dask = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the study in DIR.")] = False,
    json: options.Json = False,
) -> None:
    """Search parameters of a policy and a machine for one to three objectives.

    Prints the settings that no other beats in every objective; DIR/front.html draws them.
    """
    from hpcsim.experiments.front_chart import write_front
    from hpcsim.experiments.study import Study
    from hpcsim.experiments.sweep_folder import write_whole
    from hpcsim.experiments.tune import tune as run_study

    described = Study.load(study)
    if out is None:
        raise ExperimentError("A study needs a folder for its results.", "Add --out DIR.")
    with place_to_run(dask, None, None, workers) as executor, results_only():
        table = run_study(described, out, workers=workers, executor=executor, resume=resume, progress=_tell, notice=say)
    write_whole(out / FRONT, write_front(table, described.objectives, described.name))
    front = table[table["is_on_front"]].sort_values(described.objectives[0])
    if json:
        print_json({"front": front.to_dict("records"), "trials": table.to_dict("records")})
    else:
        _print_front(front, described.objectives, described.name, len(described.seeds))
    failed = int(table["error"].astype(bool).sum())
    if failed:
        say(f"{count(failed, 'setting')} failed; their errors are in {out / 'trials.csv'}")
    say(f"{count(len(table), 'setting')} in {out / 'trials.csv'}, drawn in {out / FRONT}")


def _tell(tried: int, budget: int) -> None:
    say(f"{tried:,} of {count(budget, 'setting')}")


def _print_front(front: pd.DataFrame, objectives: list[str], name: str, seeds: int) -> None:
    parameters = [column for column in front.columns if column.startswith(("policy.", "cluster."))]
    shown = [column for column in parameters if column.removeprefix("cluster.") not in objectives]
    headings = (*(column.partition(".")[2] for column in shown), *objectives)
    rows = [
        (*(_text(row[column]) for column in shown), *(_with_interval(objective, row) for objective in objectives))
        for row in front.to_dict("records")
    ]
    print_table(f"{name}: {count(len(front), 'setting')} on the front", headings, rows, left=len(shown))
    if seeds > 1:
        typer.echo(f"Means over {seeds} seeds, with the half-widths of their 95 % Student intervals.")


def _with_interval(objective: str, row: Mapping[Any, Any]) -> str:
    half = (row[f"{objective}_high"] - row[f"{objective}_low"]) / 2
    mean = figure(objective, row[objective])
    return mean if math.isnan(half) or half == 0 else f"{mean} ± {figure(objective, half)}"


def _text(value: Any) -> str:
    return MISSING if value is None else number(value) if isinstance(value, float) else str(value)
