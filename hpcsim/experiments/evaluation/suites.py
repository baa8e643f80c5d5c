"""The suites: which sequences, and under which protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from hpcsim.errors import UnknownName, closest
from hpcsim.experiments.evaluation.fresh import CHOICE_SEED, WORKLOADS, estimates, fresh, loads, machines
from hpcsim.experiments.evaluation.logs import LOGS, read_log
from hpcsim.experiments.evaluation.sequences import (
    PUBLISHED_STARTS,
    Sequence,
    consecutive_starts,
    cut,
    random_starts,
)

Protocol = Literal["published", "full-easy"]
"""``published``: RLScheduler's, event by event with a committed head and its backfilling. ``full-easy``:
textbook EASY beside the head, shortest request first, the reservation derived anew at each pass."""

WINDOWS = 150
LAST_SHARE = 0.4
"""The end of a log that months are cut from; its beginning may train."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Sequences and a protocol, by name.

    Attributes:
        about: what it is, in a line.
        protocol: what stands beside a head.
        sequences: from a folder with logs (or None) to the sequences.
    """

    about: str
    protocol: Protocol
    sequences: Callable[[str | None], list[Sequence]]


def find_suite(name: str) -> Suite:
    """Return the suite called *name*.

    Raises:
        UnknownName: there is none.
    """
    if name not in SUITES:
        raise UnknownName(f"There is no suite '{name}'.{closest(name, SUITES)}", f"Give one of: {', '.join(SUITES)}.")
    return SUITES[name]


def _published(name: str, data: str | None) -> list[Sequence]:
    return cut(read_log(name, data), LOGS[name].nodes, name, PUBLISHED_STARTS)


def _windows(name: str, data: str | None) -> list[Sequence]:
    log = read_log(name, data)
    return cut(log, LOGS[name].nodes, name, random_starts(len(log), WINDOWS, seed=(1024, list(LOGS).index(name))))


def _months(name: str, data: str | None) -> list[Sequence]:
    log = read_log(name, data)
    return cut(log, LOGS[name].nodes, name, consecutive_starts(len(log), LAST_SHARE))


def _first_months(name: str, data: str | None) -> list[Sequence]:
    log = read_log(name, data)
    return cut(log, LOGS[name].nodes, name, consecutive_starts(len(log), LAST_SHARE, is_last=False))


def _named(kind: str, about: str, protocol: Protocol, logs: tuple[str, ...]) -> dict[str, Suite]:
    of = {"rls": _published, "windows": _windows, "months": _months, "choice": _first_months}[kind]
    return {f"{kind}-{name}": Suite(about.format(name), protocol, partial(of, name)) for name in logs}


SUITES: dict[str, Suite] = (
    _named(
        "rls", "RLScheduler's ten published sequences of {}", "published", ("lublin-1", "lublin-2", "sdsc-sp2", "hpc2n")
    )
    | _named(
        "windows",
        f"{WINDOWS} random windows of {{}}",
        "published",
        ("lublin-1", "lublin-2", "hpc2n", "sdsc-sp2"),
    )
    | {
        "windows-fresh": Suite(
            f"{WINDOWS} random windows of {WORKLOADS} generated workloads",
            "published",
            lambda _data: fresh(WINDOWS // WORKLOADS),
        ),
        "windows-choice": Suite(
            f"as many of {WORKLOADS} others, to choose a network on",
            "published",
            lambda _data: fresh(WINDOWS // WORKLOADS, CHOICE_SEED),
        ),
    }
    | _named("choice", "consecutive windows of the first 60 % of {}, to choose on", "full-easy", ("ctc", "kth"))
    | _named("months", "consecutive windows of the last 40 % of {}", "full-easy", ("sdsc-sp2", "hpc2n", "ctc", "kth"))
    | {
        "robust-load": Suite("generated workloads at loads 0.6 to 1.2", "full-easy", lambda _data: loads()),
        "robust-machine": Suite("the same on machines of x0.5 to x4", "full-easy", lambda _data: machines()),
        "robust-estimates": Suite("limits from perfect to users' own", "full-easy", lambda _data: estimates()),
    }
)
"""All suites by name. `hpcsim evaluate --suite`."""
