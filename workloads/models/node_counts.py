"""The node counts that moldable jobs may run at."""

from __future__ import annotations

from functools import cache

MANTISSAS = (4, 5, 6, 7)
"""Between two powers of two from 4 on: that many quarters of the lower one."""


@cache
def grid(most: int) -> tuple[int, ...]:
    """Return 1, 2, 3, then four counts an octave (4 5 6 7, 8 10 12 14, 16 20 ...) up to *most*, ascending."""
    counts = [1, 2, 3]
    octave = 1
    while MANTISSAS[0] * octave <= most:
        counts += [mantissa * octave for mantissa in MANTISSAS]
        octave *= 2
    return tuple(count for count in counts if count <= most)


@cache
def powers_of_two(most: int) -> tuple[int, ...]:
    """Return 1, 2, 4, ... up to *most*."""
    return tuple(1 << power for power in range(most.bit_length()) if 1 << power <= most)


@cache
def allowed(counts: tuple[int, ...], least: int, asked: int) -> tuple[int, ...]:
    """Return those of *counts* that are *least* or more, and *asked* itself, ascending."""
    return tuple(sorted({count for count in counts if count >= least} | {asked}))
