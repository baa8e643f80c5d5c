"""The twenty popular estimates: which they are, how popular each is. See `hpcsim.workloads.models.tsafrir`."""

from __future__ import annotations

import math

import numpy as np

HEADS = 20
HEAD_PERCENT = 89.0
MINUTE_S, HOUR_S = 60, 3600

ROUND_S = (
    *(minutes * MINUTE_S for minutes in (5, 10, 15, 20, 30)),
    *(hours * HOUR_S for hours in (1, 2, 3, 4, 5, 6, 8, 10, 12, 18)),
)
FILLERS_S = (*(hours * HOUR_S for hours in (200, 100, 50, 10, 5, 2, 1)), *(m * MINUTE_S for m in (20, 10, 5)))
"""Where fewer than twenty round values lie below the longest: multiples of these, from the largest down."""

POPULARITY = (
    (3, 1, 1, 1),
    (1, 3, 4, 6),
    (4, 4, 10, 5),
    (17, 2, 14, 3),
    (13, 12, 20, 7),
    (7, 9, 2, 2),
    (8, 8, 3, 18),
    (18, 18, 7, 19),
    (2, 6, 12, 4),
    (6, 7, 6, 11),
    (16, 11, 19, 20),
    (10, 20, 5, 9),
    (5, 16, 18, 10),
    (15, 5, 16, 14),
    (14, 14, 9, 13),
    (19, 13, 17, 16),
    (11, 10, 15, 15),
    (12, 15, 13, 17),
    (9, 17, 8, 8),
    (20, 19, 11, 12),
)
"""For each time rank (0: the longest, then ascending) its popularity rank in SDSC-SP2, CTC, KTH and SDSC-BLUE."""


def head_times_s(longest_s: int) -> list[int]:
    """Return the twenty popular estimates: the longest, then the others ascending."""
    others = {time for time in ROUND_S if time < longest_s}
    for step in FILLERS_S:
        for time in range(longest_s // step * step, 0, -step):
            if len(others) == HEADS - 1:
                break
            if time < longest_s:
                others.add(time)
    return [longest_s, *sorted(others)]


def head_shares() -> list[float]:
    """Return the jobs in percent at popularity ranks 1 to 20; they sum to 89."""
    others = [14.0491 * math.exp(-0.177531 * rank) + 0.462513 for rank in range(2, HEADS + 1)]
    return [HEAD_PERCENT - sum(others), *others]


def popularity(rng: np.random.Generator) -> list[int]:
    """Return a popularity rank (1 to 20) for each time rank (0 to 19), each once.

    Ranks that four real logs show at a time rank or before it are in a pool; of two draws the
    smaller is taken. The longest estimate is always the most popular, and a rank that occurs no
    more further on is taken at its last chance.
    """
    last = {rank: max(row for row, ranks in enumerate(POPULARITY) if rank in ranks) for rank in range(1, HEADS + 1)}
    chosen: list[int] = []
    pool: list[int] = []
    for row, ranks in enumerate(POPULARITY):
        pool += [rank for rank in ranks if rank not in chosen]
        overdue = [rank for rank in range(1, HEADS + 1) if last[rank] <= row and rank not in chosen]
        if row == 0:
            rank = 1
        elif overdue:
            rank = min(overdue)
        else:
            first, second = rng.integers(0, len(pool), 2)
            rank = min(pool[first], pool[second])
        chosen.append(rank)
        pool = [other for other in pool if other != rank]
    return chosen
