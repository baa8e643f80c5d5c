"""Which columns a ``sacct`` dump has, in which order, and what stands between them.

Source: sacct(1) of Slurm 24.05 and before; renamed fields go by their newest name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hpcsim.errors import WorkloadError

EXPORT = (
    "sacct -a -X -P --format=JobID,JobIDRaw,User,Group,Account,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,"
    "TimelimitRaw,State,ExitCode,NNodes,NCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,ConsumedEnergyRaw,NodeList,JobName"
)
"""The command that exports everything that is read, free text last."""

RECOMMENDED = tuple(EXPORT.partition("--format=")[2].lower().split(","))
XDMOD = (
    *("jobid", "jobidraw", "cluster", "partition", "qos", "account", "group", "gid", "user", "uid", "submit"),
    *("eligible", "start", "end", "elapsed", "exitcode", "state", "nnodes", "ncpus", "reqcpus", "reqmem", "reqtres"),
    *("alloctres", "timelimit", "nodelist", "jobname"),
)
"""The order that Open XDMoD exports without a header."""

_HEADERLESS = {len(XDMOD): XDMOD, len(RECOMMENDED): RECOMMENDED}

FREE_TEXT = frozenset({"jobname", "submitline", "constraints", "comment", "workdir", "admincomment", "systemcomment"})
"""Fields that may hold anything, the delimiter and line ends too."""

_RENAMED = {"allocnodes": "nnodes", "alloccpus": "ncpus", "reserved": "planned", "jobidraw": "jobidraw"}
_KNOWN = frozenset(XDMOD) | frozenset(RECOMMENDED) | FREE_TEXT | {"elapsedraw", "timelimitraw", "exitcode", "maxrss"}
_NAME = re.compile(rb"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Layout:
    """The shape of a dump.

    Attributes:
        names: fields in lower case, in order; a repeated one has ``#2`` behind it.
        delimiter: what stands between two.
        header: the header line, or empty where there is none.
        is_closed: a delimiter follows the last field, too (``-p``).
    """

    names: tuple[str, ...]
    delimiter: bytes
    header: bytes = b""
    is_closed: bool = False

    @property
    def delimiters(self) -> int:
        """How many delimiters a whole line holds."""
        return len(self.names) - 1 + self.is_closed


def detect(
    first_line: bytes, path: str, *, columns: Sequence[str] | None = None, delimiter: str | None = None
) -> Layout:
    """Return the layout of a dump by its first line; *columns* name those of one without a header.

    Raises:
        WorkloadError: it is no such dump, has no header and columns that are not known, or a header that
            names others than *columns*.
    """
    given = None if delimiter is None else delimiter.encode()
    if given is not None and given[:1] in b"\r\n":
        raise WorkloadError("A line end cannot delimit fields.", "Give another delimiter.", field="delimiter")
    header = _header(first_line, given)
    if header is not None:
        if columns is not None and tuple(columns) != header.names:
            cause = f"{path} has a header, and it names other columns than those given."
            raise WorkloadError(cause, "Leave columns away: the header is right.", path=path, line=1)
        return header
    separator = given or b"|"
    width = first_line.count(separator) + 1
    if re.match(rb"\s*JobID\s{2,}|\s*JobID\s+-", first_line, re.IGNORECASE):
        cause = f"{path} is sacct's output for people, in which long values are cut."
        raise WorkloadError(cause, f"Export it with -P: {EXPORT}", path=path, line=1)
    if columns is not None:
        return _given(tuple(columns), width, separator, path)
    if width in _HEADERLESS:
        return Layout(_HEADERLESS[width], separator)
    if width - 1 in _HEADERLESS and first_line.endswith(separator):
        return Layout(_HEADERLESS[width - 1], separator, is_closed=True)
    cause = f"{path} has no header with JobID, and {width} columns do not tell what they are."
    raise WorkloadError(
        cause, "Name the columns in their order (columns=...), or export with a header.", path=path, line=1
    )


def names_of(columns: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return column names of a list, or of a text as it stands behind ``--format=``; widths (``%20``) are dropped."""
    if columns is None:
        return None
    items = columns.split(",") if isinstance(columns, str) else columns
    if not isinstance(items, Iterable):
        raise WorkloadError(
            f"The columns are {columns!r}.", "Name them in order, as behind --format=.", field="columns"
        )
    return _unique([_canonical(str(item).partition("%")[0]) for item in items])


def is_header(line: bytes) -> bool:
    """Tell whether a line is the header of a dump."""
    return _header(line, None) is not None


def _header(line: bytes, given: bytes | None) -> Layout | None:
    """Return the layout of a header line: names that sacct has, JobID among them, evenly delimited."""
    text = line.strip(b" ") if given is None else line
    first = _NAME.match(text)
    if first is None:
        return None
    following = _NAME.search(text, first.end())
    separator = given or (text[first.end() : following.start()] if following else text[first.end() :])
    if not separator or not separator.strip(b" ") or (len(separator) == 1 and separator[0] > 127):
        return None
    names = [name.decode("ascii", "replace").strip() for name in text.split(separator)]
    is_closed = len(names) > 1 and names[-1] == ""
    canonical = [_canonical(name) for name in names[: len(names) - is_closed]]
    if not {"jobid", "jobidraw"} & set(canonical) or (len(canonical) > 1 and len(_KNOWN & set(canonical)) < 2):
        return None
    return Layout(_unique(canonical), separator, line, is_closed)


def _given(names: tuple[str, ...], width: int, separator: bytes, path: str) -> Layout:
    if width not in {len(names), len(names) + 1}:
        cause = f"{path} has {width} columns in its first line, and {len(names)} are named."
        raise WorkloadError(cause, "Name each column once, in order; or give the delimiter.", path=path, line=1)
    return Layout(names, separator, is_closed=width == len(names) + 1)


def _canonical(name: str) -> str:
    lower = name.strip().lower()
    return _RENAMED.get(lower, lower)


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return tuple(unique)
