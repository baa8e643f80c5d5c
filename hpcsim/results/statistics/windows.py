"""Time in equal windows: weeks where a log is long enough, days where it is not.

Whole weeks hold the rhythm of days and weekends, so that one window is as good as another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.errors import InvalidArgument

WIDTHS_S = {"week": 7 * 86400.0, "day": 86400.0, "hour": 3600.0}
"""Names of windows and their widths in seconds, the longest first."""

FEWEST = 12
"""Windows that an interval needs; with fewer there is none."""

MOST = 5_000
"""Windows of a log at most: an interval's cost grows with their square."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Consecutive windows of *width_s* seconds, the first from *origin_s*; the last may be cut short by the log."""

    origin_s: float
    width_s: float
    count: int
    name: str = "window"

    def index(self, submit_s: ArrayLike) -> NDArray[np.int64]:
        """Return the window in which each instant lies, counted from 0."""
        places = np.floor((np.asarray(submit_s, dtype=float) - self.origin_s) / self.width_s)
        return np.clip(places, 0, max(self.count - 1, 0)).astype(np.int64)

    def starts_s(self) -> NDArray[Any]:
        """Return the first instant of each window in seconds."""
        return self.origin_s + self.width_s * np.arange(self.count)


def windows_of(submit_s: ArrayLike, width: str | None = None) -> Windows:
    """Return the windows that cover all *submit_s* from the first on.

    *width* is a name of `WIDTHS_S`; None: weeks if there are `FEWEST` of them, else days. Where a
    log spans more than `MOST` weeks, as one with a wrong date does, windows are longer.

    Raises:
        InvalidArgument: no such width, or more than `MOST` windows of it.
    """
    if width is not None and width not in WIDTHS_S:
        raise InvalidArgument(f"There is no window '{width}'.", f"Give one of {', '.join(WIDTHS_S)}.")
    instants = np.asarray(submit_s, dtype=float)
    if not len(instants):
        return Windows(0.0, WIDTHS_S[width or "day"], 0, width or "day")
    first_s, span_s = float(instants.min()), float(instants.max() - instants.min())
    name = width or ("week" if span_s >= (FEWEST - 1) * WIDTHS_S["week"] else "day")
    count = int(span_s // WIDTHS_S[name]) + 1
    if count <= MOST:
        return Windows(first_s, WIDTHS_S[name], count, name)
    if width is not None:
        raise InvalidArgument(f"The log spans {count:,} windows of one {width}.", "Give a longer window.")
    return Windows(first_s, span_s / (MOST - 1), MOST)
