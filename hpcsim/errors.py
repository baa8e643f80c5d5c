"""What can go wrong, and what to do about it: every error names a cause and a remedy.

One root, :class:`HpcsimError`, so that ``except HpcsimError`` catches all of ours and nothing else.
Each class also inherits the builtin that callers already catch. Only ``hpcsim.cli`` turns an error
into an exit code. Warnings have a tree of their own.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any


class HpcsimError(Exception):
    """Root of every error that hpcsim raises.

    ``cause`` says what is wrong, ``remedy`` what to type or change; ``str(error)`` is both.
    """

    def __init__(self, cause: str, remedy: str = "") -> None:
        super().__init__(cause, remedy)
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.cause} {self.remedy}".strip()


class InvalidDecision(HpcsimError, ValueError):
    """A policy yielded a decision that the engine must refuse.

    ``rule`` names the broken rule, ``wanted`` and ``free`` count nodes where that applies.
    Thrown into the policy's generator first; uncaught, it ends the run and ``partial`` holds what
    happened until then.
    """

    def __init__(
        self,
        cause: str,
        remedy: str = "",
        *,
        rule: str = "",
        time_s: float = math.nan,
        job_id: int | str | None = None,
        wanted: int | None = None,
        free: int | None = None,
    ) -> None:
        super().__init__(cause, remedy)
        self.rule = rule
        self.time_s = time_s
        self.job_id = job_id
        self.wanted = wanted
        self.free = free
        self.partial: Any = None


class PolicyFailed(HpcsimError, RuntimeError):
    """A policy raised an error of its own; it is the ``__cause__``, ``partial`` the run so far."""

    partial: Any = None


class StalledPolicy(HpcsimError, RuntimeError):
    """A policy leaves jobs waiting for ever, or decides without end; ``partial`` as above."""

    partial: Any = None


class Clairvoyance(HpcsimError, PermissionError):
    """A policy that is not declared clairvoyant asked for a true run time."""


class InvariantViolation(HpcsimError, AssertionError):
    """The run-time checker or ``verify`` found a broken invariant: a defect, never the user's fault.

    ``faults`` lists all that `verify` found.
    """

    faults: tuple[str, ...] = ()


class PolicyCheckFailed(HpcsimError, AssertionError):
    """A policy, an advisor or a surrogate breaks rules of `hpcsim.testing`; the message says which, and how."""


class Unsupported(HpcsimError, ValueError):
    """A description or option that this version cannot serve; refused rather than answered wrongly."""


class InvalidArgument(HpcsimError, TypeError, ValueError):
    """An argument of a wrong type, or a value that it cannot have."""


class ClusterError(HpcsimError, ValueError):
    """A cluster description that makes no sense; ``path`` and ``line`` say where, if it stands in a site's file."""

    def __init__(self, cause: str, remedy: str = "", *, path: str | None = None, line: int | None = None) -> None:
        super().__init__(cause, remedy)
        self.path = path
        self.line = line


class WorkloadError(HpcsimError, ValueError):
    """A workload that cannot be read or makes no sense; ``path``, ``line``, ``field`` say where."""

    def __init__(
        self,
        cause: str,
        remedy: str = "",
        *,
        path: str | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(cause, remedy)
        self.path = path
        self.line = line
        self.field = field


class ResultError(HpcsimError, ValueError):
    """A saved result that is missing, truncated or foreign."""


class ExperimentError(HpcsimError, ValueError):
    """An experiment file that makes no sense, or a sweep that cannot be run or read."""


class DiskFull(ExperimentError):
    """There is no space left for results: the sweep stops, and can be resumed."""


class FetchError(HpcsimError, OSError):
    """A public log that could not be fetched, or is not what was published."""


class MissingExtra(HpcsimError, ImportError):
    """A feature whose optional packages are not installed; the remedy names the extra."""


class UnknownName(HpcsimError, LookupError):
    """A name that nothing is registered under; the closest one is offered."""


class HpcsimWarning(UserWarning):
    """Root of hpcsim's warnings."""


class WorkloadRepaired(HpcsimWarning):
    """A reader changed or refused rows; the ingest ledger says which."""


class SuspiciousWorkload(HpcsimWarning):
    """Numbers that are legal and unlikely: a wrong machine size, a wrong unit, one arrival instant."""


def closest(name: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the known name nearest to *name*, or ``""``."""
    match = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean '{match[0]}'?" if match else ""
