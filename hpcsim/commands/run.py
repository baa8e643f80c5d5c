"""`hpcsim run`: one trace, one machine, one policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hpcsim import registry
from hpcsim.commands import options
from hpcsim.commands.advisor_specs import make_advisor
from hpcsim.commands.live_view import live
from hpcsim.commands.out_folder import check_file, check_result_folder
from hpcsim.commands.output import print_json, print_table, results_only, say
from hpcsim.commands.policy_specs import choose_policies
from hpcsim.commands.progress import watch
from hpcsim.commands.report_file import write_report_file
from hpcsim.commands.trace import choose_machine, describe, limit_by_partitions, read_trace
from hpcsim.errors import InvalidDecision, PolicyFailed, StalledPolicy
from hpcsim.results.advised import ADVICE_KEYS
from hpcsim.results.quantities import duration, energy, number, percentage
from hpcsim.results.run import simulate
from hpcsim.results.summary import Figure

if TYPE_CHECKING:
    import pandas as pd

    from hpcsim.results.result import Result

_ALWAYS = ("jobs_submitted", "jobs_started")
_COUNTS = (
    ("jobs submitted", "jobs_submitted"),
    ("jobs started", "jobs_started"),
    ("  failed", "jobs_failed"),
    ("  cancelled", "jobs_cancelled"),
    ("  killed at their limit", "jobs_timeout"),
    ("  unfinished at the cut", "jobs_unfinished"),
    ("  rejected", "jobs_rejected"),
)
_POWERS = (("mean power", "mean_power_w"), ("peak power", "peak_power_w"))
_TIMES = (
    ("mean wait", "mean_wait_s"),
    ("median wait", "median_wait_s"),
    ("95th percentile of waits", "p95_wait_s"),
    ("99th percentile of waits", "p99_wait_s"),
    ("longest wait", "max_wait_s"),
    ("makespan", "makespan_s"),
)


def run(
    trace: options.Trace,
    *,
    nodes: options.Nodes = None,
    processors: options.Processors = None,
    cluster: options.ClusterFile = None,
    policy: options.OnePolicy = "easy",
    settings: options.Settings = None,
    placement: options.Placement = None,
    power_cap: options.PowerCap = None,
    advisor: options.Advisor = None,
    limit: options.Limit = None,
    until: options.Until = None,
    grace: options.Grace = 0,
    seed: options.Seed = 0,
    file_format: options.Format = "auto",
    read: options.Read = None,
    mode: options.Mode = None,
    quarantine: options.Quarantine = None,
    check: options.Check = False,
    explain: options.RecordWaits = False,
    out: options.Out = None,
    report: options.ReportFile = None,
    live_view: options.LiveView = False,
    json: options.Json = False,
) -> None:
    """Simulate a job log under one scheduling policy."""
    check_result_folder(out)
    check_file(report)
    ((label, chosen),) = choose_policies([policy], settings or ()).items()
    where = None if placement is None else registry.make("placements", placement)
    advice = None if advisor is None else make_advisor(advisor)
    workload = read_trace(trace, file_format, read, mode=mode, quarantine=quarantine, limit=limit)
    machine = choose_machine(workload, nodes=nodes, processors=processors, cluster_file=cluster)
    workload = limit_by_partitions(workload, machine)
    machine = machine if power_cap is None else replace(machine, power_cap_w=power_cap, power_cap_steps=())
    shown = live if live_view else watch
    with results_only(), partial_saved(out), shown(label, len(workload)) as recorders:
        result = simulate(
            *(workload, machine, chosen),
            seed=seed,
            until=until,
            grace_s=grace,
            check=check,
            explain=explain,
            recorders=recorders,
            placement=where,
            advisor=advice,
        )
    title = describe(trace, machine)
    _keep(result, label, title, out, report)
    _show(result, f"{label}, {title}", as_json=json)


def _keep(result: Result, label: str, title: str, out: Path | None, report: Path | None) -> None:
    """Save the result and write its report, where they are wanted."""
    if out is not None:
        result.save(out)
        say(f"Saved in {out}")
    if report is not None:
        write_report_file({label: result}, report, title=title)
        say(f"Report in {report}")


def _show(result: Result, title: str, *, as_json: bool) -> None:
    """Print the summary."""
    summary = result.summary()
    if as_json:
        print_json(summary)
        return
    print_table(title, ("", "", "seconds"), _rows(summary))
    for sentence in _remarks(result, summary):
        typer.echo(sentence)


def _remarks(result: Result, summary: dict[str, Figure]) -> Iterator[str]:
    """Yield what the table leaves open: rejections, and advice that came to nothing."""
    if summary["jobs_rejected"]:
        yield _commonest_rejection(result.jobs)
    if summary["jobs_submitted"] and summary.get("advice_kept_rigid") == summary["jobs_submitted"]:
        yield (
            "No job could take advice: the log says nothing of other node counts. Give its truth "
            "(--read truth=FILE), or make it moldable (hpcsim workload transform)."
        )
    if summary.get("advice_kept_error"):
        yield f"The first fault of the advisor: {result.provenance['advice']['first_error']}."


@contextmanager
def partial_saved(out: Path | None) -> Iterator[None]:
    """Save what happened until a policy failed into *out*; the error goes on."""
    try:
        yield
    except (InvalidDecision, PolicyFailed, StalledPolicy) as error:
        if out is not None and error.partial is not None:
            error.partial.save(out)
            say(f"The run until the failure is saved in {out}")
        raise


def _rows(summary: dict[str, Figure]) -> list[tuple[str, str, str]]:
    """Return the lines of the table: what, as people read it, and in seconds where it is a time.

    Ways to end that no job took are left out.
    """
    counts = [(label, key) for label, key in _COUNTS if summary[key] or key in _ALWAYS]
    return [
        *((label, number(summary[key]), "") for label, key in counts),
        *((label, duration(summary[key]), _whole(summary[key])) for label, key in _TIMES),
        ("mean bounded slowdown", number(summary["mean_bounded_slowdown"]), ""),
        ("utilisation", percentage(summary["utilisation"]), ""),
        ("offered load, as run", percentage(summary["offered_load"]), ""),
        *_advice_rows(summary),
        *_energy_rows(summary),
    ]


def _advice_rows(summary: dict[str, Figure]) -> list[tuple[str, str, str]]:
    """Return the lines on advice, where the run has an advisor: the reasons that any job has."""
    if "advice_changed" not in summary:
        return []
    reasons = [key for key in ADVICE_KEYS if key != "advice_changed" and summary[key]]
    return [
        ("on another node count", number(summary["advice_changed"]), ""),
        *((f"  {key.removeprefix('advice_').replace('_', '-')}", number(summary[key]), "") for key in reasons),
    ]


def _energy_rows(summary: dict[str, Figure]) -> list[tuple[str, str, str]]:
    """Return the lines on energy, where the machine's power is described."""
    if "energy_j" not in summary:
        return []
    parts = [("energy", "energy_j"), *((f"  {part}", f"{part}_energy_j") for part in ("jobs", "idle", "boot", "off"))]
    lines = [(label, energy(summary[key]), "") for label, key in parts if summary[key] or label == "energy"]
    lines += [(label, f"{number(summary[key])} W", "") for label, key in _POWERS if summary[key] is not None]
    if summary["cap_overshoot_w_s"]:
        lines.append(("drawn above the cap", f"{number(summary['cap_overshoot_w_s'])} W s", ""))
    if summary["cost"] is not None:
        lines.append(("cost", number(summary["cost"]), ""))
    if summary["co2_kg"]:
        lines.append(("carbon dioxide", f"{number(summary['co2_kg'])} kg", ""))
    return lines


def _commonest_rejection(jobs: pd.DataFrame) -> str:
    """Return a sentence with the reason that most rejected jobs share, the first of equals."""
    reasons = Counter(jobs["state_reason"][jobs["state"] == "REJECTED"])
    reason, rejected = reasons.most_common(1)[0]
    share = f"{number(rejected)} of {number(reasons.total())}"
    return f"Commonest reason of rejection ({share}): {reason.rstrip('.') or 'none given'}."


def _whole(seconds: Figure) -> str:
    return "" if seconds is None else f"{seconds:,.0f}"
