"""Options that all readers share, checked before a file is opened."""

from __future__ import annotations

from typing import Any, get_args

from hpcsim.errors import WorkloadError, closest
from hpcsim.ingest import Mode
from hpcsim.node_ids import MOST_NODES


def check_options(mode: str, quarantine_path: Any, limit_rows: int | None) -> None:
    """Refuse an unknown mode, a quarantine file without that mode or the reverse, and a negative row count.

    Raises:
        WorkloadError: any of these.
    """
    check_choice("mode", mode, get_args(Mode))
    if (mode == "quarantine") != (quarantine_path is not None):
        raise WorkloadError("Mode 'quarantine' and quarantine_path go together.", "Give both or neither.")
    if limit_rows is not None and (not _is_whole(limit_rows) or limit_rows < 0):
        raise WorkloadError(f"Cannot read {limit_rows} rows.", "Give limit_rows of 0 or more.")


def check_choice(what: str, value: Any, known: tuple[str, ...]) -> None:
    """Refuse a *value* that is none of the *known* ones, and offer the closest.

    Raises:
        WorkloadError: it is none.
    """
    if value not in known:
        raise WorkloadError(f"There is no {what} '{value}'.{closest(str(value), known)}", f"Known: {', '.join(known)}.")


def check_text(name: str, value: Any) -> None:
    """Refuse a *value* of option *name* that is no text, or an empty one; None is not given.

    Raises:
        WorkloadError: it is neither.
    """
    if value is not None and (not isinstance(value, str) or not value):
        raise WorkloadError(f"The option {name} is {value!r}.", "Give a text, or leave it out.", field=name)


def check_machine(size: int | None, counted: str) -> None:
    """Refuse a machine of no nodes or processors, or of more than any has; None is not given.

    Raises:
        WorkloadError: it is such a size.
    """
    if size is not None and not _is_whole(size):
        raise WorkloadError(f"A machine of {size!r} {counted} is none.", "Give a whole number.")
    if size is not None and size < 1:
        raise WorkloadError(f"A machine of {size} {counted} runs nothing.", f"Give {counted} of 1 or more.")
    if size is not None and size > MOST_NODES:
        raise WorkloadError(f"No machine has {size} {counted}.", f"Give at most {MOST_NODES}.")


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)
