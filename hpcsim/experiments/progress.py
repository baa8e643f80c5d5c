"""How far a sweep is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """What is told at the start of a sweep and after each cell.

    Attributes:
        cells: of the whole sweep, each counted once.
        found: had finished before it began.
        done: ended since then, *failed* of them with an error.
        jobs: of the cells that were to be run; *jobs_done*, of those that have ended.
    """

    cells: int
    found: int
    done: int
    failed: int
    jobs: int
    jobs_done: int
