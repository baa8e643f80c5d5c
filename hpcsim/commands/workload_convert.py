"""`hpcsim workload convert`: a job log in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hpcsim.commands import options
from hpcsim.commands.new_log import choose_writer, write_log
from hpcsim.commands.trace import read_trace


def workload_convert(
    trace: options.Trace,
    out: Annotated[Path, typer.Argument(metavar="FILE", help="File to write: .swf, .swf.gz or .parquet.")],
    *,
    limit: options.Limit = None,
    file_format: options.Format = "auto",
    read: options.Read = None,
    mode: options.Mode = None,
    quarantine: options.Quarantine = None,
    write_as: options.WriteAs = None,
) -> None:
    """Read a job log, repair it, and write it in another format."""
    writer = choose_writer(out, write_as)
    write_log(read_trace(trace, file_format, read, mode=mode, quarantine=quarantine, limit=limit), out, writer)
