r"""The lines of Slurm's configuration files: ``Key=Value`` pairs, comments, continued lines, included files.

Source: slurm.conf(5). A comment runs from ``#`` to the end of the line, also within quotes; ``\#`` is
the sign itself. A ``\`` at the end of a line, comments aside, joins the next one to it, as it stands: a
list of hosts may go on without a blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hpcsim.errors import ClusterError

MOST_BYTES = 4 << 20
"""No configuration is larger than 4 MiB."""
MOST_FILES = 100

_PAIR = re.compile(r'\s*([\w.]+)\s*[-+*/]?=\s*(?:"([^"]*)"|(\S*))(?=\s|$)', re.ASCII)
_COMMENT = re.compile(r"(?<!\\)#.*")
_INCLUDE = re.compile(r"\s*include\s+(\S.*?)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One ``Key=Value``: *key* in small letters, *shown* as it was written."""

    key: str
    shown: str
    value: str
    path: str
    line: int

    def refused(self, why: str, remedy: str = "Mend that line.") -> ClusterError:
        """Return an error that names file, line and entry."""
        return refused(self.path, self.line, f"{self.shown}={shortened(self.value)}: {why}", remedy)


def refused(path: str, line: int, why: str, remedy: str = "Mend that line.") -> ClusterError:
    """Return an error that names file and line."""
    return ClusterError(f"{path}:{line}: {printable(why)}.", remedy, path=path, line=line)


def printable(text: str) -> str:
    """Return *text* with control signs, which a terminal would obey, written as question marks."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def shortened(text: str) -> str:
    """Return *text*, long ones cut for a message."""
    return text if len(text) <= 60 else f"{text[:60]}..."


def conf_lines(path: Path) -> Iterator[list[Entry]]:
    """Yield the entries of each line of *path*, those of included files in their place.

    Raises:
        ClusterError: a file cannot be read or is too large, a line is no list of pairs, or an
            included file stands outside the folder of *path*.
    """
    yield from _lines(path, path.resolve().parent, [path.resolve()], _read(path, str(path), 1))


def _lines(path: Path, folder: Path, opened: list[Path], text: str) -> Iterator[list[Entry]]:
    for number, line in _joined(text):
        include = _INCLUDE.fullmatch(line)
        if include is None:
            entries = _entries(line, str(path), number)
            if entries:
                yield entries
            continue
        target = _inside(folder, include[1].strip('"'), str(path), number)
        if target.exists() and not target.is_file():
            raise refused(str(path), number, f"includes {shortened(include[1])}, which is no file")
        if len(opened) >= MOST_FILES or target in opened:
            raise refused(str(path), number, f"includes {shortened(include[1])} once more, or too many files")
        opened.append(target)
        yield from _lines(path.parent / target.name, folder, opened, _read(target, str(path), number))


def _inside(folder: Path, name: str, path: str, line: int) -> Path:
    """Return the included file; it must stand in *folder* itself, links followed."""
    try:
        target = (folder / name).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise refused(path, line, f"includes {shortened(name)!r}, which is no path") from error
    if target.parent != folder:
        raise refused(
            path,
            line,
            f"includes {shortened(name)}, which is not in the folder of the file read and is left closed",
            "Copy it there and name it without folders, or take the line out.",
        )
    return target


def _read(path: Path, told: str, line: int) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise refused(told, line, f"cannot read {shortened(str(path))}: {why}", "Check the path.") from error
    if len(raw) > MOST_BYTES:
        raise refused(told, line, f"{path.name} is larger than 4 MiB, which no configuration is", "Check the file.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with the number of its first part; comments are gone, continued lines are one."""
    parts: list[str] = []
    first = 1
    for number, raw in enumerate([*text.split("\n"), ""], start=1):
        first = first if parts else number
        part = _COMMENT.sub("", raw).rstrip()
        parts.append(part.removesuffix("\\"))
        if not part.endswith("\\"):
            yield first, "".join(parts).replace("\\#", "#")
            parts = []


def _entries(line: str, path: str, number: int) -> list[Entry]:
    entries, at, line = [], 0, line.rstrip()
    while at < len(line):
        pair = _PAIR.match(line, at)
        if pair is None:
            raise refused(path, number, f"'{shortened(line[at:].strip())}' is no Key=Value")
        value = pair[3] if pair[2] is None else pair[2]
        entries.append(Entry(pair[1].lower(), pair[1], value, path, number))
        at = pair.end()
    return entries
