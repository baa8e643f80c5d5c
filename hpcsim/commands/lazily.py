"""Commands that are imported when they are called: `hpcsim run` should not wait for what `hpcsim tune` needs."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """A command that takes the root command's ``--debug`` after its own name, too."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's own parameters and ``--debug``."""
        inherited = [option for option in ctx.find_root().command.params if option.name == "debug"]
        return [*super().get_params(ctx), *inherited]

    def invoke(self, ctx: Any) -> Any:
        """Hand ``--debug`` to the root command, which deals with errors, and run this one without it."""
        if ctx.params.pop("debug", False):
            ctx.find_root().params["debug"] = True
        return super().invoke(ctx)


class LazyGroup(TyperGroup):
    """A group whose commands are loaded by name.

    Attributes:
        places: for each command, in the order of the help, the function it is made of, as
            ``module:function`` below `hpcsim.commands`.
    """

    places: ClassVar[dict[str, str]] = {}

    def __init__(self, *, commands: Any = None, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _ByName({**self.places, **(commands or {})})

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, in the order of the help."""
        return list(self.commands)


class _ByName(UserDict[str, Any]):
    """Commands by name; one that stands as its place is loaded when it is first asked for."""

    def __getitem__(self, name: str) -> Any:
        command = super().__getitem__(name)
        if isinstance(command, str):
            self.data[name] = command = _made_of(name, command)
        return command


def _made_of(name: str, place: str) -> Any:
    """Return the command *name* made of the function at *place*."""
    module, _, function = place.partition(":")
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, cls=Command)(getattr(import_module(f"hpcsim.commands.{module}"), function))
    return typer.main.get_command(alone)
