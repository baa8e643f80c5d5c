"""The header of an SWF file: comments of the form ``; Key: value``, read and written.

Keys may repeat, be right-aligned, or stand directly behind the semicolon; a comment that is no
``Key: value`` continues the value above it. Whatever belongs to no key is kept under the key ``""``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hpcsim.node_ids import MOST_NODES
from hpcsim.workloads.swf_fields import LARGEST

Header = dict[str, list[str]]

FREE_TEXT = ""
"""The key of comments that belong to no other key."""

MOST_LINES = 10_000
"""Comments read as the header; logs have some hundreds, and a file of nothing else must not fill the memory."""

_KEY = re.compile(r"([A-Z][A-Za-z]*)\s*:(.*)", re.DOTALL)
_FIRST_INTEGER = re.compile(r"-?\d+")


class HeaderReader:
    """Collects header entries from the first `MOST_LINES` comment lines, in the order of the file.

    Attributes:
        passed_over: comments beyond them, as far as they were counted.
    """

    def __init__(self) -> None:
        self.passed_over = 0
        self._values: dict[str, list[list[str]]] = {}
        self._open_key: str | None = None
        self._lines = 0

    @property
    def header(self) -> Header:
        """What was collected so far: key -> values, each of one or more lines."""
        return {key: ["\n".join(lines) for lines in values] for key, values in self._values.items()}

    @property
    def room(self) -> int:
        """How many more comments will be taken."""
        return MOST_LINES - self._lines

    def add(self, comment: bytes) -> None:
        """Take one comment line, its semicolon included; text that is not UTF-8 is read as Latin-1."""
        self._lines += 1
        text = _decode(comment.strip().removeprefix(b";")).strip()
        match = _KEY.match(text)
        if match:
            self._open_key = match[1]
            self._values.setdefault(match[1], []).append([match[2].strip()])
        elif not text:
            self._open_key = None
        elif self._open_key is not None:
            self._values[self._open_key][-1].append(text)
        else:
            self._values.setdefault(FREE_TEXT, []).append([text])

    def close_entry(self) -> None:
        """Say that job lines follow: a later comment continues nothing."""
        self._open_key = None


def header_lines(header: Mapping[str, Iterable[str]]) -> Iterable[str]:
    """Yield the comment lines of *header*, without line ends; `HeaderReader` makes the same header of them."""
    yield from (f"; {text}" for text in header.get(FREE_TEXT, ()))
    for key, values in header.items():
        if key != FREE_TEXT:
            yield from (f"; {key}: {value}".replace("\n", "\n;       ").rstrip() for value in values)


def first_integer(header: Mapping[str, Iterable[str]], key: str) -> int | None:
    """Return the first positive integer in the values of *key*: ``338 (512 total)`` is 338, ``N/A`` is None."""
    for value in header.get(key, ()):
        match = _FIRST_INTEGER.search(value)
        if match and len(match[0]) <= len(str(LARGEST)) and 0 < int(match[0]) <= LARGEST:
            return int(match[0])
    return None


def machine_size(header: Mapping[str, Iterable[str]]) -> int | None:
    """Return the machine's processors by the header: MaxProcs, else MaxNodes, else None."""
    return count_of(header, "MaxProcs") or count_of(header, "MaxNodes")


def count_of(header: Mapping[str, Iterable[str]], key: str) -> int | None:
    """Return `first_integer`, or None also where no machine can be so large."""
    count = first_integer(header, key)
    return None if count is None or count > MOST_NODES else count


def _decode(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")
