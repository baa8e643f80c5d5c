"""One colour for each policy, the same on every page and in every plot; colour-blind readers can tell them apart."""

from __future__ import annotations

from collections.abc import Collection
from zlib import crc32

from hpcsim.results.report_style import COLOURS

TEXTBOOK = ("fcfs", "easy", "conservative", "sjf", "saf", "ljf")
"""Policies with a colour of their own, in the order of `COLOURS`."""


def colours(names: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return the colour of each name on light and on dark ground, as hexadecimal text.

    A textbook policy always has its own colour and another name one that follows from the name.
    Where two of *names* would share one, the later gets the next that is free; with more names
    than colours they repeat.
    """
    chosen: dict[str, int] = {}
    for name in sorted(names, key=lambda name: _key(name) not in TEXTBOOK):  # these first: theirs are fixed
        wanted = _preferred(name)
        order = [(wanted + step) % len(COLOURS) for step in range(len(COLOURS))]
        free = [index for index in order if index not in chosen.values()]
        chosen[name] = free[0] if free else wanted
    return {name: COLOURS[chosen[name]] for name in names}


def _preferred(name: str) -> int:
    key = _key(name)
    return TEXTBOOK.index(key) if key in TEXTBOOK else crc32(key.encode()) % len(COLOURS)


def _key(name: str) -> str:
    return name.lower().replace("_", "-")
