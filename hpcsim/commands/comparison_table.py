"""The table of `hpcsim compare` and `hpcsim demo`: one line a policy, changes against the first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, Any

import typer

from hpcsim.commands.output import print_table
from hpcsim.results.difference_rows import CLASS_HEADINGS, MEASURE_HEADINGS, class_rows, measure_rows
from hpcsim.results.pairwise import Pairwise
from hpcsim.results.quantities import MISSING, count, duration, number, percentage
from hpcsim.results.statistics.interval import Verdict

if TYPE_CHECKING:
    import pandas as pd

_HEADINGS = ("policy", "mean\nwait", "change", "median\nwait", "95 %\nwait", "bounded\nslowdown", "util.")


def print_comparison(title: str, comparison: pd.DataFrame) -> None:
    """Write what `hpcsim.results.comparison.compare` returned; waits and slowdowns are over the jobs that started."""
    rows: dict[Any, dict[Any, Any]] = comparison.to_dict("index")
    first = next(iter(rows.values()))
    print_table(f"{title}, {_job_counts(rows)}", _HEADINGS, [_line(label, row, first) for label, row in rows.items()])


def print_pair(pair: Pairwise, *, classes: bool = False) -> None:
    """Write one policy against another: differences with intervals, and who wins and loses."""
    title = f"{pair.new} (new) against {pair.old} (old)"
    print_table(title, _shown(MEASURE_HEADINGS), list(map(_shown, measure_rows(pair))), left=2, last_is_text=True)
    if classes:
        title = f"Mean waits by size, length and user class, {pair.new} against {pair.old}"
        print_table(title, _shown(CLASS_HEADINGS), list(map(_shown, class_rows(pair))), last_is_text=True)
    for sentence in filter(None, (pair.headline(), pair.winners_and_losers(), pair.basis(), pair.caution())):
        typer.echo(fill(sentence, get_terminal_size().columns))
    typer.echo()


def _shown(row: Sequence[str]) -> tuple[str, ...]:
    """Return a line or the headings with the verdict in short: what difference is shown, if any."""
    short = {"verdict": "difference\nshown", Verdict.NONE_SHOWN: "none"}
    return (*row[:-1], short.get(row[-1], row[-1]))


def _line(label: str, row: Mapping[str, Any], first: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        label,
        duration(row["mean_wait_s"]),
        "" if row is first else _change(row["mean_wait_s"], first["mean_wait_s"]),
        duration(row["median_wait_s"]),
        duration(row["p95_wait_s"]),
        number(row["mean_bounded_slowdown"]),
        percentage(row["utilisation"]),
    )


def _change(value: float, reference: float) -> str:
    """Return by how many percent *value* differs from *reference*: ``-63 %``."""
    is_defined = math.isfinite(value) and math.isfinite(reference) and reference != 0
    return f"{100 * (value / reference - 1):+,.0f} %" if is_defined else MISSING


def _job_counts(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return how many jobs started, and how many finished where the policies differ in that."""
    told = [_counts(rows, "started")]
    if len({row["jobs_finished"] for row in rows.values()}) > 1:
        told.append(_counts(rows, "finished"))
    return "; ".join(told)


def _counts(rows: Mapping[str, Mapping[str, Any]], what: str) -> str:
    """Return one number, or one a policy where they differ."""
    jobs = {label: row[f"jobs_{what}"] for label, row in rows.items()}
    if len(set(jobs.values())) == 1:
        return f"{count(next(iter(jobs.values())), 'job')} {what}"
    return f"jobs {what}: " + ", ".join(f"{label} {number(value)}" for label, value in jobs.items())
