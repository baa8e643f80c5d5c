"""The many rare estimates: which they are, how rare each is. See `hpcsim.workloads.models.tsafrir`."""

from __future__ import annotations

from collections.abc import Container

import numpy as np
from numpy.typing import NDArray

from hpcsim.workloads.models.tsafrir_heads import HEADS

TAIL_PERCENT = 11.0
MINUTE_S = 60
NEARBY_S = (0, 30, -30, 20, -20, 10, -10)
"""Where a rare estimate would equal another one, it moves by the first of these that helps."""


def tail_times_s(longest_s: int, count: int, distinct: int, taken: Container[int]) -> list[int]:
    """Return up to *count* rare estimates below *longest_s*, dense among the short ones.

    *distinct* is the number of all estimates, popular ones included; *taken* holds those in use.
    """
    curvature = 1 + 12.1039 * distinct**-0.6026
    times: list[int] = []
    seen: set[int] = set()
    for index in range(1, count + 1):
        x = index / count
        exact = longest_s * (curvature - 1) * x / (curvature - x)
        minute = int(exact / MINUTE_S + 0.5) * MINUTE_S
        for move in NEARBY_S:
            time = minute + move
            if 0 < time < longest_s and time not in taken and time not in seen:
                seen.add(time)
                times.append(time)
                break
    return times


def tail_shares(count: int) -> NDArray[np.float64]:
    """Return the jobs in percent at popularity ranks 21, 22, ...; they sum to 11."""
    if not count:
        return np.zeros(0)
    shares = 795.6 * np.arange(HEADS + 1, HEADS + 1 + count, dtype=np.float64) ** -2.267
    return np.asarray(shares * (TAIL_PERCENT / shares.sum()))
