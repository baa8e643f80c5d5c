"""`hpcsim workload transform`: a job log cut, scaled, thinned or merged."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hpcsim import registry
from hpcsim.commands import options
from hpcsim.commands.calls import check_required, parse_call
from hpcsim.commands.new_log import choose_writer, write_log
from hpcsim.commands.trace import read_trace
from hpcsim.errors import UnknownName

MERGE = "merge"


def workload_transform(
    trace: options.Trace,
    steps: Annotated[
        list[str] | None,
        typer.Argument(metavar="STEP...", help="name:key=value,key=value; see `hpcsim list transformations`."),
    ] = None,
    *,
    out: options.NewLog,
    merge: Annotated[
        list[str] | None, typer.Option("--merge", metavar="LOG", help="Merge this log with it first; repeatable.")
    ] = None,
    file_format: options.Format = "auto",
    read: options.Read = None,
    mode: options.Mode = None,
    limit: options.Limit = None,
    write_as: options.WriteAs = None,
) -> None:
    """Apply transformations to a job log, one after the other, and write the result.

    As in: hpcsim workload transform LOG busiest:span=week scale-load:load=0.9 --out week.swf.gz
    """
    writer = choose_writer(out, write_as)
    calls = [_parse(step) for step in steps or ()]
    workload = read_trace(trace, file_format, read, mode=mode, limit=limit)
    if merge:
        others = [read_trace(other, mode=mode) for other in merge]
        workload = registry.find("transformations", MERGE)(workload, *others)
    for name, parameters in calls:
        workload = registry.make("transformations", name, workload=workload, **parameters)
    write_log(workload, out, writer)


def _parse(step: str) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of one step, checked before anything is read."""
    name, parameters = parse_call(step)
    if name == MERGE:
        raise UnknownName("A merge takes other logs, which a step cannot name.", "Add --merge LOG.")
    check_required("transformations", name, parameters, skip=1)
    return name, parameters
