"""`hpcsim validate`: how near do simulated waits come to the recorded ones?"""

from __future__ import annotations

from typing import Annotated

import typer

from hpcsim.commands import options
from hpcsim.commands.output import print_json, print_table, results_only, say
from hpcsim.commands.policy_specs import choose_policies
from hpcsim.commands.progress import watch
from hpcsim.commands.trace import choose_machine, describe, limit_by_partitions, read_trace
from hpcsim.experiments.validation import Validation
from hpcsim.experiments.validation import validate as validate_waits
from hpcsim.results.agreement import Agreement
from hpcsim.results.quantities import count, duration, number, percentage

HEADINGS = ("jobs", "recorded", "simulated", "error", "x2", "rank")
LEGEND = (
    "recorded, simulated: mean waits; error: median of |simulated - recorded|; "
    "x2: share of waits within a factor of two; rank: Spearman's correlation."
)
KINDS = {"size": "By width", "time": "By submit time", "user": "By user's share of node-seconds"}


def validate(
    trace: options.Trace,
    *,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="NAME", help="Policy to try, as for run; repeat it. Default: fcfs and easy."),
    ] = None,
    nodes: options.Nodes = None,
    processors: options.Processors = None,
    cluster: options.ClusterFile = None,
    limit: options.Limit = None,
    seed: options.Seed = 0,
    file_format: options.Format = "auto",
    read: options.Read = None,
    mode: options.Mode = None,
    json: options.Json = False,
) -> None:
    """Simulate a log that records its waits, and say how near the simulated waits come to them.

    Differences between policies that are smaller than the median error here deserve no belief.
    """
    policies = choose_policies(policy or ["fcfs", "easy"])
    workload = read_trace(trace, file_format, read, mode=mode, limit=limit)
    machine = choose_machine(workload, nodes=nodes, processors=processors, cluster_file=cluster)
    workload = limit_by_partitions(workload, machine)
    with results_only():
        found = validate_waits(workload, machine, policies, watch=watch, seed=seed)
    if json:
        print_json(found.to_dict())
        return
    _print(found, describe(trace, machine))


def _print(found: Validation, title: str) -> None:
    nearest = found.nearest
    print_table(f"Waits, {title}", ("policy", *HEADINGS), [(n, *_cells(a)) for n, a in found.overall.items()])
    for kind, classes in found.classes[nearest].items():
        rows = [(name, *_cells(each)) for name, each in classes.items()]
        print_table(f"{KINDS[kind]}, under {nearest}", ("", *HEADINGS), rows)
    typer.echo(LEGEND + "\n\n" + _sentence(found))
    typer.echo("\nRead with care:")
    for note in found.caveats():
        typer.echo(f"  - {note}")
    if found.not_compared:
        say(f"{count(found.not_compared, 'job')} left out: no recorded wait, or not started.")


def _sentence(found: Validation) -> str:
    best = found.overall[found.nearest]
    return (
        f"{found.nearest} comes nearest: half of the simulated waits lie within {duration(best.median_error_s)} of the "
        f"recorded ones; the mean is {duration(best.simulated_mean_s)} against {duration(best.recorded_mean_s)}."
    )


def _cells(each: Agreement) -> tuple[str, ...]:
    return (
        number(each.jobs),
        *map(duration, (each.recorded_mean_s, each.simulated_mean_s, each.median_error_s)),
        percentage(each.within_factor_two),
        number(each.rank_correlation),
    )
