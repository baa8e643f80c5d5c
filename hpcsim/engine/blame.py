"""Say which plug-in raised an error, and where in its code."""

from __future__ import annotations

import traceback
from pathlib import Path

from hpcsim.errors import PolicyFailed

_OURS = str(Path(__file__).resolve().parents[1])


def policy_failed(who: str, error: BaseException, now_s: float | None = None) -> PolicyFailed:
    """Return the error to raise from *error*: *who* raised it, in which file and line of theirs."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(_OURS)]
    where = f" ({theirs[-1].filename}, line {theirs[-1].lineno})" if theirs else ""
    when = "" if now_s is None else f" at t = {now_s} s"
    remedy = "Mend it there" if theirs else "Check what it was given"
    return PolicyFailed(
        f"{who} raised {type(error).__name__}{when}: {error}{where}.",
        f"{remedy}; the whole traceback is in the error's __cause__.",
    )
