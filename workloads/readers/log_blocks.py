"""A log file as blocks of whole lines, plain or gzipped, with line numbers that stay right.

Compression is told by content and not by name. Blocks bound the memory that parsing needs; lines
and compression beyond anything that a log holds are refused, so that no file can exhaust it.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from hpcsim.errors import WorkloadError

BLOCK_BYTES = 1 << 21
LONGEST_LINE_BYTES = 1 << 24
"""No log has a longer line; a file that does is something else."""

HIGHEST_RATIO = 200
"""Logs shrink by gzip to a tenth or a fiftieth; what expands to more than this is a trap."""

_FREE_BYTES = 1 << 26
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines, each ended by one newline; `first_line` counts from 1."""

    text: bytes
    first_line: int


def blocks(path: Path, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """Yield the file's lines in blocks of about *block_bytes*; any line end becomes a newline.

    Raises:
        WorkloadError: the file cannot be opened or read, or its compressed data are damaged.
    """
    line, rest, taken = 1, b"", 0
    with _open(path) as file:
        while piece := _read(file, block_bytes, path, line):
            taken += len(piece)
            _refuse_bomb(path, taken)
            whole, newline, tail = piece.rpartition(b"\n")
            if not newline:
                rest = _longer(rest, piece, path, line)
                continue
            block = Block(_with_newlines(rest + whole + newline, line), line)
            yield block
            line, rest = line + block.text.count(b"\n"), tail
    if rest:
        text = _with_newlines(rest, line)
        yield Block(text if text.endswith(b"\n") else text + b"\n", line)


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (line number, line without its end) of a log, in order.

    Raises:
        WorkloadError: as `blocks`.
    """
    for block in blocks(path):
        yield from enumerate(block.text.split(b"\n")[:-1], block.first_line)


def _open(path: Path) -> BinaryIO:
    try:
        with path.open("rb") as file:
            is_gzip = file.read(2) == _GZIP_MAGIC
        return gzip.open(path, "rb") if is_gzip else path.open("rb")  # type: ignore[return-value]
    except FileNotFoundError as error:
        raise WorkloadError(f"There is no file {path}.", "Check the path.", path=str(path)) from error
    except IsADirectoryError as error:
        raise WorkloadError(f"{path} is a folder.", "Give the log file in it.", path=str(path)) from error
    except (OSError, ValueError) as error:
        raise WorkloadError(f"Cannot open {path}: {error}.", "Check path and permissions.", path=str(path)) from error


def _read(file: BinaryIO, count: int, path: Path, line: int) -> bytes:
    try:
        return file.read(count)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        cause = f"{path} is damaged: its gzip data break off or are corrupt somewhere after line {line}."
        raise WorkloadError(cause, "Fetch it again and compare checksums.", path=str(path), line=line) from error
    except OSError as error:
        raise WorkloadError(f"Cannot read {path}: {error}.", "Check the file.", path=str(path), line=line) from error


def _refuse_bomb(path: Path, taken: int) -> None:
    """Refuse a gzipped file that has given *taken* bytes so far, if that is more than a log can shrink by."""
    if taken <= _FREE_BYTES or taken <= HIGHEST_RATIO * path.stat().st_size:
        return
    cause = f"{path} unpacks to more than {HIGHEST_RATIO} times its size, which no job log does."
    raise WorkloadError(cause, "Unpack it yourself if you trust it.", path=str(path))


def _longer(rest: bytes, piece: bytes, path: Path, line: int) -> bytes:
    """Return the two parts of an unfinished line as one, if it is not too long to be one."""
    if len(rest) + len(piece) > LONGEST_LINE_BYTES:
        cause = f"{path}, line {line} is longer than {LONGEST_LINE_BYTES >> 20} MiB, which no job log has."
        raise WorkloadError(cause, "Check that it is a text file with one record a line.", path=str(path), line=line)
    return rest + piece


def _with_newlines(text: bytes, line: int) -> bytes:
    """Return *text* with CRLF and CR as newlines, and without a byte order mark at the file's start."""
    if line == 1:
        text = text.removeprefix(_BYTE_ORDER_MARK)
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
