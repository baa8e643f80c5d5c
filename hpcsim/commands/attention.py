"""`hpcsim attention`: what a network looks at while it schedules a week of a job log."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hpcsim.commands import options
from hpcsim.commands.out_folder import check_file
from hpcsim.commands.output import print_json, results_only, say
from hpcsim.commands.policy_specs import choose_policies
from hpcsim.commands.progress import watch
from hpcsim.commands.report_file import write_text
from hpcsim.commands.trace import choose_machine, describe, limit_by_partitions, read_trace
from hpcsim.errors import HpcsimError, WorkloadError
from hpcsim.experiments.inspection_page import render_inspection
from hpcsim.experiments.inspection_summary import changed_by_memory, disagreements, sentences, verdict
from hpcsim.experiments.inspection_table import csv_of
from hpcsim.inspection import Inspected, Inspection
from hpcsim.policy import Policy
from hpcsim.results.run import simulate
from hpcsim.workload import Workload

DAY_S = 86_400.0


def attention(
    trace: options.Trace,
    *,
    policy: options.OnePolicy = "ppo-gtrxl",
    settings: options.Settings = None,
    from_day: Annotated[
        float | None,
        typer.Option(
            "--from",
            metavar="DAY",
            help="First day shown, counted from the log's first job; default: of the seven days with the most work.",
        ),
    ] = None,
    days: Annotated[float, typer.Option("--days", metavar="N", help="How many days are shown.")] = 7,
    warm_up: Annotated[
        float,
        typer.Option("--warm-up", metavar="N", help="Days simulated before these, so that they find a full machine."),
    ] = 7,
    out: Annotated[
        Path | None,
        typer.Option("--out", parser=options.path, metavar="FILE", help="Write the plots into this HTML page."),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", parser=options.path, metavar="FILE", help="Write a row a decision into this file."),
    ] = None,
    nodes: options.Nodes = None,
    processors: options.Processors = None,
    cluster: options.ClusterFile = None,
    file_format: options.Format = "auto",
    read: options.Read = None,
    json: options.Json = False,
) -> None:
    """Show what a network looks at: attention over its past decisions, gates, recalibration, and its choices.

    The plots are of the very network that decides; neither torch nor anything else beyond NumPy is needed.
    """
    for path in (out, csv):
        check_file(path)
    _check_span(days, warm_up, from_day)
    ((label, chosen),) = choose_policies([policy], settings or ()).items()
    workload = read_trace(trace, file_format, read)
    machine = choose_machine(workload, nodes=nodes, processors=processors, cluster_file=cluster)
    workload = limit_by_partitions(workload, machine)
    first_s = float(workload.columns["submit_s"].min()) if len(workload) else 0.0
    since_s = first_s + DAY_S * (busiest_day(workload, days) if from_day is None else from_day)
    part = _between(workload, since_s - warm_up * DAY_S, since_s + days * DAY_S)
    watched = _inspected(chosen, label, since_s, since_s + days * DAY_S)
    with results_only(), watch(label, len(part)) as recorders:
        simulate(part, machine, watched, recorders=recorders, until=since_s + days * DAY_S)
    assert isinstance(watched, Inspected)
    first_day = (since_s - first_s) / DAY_S
    title = f"{label}, {describe(trace, machine)}, days {first_day:g} to {first_day + days:g}"
    _show(watched.inspection(), title, first_s, out, csv, as_json=json)


def _check_span(days: float, warm_up: float, from_day: float | None) -> None:
    if not 0 < days < math.inf:
        raise HpcsimError(f"There is no span of {days:g} days.", "Give --days above 0.")
    for name, value in (("--warm-up", warm_up), ("--from", from_day)):
        if value is not None and not 0 <= value < math.inf:
            raise HpcsimError(f"{name} is {value:g}.", "Give days, 0 or more.")


def busiest_day(workload: Workload, days: float) -> int:
    """Return the first of the *days* consecutive days that submit the most node-seconds; 0 is the log's first."""
    submit_s = workload.columns["submit_s"]
    if not len(submit_s):
        return 0
    day = ((submit_s - submit_s.min()) // DAY_S).astype(int)
    work = np.bincount(day, weights=workload.columns["nodes"] * workload.columns["run_s"])
    width = min(len(work), max(1, round(days)))
    return int(np.convolve(work, np.ones(width), "valid").argmax())


def _between(workload: Workload, since_s: float, until_s: float) -> Workload:
    """Return the jobs submitted from one instant on and before another.

    Raises:
        WorkloadError: there is none.
    """
    submit_s = workload.columns["submit_s"]
    part = workload.select((submit_s >= since_s) & (submit_s < until_s), "one span of days")
    if not len(part):
        last = float((submit_s.max(initial=0) - submit_s.min(initial=0)) / DAY_S)
        raise WorkloadError(
            "No job was submitted in these days.", f"The log has days 0 to {last:.0f}: give --from DAY."
        )
    return part


def _inspected(policy: Policy, label: str, since_s: float, until_s: float) -> Policy:
    """Return the policy with a record of its decisions.

    Raises:
        HpcsimError: it decides by no network that could be looked into.
    """
    inspected: Any = getattr(policy, "inspected", None)
    if inspected is None:
        raise HpcsimError(f"'{label}' decides by no network, so there is nothing to see.", "Try --policy ppo-gtrxl.")
    watched: Policy = inspected(since_s, until_s)
    return watched


def _show(
    inspection: Inspection, title: str, first_s: float, out: Path | None, csv: Path | None, *, as_json: bool
) -> None:
    """Print what the record shows, and write page and table where they are wanted."""
    if out is not None:
        write_text(out, render_inspection(inspection, title=title, first_s=first_s))
        say(f"Plots: {out}")
    if csv is not None:
        write_text(csv, csv_of(inspection))
        say(f"Decisions: {csv}")
    if as_json:
        print_json(_figures(inspection))
        return
    typer.echo(typer.style(title, bold=True) + "\n")
    if not len(inspection):
        typer.echo("The network was asked nothing in this time: never did two jobs wait.")
        return
    for sentence in (verdict(inspection), *sentences(inspection)):
        typer.echo(sentence)


def _figures(inspection: Inspection) -> dict[str, Any]:
    from hpcsim.experiments.inspection_summary import on_the_past

    return {
        "decisions": len(inspection),
        "rule": inspection.rule,
        "differ_from_rule": int(disagreements(inspection).sum()),
        "changed_by_memory": int(changed_by_memory(inspection).sum()),
        "mean_total_variation_by_memory": float(inspection.columns["moved"].mean()) if len(inspection) else None,
        "attention_on_the_past": dict(zip(inspection.heads, on_the_past(inspection).tolist(), strict=True)),
        "gates": {name: float(openness.mean()) for name, openness in inspection.gates.items() if len(openness)},
    }
