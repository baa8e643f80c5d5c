"""A library of speed-up curves: the laws of `hpcsim.speedup`, each over a grid of its parameters."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.speedup import amdahl_speed_up, downey_speed_up, power_law_speed_up

Floats = NDArray[np.float64]

MOST_COUNT = 1 << 20
EXACT_UP_TO = 16
COUNTS_AN_OCTAVE = 8

SERIAL_SHARES = np.geomspace(0.0005, 0.5, 15)
COMMUNICATIONS = np.concatenate([[0.0], np.geomspace(0.0003, 0.06, 9)])
PARALLELISMS = np.geomspace(1.3, 1000.0, 26)
VARIATIONS = (0.0, 0.5, 1.0, 1.5, 2.0)
EXPONENTS = np.arange(0.2, 1.0001, 0.025)


@cache
def counts() -> Floats:
    """Return the node counts at which curves are kept: each up to 16, then eight an octave up to a million."""
    octaves = int(np.log2(MOST_COUNT / EXACT_UP_TO))
    wide = EXACT_UP_TO * 2.0 ** (np.arange(1, octaves * COUNTS_AN_OCTAVE + 1) / COUNTS_AN_OCTAVE)
    grid = np.concatenate([np.arange(1.0, EXACT_UP_TO + 1), wide])
    grid.setflags(write=False)
    return grid


def log_speed_ups(nodes: ArrayLike) -> Floats:
    """Return log S(n) of every curve of the library at *nodes* [N]: shape [curves, N]."""
    n = np.asarray(nodes, dtype=np.float64)[None, :]
    share, communication = (part.reshape(-1, 1) for part in np.meshgrid(SERIAL_SHARES, COMMUNICATIONS))
    parallelism, variation = (part.reshape(-1, 1) for part in np.meshgrid(PARALLELISMS, VARIATIONS))
    curves = (
        amdahl_speed_up(n, share, communication),
        downey_speed_up(n, parallelism, variation),
        power_law_speed_up(n, EXPONENTS.reshape(-1, 1)),
    )
    return np.asarray(np.log(np.concatenate(curves)))
