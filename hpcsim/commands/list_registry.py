"""`hpcsim list`: what is there to choose from?"""

from __future__ import annotations

import re
from typing import Annotated

import typer

from hpcsim import registry
from hpcsim.commands import options
from hpcsim.commands.output import print_json, print_table
from hpcsim.errors import HpcsimError

_EMPHASIS = re.compile(r"\*(\w+)\*")
"""A parameter's name as docstrings mark it."""


def list_registry(
    group: Annotated[str, typer.Argument(metavar="GROUP", help=f"One of: {', '.join(registry.GROUPS)}.")] = "policies",
    json: options.Json = False,
) -> None:
    """List what is registered: policies, orders, readers, models, ..."""
    entries = [(name, _summary(group, name)) for name in registry.names(group)]
    if json:
        print_json([{"name": name, "summary": summary} for name, summary in entries])
    elif not entries:
        typer.echo(f"Nothing is registered under '{group}'. Packages add to it by entry points of hpcsim.{group}.")
    else:
        print_table(group.capitalize(), ("name", "what it does"), entries, left=2)


def _summary(group: str, name: str) -> str:
    """Return the one-line summary; for a plug-in that cannot be loaded, why not."""
    try:
        return _EMPHASIS.sub(r"\1", registry.summary(group, name))
    except HpcsimError as error:
        return str(error)
