"""`hpcsim workload generate`: a job log from a model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hpcsim import registry
from hpcsim.commands import options
from hpcsim.commands.new_log import choose_writer, write_log
from hpcsim.commands.policy_specs import parse_setting
from hpcsim.commands.progress import busy


def workload_generate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Name of a model, see `hpcsim list models`.")],
    *,
    out: options.NewLog,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, metavar="N", help="How many jobs.")] = None,
    nodes: Annotated[int | None, typer.Option("--nodes", min=1, metavar="N", help="Size of the machine.")] = None,
    load: Annotated[float | None, typer.Option("--load", metavar="L", help="Offered load to aim at, as 0.8.")] = None,
    seed: options.Seed = 0,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Parameter of the model; repeatable.")
    ] = None,
    write_as: options.WriteAs = None,
) -> None:
    """Generate a job log by a model; the same seed gives the same file.

    What the model knows and a log would not (run times at other node counts) goes into a file of
    its own, NAME.truth.parquet.
    """
    writer = choose_writer(out, write_as)
    given = {"jobs": jobs, "nodes": nodes, "load": load, "seed": seed}
    parameters: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    parameters |= dict(map(parse_setting, settings or ()))
    with busy(f"Generating {model}"):
        workload = registry.make("models", model, **parameters)
    write_log(workload, out, writer)
