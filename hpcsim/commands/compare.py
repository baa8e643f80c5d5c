"""`hpcsim compare`: one trace, one machine, several policies."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hpcsim.commands import options
from hpcsim.commands.comparison_table import print_comparison, print_pair
from hpcsim.commands.out_folder import check_file, check_result_folder, folder_name
from hpcsim.commands.output import print_json, results_only, say
from hpcsim.commands.policy_specs import choose_policies
from hpcsim.commands.progress import watch
from hpcsim.commands.report_file import write_report_file
from hpcsim.commands.run import partial_saved
from hpcsim.commands.trace import choose_machine, describe, limit_by_partitions, read_trace
from hpcsim.experiments.side_by_side import run_policies
from hpcsim.results.result import Result

FAILED = "failed"
"""Folder, beside the policies' own, of the run that a policy's error ended."""


class Window(StrEnum):
    """Widths of the windows that intervals are made of."""

    WEEK = "week"
    DAY = "day"
    HOUR = "hour"


def compare(
    trace: options.Trace,
    *,
    policy: options.Policies,
    nodes: options.Nodes = None,
    processors: options.Processors = None,
    cluster: options.ClusterFile = None,
    limit: options.Limit = None,
    until: options.Until = None,
    seed: options.Seed = 0,
    file_format: options.Format = "auto",
    read: options.Read = None,
    mode: options.Mode = None,
    quarantine: options.Quarantine = None,
    check: options.Check = False,
    window: Annotated[
        Window | None, typer.Option("--window", help="Windows of the intervals; weeks if the log has 12, else days.")
    ] = None,
    classes: Annotated[
        bool, typer.Option("--classes", help="Show the mean waits by size, length and user class as well.")
    ] = False,
    allow_unequal: Annotated[
        bool, typer.Option("--allow-unequal", help="Compare although the policies finished different jobs.")
    ] = False,
    out: options.Out = None,
    report: options.ReportFile = None,
    json: options.Json = False,
) -> None:
    """Simulate a job log under several policies.

    Each policy is compared with the first, job by job; 95 % intervals say what the log can show.
    Waits and slowdowns are averages over the jobs that started.
    """
    from hpcsim.results.comparison import compare as compare_results
    from hpcsim.results.pairwise import against_first

    check_file(report)
    policies = choose_policies(policy)
    for label in (*policies, FAILED):
        check_result_folder(None if out is None else out / folder_name(label))
    workload = read_trace(trace, file_format, read, mode=mode, quarantine=quarantine, limit=limit)
    machine = choose_machine(workload, nodes=nodes, processors=processors, cluster_file=cluster)
    workload = limit_by_partitions(workload, machine)
    runs = run_policies(workload, machine, policies, watch=watch, seed=seed, until=until, check=check)
    results = _finished(runs, out)
    comparison = compare_results(results, allow_unequal=allow_unequal)
    pairs = against_first(results, width=window, seed=seed, allow_unequal=allow_unequal)
    title = describe(trace, machine)
    if report is not None:
        write_report_file(results, report, title=title, pairs=pairs)
        say(f"Report in {report}")
    if json:
        rows = comparison.to_dict("index")
        print_json(rows | {pair.new: rows[pair.new] | {"against": pair.to_dict()} for pair in pairs})
    else:
        print_comparison(title, comparison)
        for pair in pairs:
            print_pair(pair, classes=classes)


def _finished(runs: Iterator[tuple[str, Result]], out: Path | None) -> dict[str, Result]:
    """Collect the results, each saved into a folder of its own as soon as it is there."""
    results = {}
    with results_only(), partial_saved(None if out is None else out / FAILED):
        for label, result in runs:
            results[label] = result
            if out is not None:
                result.save(out / folder_name(label))
                say(f"Saved in {out / folder_name(label)}")
    return results
