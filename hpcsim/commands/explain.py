"""`hpcsim explain`: why did a job wait? For one job in words, for all of them in totals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hpcsim.commands import options
from hpcsim.commands.output import print_json, print_table
from hpcsim.commands.saved_run import Run
from hpcsim.errors import InvalidArgument
from hpcsim.results.quantities import duration, number, percentage

if TYPE_CHECKING:
    import pandas as pd

    from hpcsim.results.explain import Explanation
    from hpcsim.results.result import Result

WIDTH = 72
"""Cells of the strip: equal parts of the wait, each with the mark of the cause that holds longest in it."""

MOST_USERS = 10
"""Users that the table of totals shows."""


def explain(
    run: Run,
    job: Annotated[str | None, typer.Argument(metavar="JOB", help="The job's id in the log.")] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Totals over all jobs: by cause, width and user.")] = False,
    is_row: Annotated[bool, typer.Option("--row", help="JOB is the job's row, for logs that repeat ids.")] = False,
    json: options.Json = False,
) -> None:
    """Say why a job of a saved run waited: its wait, charged to the second to what held it back."""
    from hpcsim.results.result import Result

    if (job is None) != every:
        raise InvalidArgument("Say which job to explain, or --all, not both.", "hpcsim explain RUN JOB")
    result = Result.load(run)
    if job is None:
        _explain_all(result, json)
        return
    explanation = result.explain(job, is_row=is_row)
    if json:
        print_json(explanation.to_dict())
    else:
        typer.echo(str(explanation))
        if explanation.waited_s:
            typer.echo("\n" + strip(explanation))


def strip(explanation: Explanation) -> str:
    """Return the wait as one line of marks from submit to start, and what each mark means."""
    from hpcsim.results.waiting_causes import CAUSES, MEANINGS

    marks = dict(zip(CAUSES, "dlwcNRp", strict=True))
    line = "".join(marks[cause] for cause in explanation.strip(WIDTH))
    seen = [cause for cause in CAUSES if explanation.parts[cause] > 0]
    legend = [f"  {marks[cause]}  {MEANINGS[cause]}" for cause in seen]
    scale = f"0{duration(explanation.waited_s):>{WIDTH + 1}}"
    return "\n".join([f"[{line}]", scale, *legend])


def _explain_all(result: Result, is_json: bool) -> None:
    """Print the seconds of waiting of all jobs: by cause, by width, by user."""
    from hpcsim.results.explain import explain_all, totals

    table = explain_all(result)
    found = {kind: totals(table, kind) for kind in ("all", "width", "user")}
    if is_json:
        print_json({kind: _plain(frame) for kind, frame in found.items()})
        return
    headings = {"all": "jobs", "width": "nodes", "user": "user"}
    for kind, frame in found.items():
        _print_totals(f"Time waited under {result.policy_name}, by {headings[kind]}", headings[kind], frame)
    hidden = len(found["user"]) - MOST_USERS
    if hidden > 0:
        typer.echo(f"{number(hidden)} users more; --json has them all.")


def _plain(frame: pd.DataFrame) -> dict[str, Any]:
    return {str(name): row for name, row in frame.to_dict("index").items()}


def _print_totals(title: str, heading: str, frame: pd.DataFrame) -> None:
    from hpcsim.results.explain import CAUSE_COLUMNS

    shown = [(cause, column) for cause, column in CAUSE_COLUMNS.items() if frame[column].any()]
    headings = (heading, "jobs", "waited", *(str(cause).replace("-", "\n", 1) for cause, _ in shown))
    rows = []
    for name, row in frame.head(MOST_USERS).iterrows():
        shares = (percentage(row[column] / row["waited_s"]) if row["waited_s"] else "" for _, column in shown)
        rows.append((str(name), number(int(row["jobs"])), duration(row["waited_s"]), *shares))
    print_table(title, headings, rows)
