"""`hpcsim cluster from-slurm` and `from-swf`: a machine description from a site's own files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hpcsim import registry
from hpcsim.commands import options
from hpcsim.commands.output import say
from hpcsim.derived_cluster import DerivedCluster
from hpcsim.results.quantities import count
from hpcsim.toml_text import inline


def from_slurm(
    conf: Annotated[Path, typer.Argument(parser=options.path, metavar="SLURM_CONF", help="Slurm's slurm.conf.")],
    *,
    gres: Annotated[
        Path | None, typer.Option("--gres", parser=options.path, metavar="FILE", help="Slurm's gres.conf.")
    ] = None,
    keep_down: Annotated[
        bool, typer.Option("--keep-down", help="Keep nodes and partitions that the file has as down.")
    ] = False,
) -> None:
    """Write the machine of a slurm.conf as TOML, its scheduler as comments; what is lost goes to standard error."""
    _write(conf, registry.make("clusters", "slurm", path=conf, gres=gres, keep_down=keep_down))


def from_swf(log: Annotated[Path, typer.Argument(parser=options.path, metavar="LOG", help="SWF log.")]) -> None:
    """Write the machine of an SWF log's header as TOML; what is lost goes to standard error."""
    _write(log, registry.make("clusters", "swf", path=log))


def _write(source: Path, derived: DerivedCluster) -> None:
    for remark in derived.remarks:
        say(str(remark))
    typer.echo(cluster_text(source.name, derived), nl=False)
    cluster = derived.cluster
    groups = f" in {count(len(cluster.groups), 'group')}" if len(cluster.groups) > 1 else ""
    say(f"{source.name}: {count(cluster.nodes, cluster.counted.removesuffix('s'))}{groups}.")


def cluster_text(source: str, derived: DerivedCluster) -> str:
    """Return the TOML of a cluster under comments: where it comes from, how to schedule as there, what to fill in."""
    lines = [f"Made from {source}."]
    if derived.policy:
        lines += ["", "Scheduling that comes nearest to the site's own:"]
        lines += [f"  hpcsim run LOG --cluster FILE --policy {derived.policy}{_settings(derived.settings)}"]
    if derived.notes:
        lines += ["", derived.notes[0], *(f"  {note}" for note in derived.notes[1:])]
    comments = (f"# {_printable(line)}".rstrip() for line in lines)
    return "\n".join([*comments, "", derived.cluster.to_toml()])


def _printable(line: str) -> str:
    """Return *line* with signs that TOML has in no comment written as question marks."""
    return "".join(sign if sign.isprintable() else "?" for sign in line)


def _settings(settings: Mapping[str, Any]) -> str:
    """Return ``--set`` options for a shell; a text stands without its quotes."""
    typed = (f"{key}={value if isinstance(value, str) else inline(value)}" for key, value in settings.items())
    return "".join(f" --set {shlex.quote(setting)}" for setting in typed)
