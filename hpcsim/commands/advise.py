"""`hpcsim advise`: what a saved surrogate advises about one job, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hpcsim import registry
from hpcsim.cluster import Cluster, NodeGroup
from hpcsim.commands import options
from hpcsim.commands.out_folder import check_file
from hpcsim.commands.output import print_json, print_table, say
from hpcsim.commands.policy_specs import parse_setting
from hpcsim.errors import InvalidArgument
from hpcsim.results.plots import check_format
from hpcsim.results.quantities import MISSING, duration, number

ROOMY = NodeGroup(nodes=1024, cores=10**6, gpus=10**6)
"""The machine where none is described: more than most jobs could use."""

MOST_ROWS = 10


def advise(
    *,
    surrogate: Annotated[
        Path, typer.Option("--surrogate", parser=options.path, metavar="DIR", help="Folder of a saved surrogate.")
    ],
    job: Annotated[
        list[str], typer.Option("--job", metavar="KEY=VALUE", help="A field of the job, as nodes=8; repeatable.")
    ],
    rule: Annotated[str, typer.Option("--rule", help="qa(2, 1), deadline(1.2), energy, knee, ...")] = "qa(2, 1)",
    history: Annotated[
        Path | None,
        typer.Option(
            "--history", parser=options.path, metavar="FILE", help="Log of finished jobs, or Parquet of outcomes."
        ),
    ] = None,
    cluster: options.ClusterFile = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", parser=options.path, metavar="FILE", help="Draw the counts: .png, .svg or .pdf."),
    ] = None,
    anywhere: Annotated[bool, typer.Option("--anywhere", help="Also counts far from all experience.")] = False,
    json: options.Json = False,
) -> None:
    """Advise one job on its node count: the front, the choice, how sure that is, and why."""
    if plot is not None:
        check_file(plot)
        check_format(plot)
    machine = Cluster(groups=(ROOMY,)) if cluster is None else Cluster.load(cluster)
    parameters: dict[str, Any] = {"surrogate": str(surrogate), "rule": rule, "support": not anywhere}
    if not surrogate.is_dir():
        raise InvalidArgument(f"There is no folder {surrogate}.", "Give the folder of a surrogate that was saved.")
    known = None if history is None else str(history)
    advisor = registry.make("advisors", "advisor", **parameters, history=known)
    answer = advisor.answer(_fields(job), machine)
    if json:
        print_json(answer.to_dict())
    else:
        _print_answer(answer)
    if plot is not None:
        from hpcsim.results.advice_plot import draw_advice

        plot.parent.mkdir(parents=True, exist_ok=True)
        draw_advice(answer.rows, answer.job.nodes, answer.advice.nodes, plot)
        say(f"Drawn in {plot}")


def _fields(texts: list[str]) -> dict[str, Any]:
    """Return the fields of a job that were typed, each once."""
    fields: dict[str, Any] = {}
    for text in texts:
        key, value = parse_setting(text, "--job")
        if key in fields:
            raise InvalidArgument(f"The field '{key}' of the job is given twice.", "Give it once.")
        fields[key] = value
    return fields


def _print_answer(answer: Any) -> None:
    typer.echo(answer.why())
    _print_choice(answer)
    headings = ("nodes", "run time", "90 % of jobs", "power, W", "energy, MJ", "")
    rows = [_row(answer, row) for row in _shown(answer)]
    print_table("The front of run time and power", headings, rows, left=0, last_is_text=True)
    if answer.advice.reason == "kept-no-support":
        say("Say more of the job (--job app_id=..., user_id=...), give what has run (--history), or add --anywhere.")


def _shown(answer: Any) -> list[dict[str, Any]]:
    """Return the rows to print: the counts asked for and advised, and some of the front, evenly by logarithm."""
    front = [place for place, row in enumerate(answer.rows) if row["is_on_front"]]
    logs = np.log([answer.rows[place]["nodes"] for place in front])
    wanted = np.linspace(logs[0], logs[-1], MOST_ROWS) if front else ()
    chosen = {front[int(np.argmin(np.abs(logs - log)))] for log in wanted}
    own = (answer.job.nodes, answer.advice.nodes)
    return [row for place, row in enumerate(answer.rows) if place in chosen or row["nodes"] in own]


def _print_choice(answer: Any) -> None:
    asked = next(row for row in answer.rows if row["nodes"] == answer.job.nodes)
    chosen = answer.chosen
    if chosen is asked:
        return
    energy = f", energy x {chosen['energy_j'] / asked['energy_j']:.2f}" if asked["energy_j"] else ""
    typer.echo(
        f"Run time x {chosen['run_s'] / asked['run_s']:.2f}{energy}; limit {duration(round(answer.advice.limit_s))} "
        f"(asked for: {duration(round(answer.job.limit_s))})."
    )


def _row(answer: Any, row: dict[str, Any]) -> tuple[str, ...]:
    is_kept = answer.job.nodes == answer.advice.nodes
    own = {"kept" if is_kept else "asked": answer.job.nodes, "advised": None if is_kept else answer.advice.nodes}
    marks = [word for word, nodes in own.items() if row["nodes"] == nodes]
    marks += [] if row["supported"] else ["untried"]
    span = f"{duration(round(row['run_s_low']))} to {duration(round(row['run_s_high']))}"
    watts = MISSING if row["power_w"] is None else number(round(row["power_w"]))
    energy = MISSING if row["energy_j"] is None else f"{row['energy_j'] / 1e6:,.1f}"
    return str(row["nodes"]), duration(round(row["run_s"])), span, watts, energy, ", ".join(marks)
