"""One SWF line at a time, with care: for the lines that no fast parser takes.

The bulk of a log never comes here. Lines with too few or too many fields, or with something that
is no number, do; each either gives 18 numbers or is refused with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hpcsim.workloads.readers.findings import Findings, Rule
from hpcsim.workloads.swf_fields import FIELDS, LARGEST, MISSING, title

NEEDED = 9
"""A line must reach the requested time: without it there is no telling what the job was."""

TOO_SHORT = Rule("too-few-fields", "refused", "line", f"fewer than {NEEDED} fields: the line was cut, or is no SWF")
SHORT = Rule("short-line", "changed", "line", f"{NEEDED} to {len(FIELDS) - 1} fields; the others are not known")
LONG = Rule("extra-fields", "noted", "line", "more than 18 fields; those beyond the 18th are not read")
_ESSENTIAL = frozenset({"job_id", "submit_s", "run_s"})
_UNREADABLE = {
    name: Rule("not-a-number", "refused" if name in _ESSENTIAL else "changed", title(name), remark)
    for name in FIELDS
    for remark in ("no number of at most 1e15" + ("" if name in _ESSENTIAL else ", taken as not known"),)
}
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")

Numbers = list[int | float]


def parse_line(text: bytes, line: int, findings: Findings) -> Numbers | None:
    """Return the 18 numbers of one line, or None where it is refused; *findings* says what was wrong."""
    tokens = text.split()
    if len(tokens) < NEEDED:
        findings.add(TOO_SHORT, line, f"{len(tokens)} fields", "no job")
        return None
    numbers = [number(token) for token in tokens[: len(FIELDS)]]
    if not _take_unreadable(numbers, tokens, line, findings):
        return None
    if len(tokens) < len(FIELDS):
        findings.add(SHORT, line, f"{len(tokens)} fields", f"{len(FIELDS)} fields")
    elif len(tokens) > len(FIELDS):
        findings.add(LONG, line, f"{len(tokens)} fields", f"{len(FIELDS)} fields")
    return [MISSING if value is None else value for value in numbers] + [MISSING] * (len(FIELDS) - len(numbers))


def number(token: bytes) -> int | float | None:
    """Return the number that *token* is, or None: words, ``nan``, ``inf`` and what is over `LARGEST` are none."""
    if not _NUMBER.fullmatch(token):
        return None
    value = float(token)
    if abs(value) > LARGEST:
        return None
    return int(value) if value.is_integer() else value


def _take_unreadable(numbers: Sequence[int | float | None], tokens: list[bytes], line: int, findings: Findings) -> bool:
    """Record each field that is no number; return whether the line can still become a job."""
    bad = [place for place, value in enumerate(numbers) if value is None]
    essential = [place for place in bad if FIELDS[place] in _ESSENTIAL]
    for place in essential[:1] or bad:
        rule = _UNREADABLE[FIELDS[place]]
        findings.add(rule, line, _shown(tokens[place]), "no job" if essential else str(MISSING))
    return not essential


def _shown(token: bytes) -> str:
    return token[:40].decode("ascii", errors="backslashreplace")
