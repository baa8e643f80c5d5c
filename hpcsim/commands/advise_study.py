"""`hpcsim advise-study`: what node-count advice does to everybody's turnaround and to the machine's energy."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hpcsim.commands import options
from hpcsim.commands.output import print_json, print_table, results_only, say
from hpcsim.errors import ExperimentError
from hpcsim.experiments.advice_study.plan import USERS
from hpcsim.results.quantities import MISSING, count, percentage

if TYPE_CHECKING:
    import pandas as pd


def advise_study(
    *,
    preset: Annotated[str, typer.Option("--preset", help="smoke (2 minutes), demo (10) or full (hours).")] = "smoke",
    out: options.Out = None,
    cells: Annotated[
        str, typer.Option("--cells", metavar="FACTOR,...", help="Only the cells that vary these, such as base,widths.")
    ] = "",
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, metavar="N", help="Only the first N seeds of the preset.")
    ] = None,
    workers: options.Workers = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the study in DIR; failed runs again.")] = False,
    tables_only: Annotated[
        bool, typer.Option("--tables-only", help="Run nothing more: tables and plots of what has finished in DIR.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Run advisors against the users' own choices: one factor at a time, paired by seed.

    Prints what there is to win, then ratios with 95 % intervals. DIR/tables/system.csv has a row a run.
    """
    from hpcsim.experiments.advice_study.study import run

    if out is None:
        raise ExperimentError("A study needs a folder for its results.", "Add --out DIR.")
    with results_only():
        factors = [name.strip() for name in cells.split(",") if name.strip()]
        done = run(
            preset,
            Path(out),
            factors=factors,
            seeds=seeds,
            workers=workers,
            resume=resume,
            tables_only=tables_only,
            tell=say,
        )
    if json:
        names = ("headroom", "paired", "classes", "targets")
        tables = {name: getattr(done, name) for name in names}
        print_json({name: table.to_dict("records") for name, table in tables.items()})
    else:
        _print_headroom(done.headroom)
        for scenario, rows in done.paired.groupby("scenario", sort=False):
            _print_ratios(str(scenario), rows)
        _print_targets(done.targets)
    say(f"{len(done.system)} runs in {done.folder / 'tables' / 'system.csv'}, drawn beside it")
    if done.errors:
        failed = f"{len(done.errors)} runs failed; the first: {done.errors[0]}."
        raise ExperimentError(failed, "--resume tries them again.")


def _print_headroom(table: pd.DataFrame) -> None:
    means = table.drop(columns="seed").groupby("scenario", sort=False).mean()
    columns = {
        "efficiency": "efficiency",
        "least_node_s": "least node-s",
        "busy_energy_bound": "busy energy",
        "total_energy_bound": "total energy",
    }
    rows = [(str(name), *(f"{row[column]:.3f}" for column in columns)) for name, row in means.iterrows()]
    print_table("What there is to win, shares of the users' own", ("scenario", *columns.values()), rows)


def _print_ratios(scenario: str, table: pd.DataFrame) -> None:
    seeds = f"over {count(int(table['seeds'].max()), 'seed')}"
    headings = ("advisor, rule", "turnaround", "total energy", "busy", "load", "killed")
    rows = [
        (
            _unbroken(row["arm"]),
            _interval(row, "turnaround_s"),
            _interval(row, "total_energy_j"),
            *(_plain(row[name]) for name in ("busy_energy_j", "realised_load")),
            percentage(row["killed_share"] + row["killed_by_advice_share"]),
        )
        for row in table.to_dict("records")
    ]
    print_table(f"{scenario}: ratios to the users' own {seeds}", headings, rows)
    parted = [
        (_unbroken(row["arm"]), *(_interval(row, f"{who}_turnaround_s") for who in ("advised", "others")))
        for row in table[(table["arm"] != USERS) & table["others_turnaround_s"].notna()].to_dict("records")
    ]
    if parted:
        title = f"{scenario}: turnaround of those who take advice and of the others, ratios to the same jobs' own"
        print_table(title, (headings[0], "advised", "others"), parted)


def _print_targets(table: pd.DataFrame) -> None:
    if not len(table):
        return
    rows = [
        (
            f"{row['target']}: {_unbroken(row['arm'])}" + ("" if row["scenario"] == "base" else f"; {row['scenario']}"),
            ("" if row["part"] == "mean" else f"{row['part']} ") + row["bound"],
            f"{row['value']:.3f}" if math.isnan(row["low"]) else _span(row["value"], row["low"], row["high"]),
            {True: "met", False: "missed"}.get(row["met"], "not known"),
        )
        for row in table.to_dict("records")
    ]
    title = f"What the preset full is asked for, here over {count(int(table['seeds'].max()), 'seed')}"
    print_table(title, ("target", "asked", "found", ""), rows, last_is_text=True)


def _unbroken(arm: object) -> str:
    """Return the name of an arm with its rule as one word, which no narrow table breaks: ``qa(2,1)``."""
    return re.sub(r",\s+(?=[^(]*\))", ",", str(arm))


def _interval(row: dict[Any, Any], name: str) -> str:
    middle, low, high = (row[key] for key in (name, f"{name}_low", f"{name}_high"))
    return _plain(middle) if math.isnan(low) else f"{middle:.2f} [{low:.2f}, {high:.2f}]"


def _span(middle: float, low: float, high: float) -> str:
    return f"{middle:.3f} [{low:.3f}, {high:.3f}]"


def _plain(value: float) -> str:
    return MISSING if math.isnan(value) else f"{value:.3f}"
