"""Errors as one sentence and an exit code: the only place where that happens."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from hpcsim.commands.lazily import LazyGroup
from hpcsim.commands.output import say
from hpcsim.errors import HpcsimError, HpcsimWarning

EXIT_ERROR = 2
EXIT_DEFECT = 1
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141


class CommandGroup(LazyGroup):
    """The root command. With ``--debug`` errors pass through, traceback and all."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; turn what it raises into a message and an exit code."""
        with _plain_warnings():
            try:
                return super().invoke(ctx)
            except BrokenPipeError:
                _abandon_stdout()
                raise typer.Exit(EXIT_PIPE_CLOSED) from None
            except KeyboardInterrupt:
                say("Interrupted.")
                raise typer.Exit(EXIT_INTERRUPTED) from None
            except (HpcsimError, OSError, MemoryError) as error:
                if ctx.params.get("debug"):
                    raise
                say(f"Error: {_sentence(error)}")
                raise typer.Exit(EXIT_ERROR) from None


def unforeseen(error: BaseException) -> str:
    """Return a message for an error that is none of ours: a plug-in's, or a defect of hpcsim."""
    while error.__cause__ is not None:  # where it came from, not where SimPy raised it again
        error = error.__cause__
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno}). Mend that file if it is yours; "
        "else please report it with what `--debug` prints."
    )


def _sentence(error: BaseException) -> str:
    """Return cause and remedy on one line."""
    if isinstance(error, HpcsimError):
        return " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return "Not enough memory. Simulate fewer jobs with --limit, or use a larger machine."
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}. Check the path, its permissions and the disk."
    return f"{error}. Check the paths, their permissions and the disk."


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show warnings of ours as one line, each once."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, HpcsimWarning):
                say(f"Warning: {message}")
            else:
                shown(message, category, *where, **more)

        warnings.showwarning = show
        yield


def _abandon_stdout() -> None:
    """Point standard output at nothing, so that the interpreter's last flush does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
