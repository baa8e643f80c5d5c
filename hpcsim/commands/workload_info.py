"""`hpcsim workload info`: what is in this log, and what did the reader do to it?"""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from hpcsim.commands import options
from hpcsim.commands.output import print_json, print_table
from hpcsim.commands.trace import read_trace
from hpcsim.commands.workload_moments import histogram_rows, model_like, moment_rows, moments
from hpcsim.commands.workload_picture import picture
from hpcsim.errors import WorkloadRepaired
from hpcsim.results.quantities import duration, number, percentage
from hpcsim.workload import Workload

PERCENTILES = (25, 50, 75, 95, 100)


def workload_info(
    trace: options.Trace,
    limit: options.Limit = None,
    file_format: options.Format = "auto",
    read: options.Read = None,
    mode: options.Mode = None,
    quarantine: options.Quarantine = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="MODEL", help="Compare its moments with a model's, as lublin:classes=batch."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Show what a job log holds, and what the reader kept, changed and refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WorkloadRepaired)  # the table of rules says it better
        workload = read_trace(trace, file_format, read, mode=mode, quarantine=quarantine, limit=limit)
    facts = describe_workload(workload)
    facts["moments"] = moments(workload)
    model = None if against is None else model_like(against, workload)
    if model is not None:
        facts["model_moments"] = moments(model)
    if json:
        print_json(facts)
        return
    print_table(Path(trace).name, ("", ""), _fact_rows(facts, workload.counted))
    print_table("Distribution over usable jobs", ("", *_percentile_names()), _percentile_rows(facts))
    headings, rows = picture(workload)
    print_table("Jobs by size and run time, in percent", headings, rows)
    if model is not None:
        headings = ["", Path(trace).name, str(against)]
        print_table(f"Moments, and those of {against}", headings, moment_rows(facts["moments"], facts["model_moments"]))
        print_table("Shares of jobs", headings, histogram_rows(workload, model), left=3)
    if facts["rules"]:
        rows = [(r["remark"] or r["rule"], r["effect"], number(r["rows"])) for r in facts["rules"]]
        print_table("What the reader did", ("rule", "effect", "rows"), rows, left=2)


def describe_workload(workload: Workload) -> dict[str, Any]:
    """Return the facts of a workload as plain data; times in seconds, NaN where there is nothing.

    ``usable`` counts jobs with a run time and a width above 0; ``processors`` is the machine by the
    log's own header, in what the log counts. ``offered_load`` is over all jobs by the log's run times:
    nothing is killed at a limit and nothing rejected, as in `Workload.offered_load`.
    """
    ledger, columns = workload.ledger, workload.columns
    usable = (columns["run_s"] > 0) & (columns["nodes"] > 0)
    submits, size = columns["submit_s"], workload.machine_nodes
    return {
        "rows": ledger.rows,
        "kept": ledger.kept,
        "changed": ledger.changed,
        "refused": ledger.refused,
        "touched_share": ledger.touched_share,
        "usable": int(np.count_nonzero(usable)),
        "counted": workload.counted,
        "processors": size,
        "offered_load": workload.offered_load(size) if size else math.nan,
        "first_submit_s": submits.min() if len(submits) else math.nan,
        "submit_span_s": submits.max() - submits.min() if len(submits) else math.nan,
        "users": _distinct(columns.get("user_id")),
        "limits_are_run_times": workload.limits_are_run_times,
        "run_s": _percentiles(columns["run_s"][usable]),
        "limit_s": _percentiles(columns["limit_s"][usable]),
        "nodes": _percentiles(columns["nodes"][usable]),
        "rules": ledger.to_dict()["rules"],
    }


def _distinct(column: NDArray[Any] | None) -> int:
    """Return how many users there are; -1 and None stand for "not known"."""
    return 0 if column is None else len({user for user in column.tolist() if user not in (-1, None)})


def _percentile_names() -> list[str]:
    return [f"{p} %" if p < 100 else "max" for p in PERCENTILES]


def _percentiles(column: NDArray[Any]) -> dict[str, float]:
    """Return values that occur in *column* (no interpolation); NaN for an empty one."""
    if not len(column):
        return {f"p{p}": math.nan for p in PERCENTILES}
    values = np.percentile(column, PERCENTILES, method="inverted_cdf").tolist()
    return {f"p{p}": value for p, value in zip(PERCENTILES, values, strict=True)}


def _fact_rows(facts: dict[str, Any], counted: str) -> list[tuple[str, str]]:
    size, limits = facts["processors"], "none in the log: run times stand in for them"
    rows = [
        ("rows in the file", number(facts["rows"])),
        ("kept as jobs", number(facts["kept"])),
        ("  of these changed", number(facts["changed"])),
        ("refused", number(facts["refused"])),
        ("share of node-seconds touched", percentage(facts["touched_share"])),
        (f"usable (run time and {counted} above 0)", number(facts["usable"])),
        (f"{counted} of the machine", "not in the log" if size is None else number(size)),
        ("offered load, as logged", percentage(facts["offered_load"])),
        ("span of submits", duration(facts["submit_span_s"])),
        ("users", number(facts["users"])),
    ]
    return [*rows, ("limits", limits)] if facts["limits_are_run_times"] else rows


def _percentile_rows(facts: dict[str, Any]) -> list[tuple[str, ...]]:
    shown = (("run time", "run_s", duration), ("limit", "limit_s", duration))
    widths = (facts["counted"], "nodes", number)
    return [(label, *map(show, facts[key].values())) for label, key, show in (*shown, widths)]
