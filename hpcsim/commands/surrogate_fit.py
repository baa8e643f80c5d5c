"""`hpcsim surrogate fit`: learn from the finished jobs of a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hpcsim.commands import options
from hpcsim.commands.out_folder import check_folder
from hpcsim.commands.output import print_json, print_table, results_only, say
from hpcsim.commands.policy_specs import make_plugin, split_spec
from hpcsim.commands.progress import busy
from hpcsim.commands.surrogate_plugins import card_of, check_replaceable, outcomes_of
from hpcsim.commands.trace import read_trace
from hpcsim.results.quantities import count, duration, percentage


def surrogate_fit(
    trace: options.Trace,
    *,
    out: Annotated[Path, typer.Option("--out", parser=options.path, metavar="DIR", help="Folder for the model.")],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="NAME[:KEY=VALUE,...]",
            help="Surrogate, see `hpcsim list surrogates`, and its parameters.",
        ),
    ] = "semi-parametric",
    sample: Annotated[
        str | None,
        typer.Option("--sample", metavar="WAY:rate=R", help="Learn from a part of the jobs, as difficulty:rate=0.5."),
    ] = None,
    seed: options.Seed = 0,
    limit: options.Limit = None,
    file_format: options.Format = "auto",
    read: options.Read = None,
    json: options.Json = False,
) -> None:
    """Learn from a log's finished jobs what others would take and draw at any node count.

    DIR gets a model without pickle: a card in JSON, tables, and boosters in their own text. It may hold an older one.
    """
    check_folder(out)
    check_replaceable(out)
    name, settings = split_spec(model)
    sampling = [] if sample is None else [f'sampler="{sample}"']
    surrogate = make_plugin("surrogates", name, [f"seed={seed}", *settings, *sampling])
    workload = read_trace(trace, file_format, read, limit=limit)
    with results_only(), busy(f"Fitting {name}"):
        outcomes = outcomes_of(workload)
        surrogate.fit(outcomes)
        surrogate.save(out)
    card = card_of(out)
    if json:
        print_json(card)
    else:
        print_table(f"{name}, learned from {Path(trace).name}", ("", ""), _facts(card, len(workload), len(outcomes)))
    drawn = getattr(surrogate, "sample", None)
    if drawn is not None:
        say(f"Sampling {drawn}.")
    say(f"Saved in {out}; ask it with: hpcsim surrogate predict {out} {trace} --nodes 1-64")


def _facts(card: dict[str, Any], jobs: int, finished: int) -> list[tuple[str, str]]:
    train, held_out = card["train"], sum(card["intervals"]["held_out_jobs"])
    rows = [
        ("jobs of the log", count(jobs, "job")),
        ("of these ran to a good end", count(finished, "job")),
        ("learned from", count(train["rows"], "job")),
        ("of these with a measured power", count(train["with_power"], "job")),
        ("span of their submits", duration(train["last_submit_s"] - train["first_submit_s"])),
        ("applications", f"{len(card['apps']):,}"),
        ("features", f"{len(card['features'])}, of which {len(card['moves_with_nodes'])} move with the node count"),
    ]
    level = percentage(card["intervals"]["level"])
    said = (
        f"{level}, by {count(held_out, 'held-out job')}" if held_out else "a factor of 3: too few jobs to hold any out"
    )
    return [*rows, ("intervals", said)]
