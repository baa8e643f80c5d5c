"""`hpcsim surrogate explain`: what do the predictions of a saved surrogate rest on?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hpcsim.commands import options
from hpcsim.commands.output import print_json, print_table
from hpcsim.commands.surrogate_plugins import card_of, explained, load_model
from hpcsim.results.quantities import number, percentage

SHOWN = 10


def surrogate_explain(
    model: Annotated[Path, typer.Argument(parser=options.path, metavar="MODEL", help="Folder of a fitted surrogate.")],
    *,
    json: options.Json = False,
) -> None:
    """Show which features a surrogate's predictions rest on, and what it has learned of the applications."""
    card = card_of(model)
    found = explained(load_model(model))
    if json:
        print_json(found | {"card": card})
        return
    titles = {"run_s": "run time", "power_w": "power"}
    for target, importance in found["importance"].items():
        rows = [(name, percentage(share)) for name, share in list(importance.items())[:SHOWN]]
        if rows:
            print_table(f"{card['surrogate']}: what explains {titles[target]}", ("feature", "share"), rows)
        else:
            typer.echo(f"{card['surrogate']}: no feature explains {titles[target]}; too few jobs, or all alike.\n")
    if not found["importance"]:
        typer.echo(f"{card['surrogate']} follows a fixed rule: no feature is weighed against another.")
    if "speed_ups" in found:
        _print_speed_ups(found)


def _print_speed_ups(found: dict[str, Any]) -> None:
    node, counts = found["node"], found["counts"]
    headings = ("application", *(f"on {count:,}" for count in counts))
    known = [(app, values) for app, values in found["speed_ups"].items() if app is not None]
    shown = [(number(app), values) for app, values in known[:SHOWN]] + [("never seen", found["speed_ups"][None])]
    rows = [(name, *(f"{value:.1f}" for value in values)) for name, values in shown]
    more = f", the first {SHOWN} of {len(known):,}" if len(known) > SHOWN else ""
    print_table(f"Speed-up of applications over one node{more}", headings, rows)
    if node is None:
        typer.echo("Nodes: the log had no power, so nothing is known of their watts.")
    else:
        share = percentage(node["waiting_share"])
        typer.echo(f"Nodes: {node['idle_w']:.0f} W idle; a waiting core draws {share} of what it adds when it works.")
