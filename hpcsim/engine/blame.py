"""Say which plug-in raised an error, and where in its code."""

from __future__ import annotations

import traceback

from hpcsim.errors import PolicyFailed


def policy_failed(who: str, error: Exception, now_s: float | None = None) -> PolicyFailed:
    """Return the error to raise from *error*: *who* raised it, in which file and line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    when = "" if now_s is None else f" at t = {now_s} s"
    return PolicyFailed(
        f"{who} raised {type(error).__name__}{when}: {error} ({place.filename}, line {place.lineno}).",
        "Mend it there; the whole traceback is in the error's __cause__.",
    )
