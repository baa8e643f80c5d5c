"""Which jobs an episode is made of: windows of logs, stretched or not, easy ones left out, by seed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hpcsim.errors import InvalidArgument
from hpcsim.workload import Workload

MOST_STRETCH = 1_000
"""Gaps between submits are multiplied by this at most: times stay numbers of seconds that are exact."""


@dataclass(frozen=True, slots=True, eq=False)
class JobSequence:
    """The jobs of one episode, and where they are from.

    Attributes:
        workload: the jobs, rows from 0.
        source: number of the workload that they were cut from.
        start, length: first job in order of arrival, from 0, and how many.
        stretch: gaps between submits were multiplied by this; below 1 is more load.
    """

    workload: Workload
    source: int
    start: int
    length: int
    stretch: float = 1.0

    @property
    def key(self) -> tuple[int, int, int, float]:
        """What tells it from other sequences of the same sampler."""
        return (self.source, self.start, self.length, self.stretch)


class Sampler(ABC):
    """Draws sequences. It has no state that a draw changes: equal generators, equal sequences."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> JobSequence:
        """Return a sequence, chosen by *rng*."""

    @abstractmethod
    def at(
        self, start: int, length: int | None = None, *, source: int = 0, stretch: float | None = None
    ) -> JobSequence:
        """Return the sequence of *length* jobs (default: the sampler's) from *start* on, in order of arrival.

        Raises:
            InvalidArgument: there are no such jobs.
        """


class Windows(Sampler):
    """Windows of consecutive jobs, all starts equally likely.

    Args:
        workloads: one, or several, drawn from by the number of their windows.
        length: jobs in a sequence; None: the whole workload.
        stretch: gaps between submits are multiplied by a number drawn evenly from this range, so that
            loads differ: (0.7, 1.1) makes the log up to 1.4 times as dense.

    Raises:
        InvalidArgument: no jobs, a log shorter than *length*, or a stretch that is none.
    """

    def __init__(
        self,
        workloads: Workload | Iterable[Workload],
        length: int | None = 256,
        *,
        stretch: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        self._workloads = list(workloads) if isinstance(workloads, Iterable) else [workloads]
        if not self._workloads or not all(isinstance(one, Workload) and len(one) for one in self._workloads):
            raise InvalidArgument("There are no jobs to draw sequences from.", "Give a Workload with jobs.")
        if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 1):
            raise InvalidArgument(f"The length is {length!r}.", "Give a number of jobs, at least 1, or None for all.")
        shortest = min(len(one) for one in self._workloads)
        if length is not None and length > shortest:
            raise InvalidArgument(
                f"A sequence of {length} jobs cannot be cut from a workload of {shortest}.",
                f"Give length={shortest} or less, or a longer log.",
            )
        if len(stretch) != 2 or not all(map(_is_stretch, stretch)) or stretch[0] > stretch[1]:
            raise InvalidArgument(f"The stretch is {stretch!r}.", "Give (lowest, highest), above 0, as (0.7, 1.1).")
        self._length = length
        self._stretch = stretch
        self._orders = [one.arrival_order() for one in self._workloads]
        starts = [1 if length is None else len(one) - length + 1 for one in self._workloads]
        self._first_start = np.concatenate([[0], np.cumsum(starts)])

    def draw(self, rng: np.random.Generator) -> JobSequence:
        """Return a window, its start and its stretch drawn from *rng*."""
        number = int(rng.integers(self._first_start[-1]))
        source = int(np.searchsorted(self._first_start, number, side="right")) - 1
        lowest, highest = self._stretch
        stretch = float(rng.uniform(lowest, highest)) if lowest < highest else lowest
        return self.at(number - int(self._first_start[source]), source=source, stretch=stretch)

    def at(
        self, start: int, length: int | None = None, *, source: int = 0, stretch: float | None = None
    ) -> JobSequence:
        """Return one window; without *stretch*, the gaps are those of the log."""
        if not _is_whole(source) or not 0 <= source < len(self._workloads):
            raise InvalidArgument(
                f"There is no workload {source!r}.", f"They are numbered 0 to {len(self._workloads) - 1}."
            )
        order = self._orders[source]
        count = (self._length or len(order)) if length is None else length
        if not _is_whole(start) or not _is_whole(count) or start < 0 or count < 1 or start + count > len(order):
            raise InvalidArgument(
                f"There are no {count!r} jobs from job {start!r} on in a workload of {len(order)}.",
                f"Give start and length, together at most {len(order)}.",
            )
        cut = self._workloads[source].select(order[start : start + count], f"jobs {start} to {start + count - 1}")
        factor = 1.0 if stretch is None else stretch
        return JobSequence(_stretched(cut, factor), source, int(start), int(count), factor)


class HarderPart(Sampler):
    """Only the costlier of another sampler's sequences: easy ones teach nothing.

    A pool is drawn once, by *seed*, and its costlier *share* kept; each draw is one of these.

    Args:
        source: what the pool is drawn from.
        cost: of a sequence, such as what a rule makes of it (`hpcsim.policies.learning.reference`).
        pool: how many are drawn.
        share: of the pool, kept.
        seed: of the pool.
    """

    def __init__(
        self,
        source: Sampler,
        cost: Callable[[JobSequence], float],
        *,
        pool: int = 64,
        share: float = 0.5,
        seed: int = 0,
    ) -> None:
        if not _is_whole(pool) or pool < 1 or not 0 < share <= 1:
            raise InvalidArgument(f"The pool is {pool!r} and the share {share!r}.", "Give pool >= 1, 0 < share <= 1.")
        self._source = source
        rng = np.random.default_rng(np.random.SeedSequence(seed))
        drawn = [source.draw(rng) for _ in range(pool)]
        costs = [cost(sequence) for sequence in drawn]
        hardest = sorted(range(pool), key=lambda at: (-costs[at], at))[: max(1, round(share * pool))]
        self.kept: tuple[JobSequence, ...] = tuple(drawn[at] for at in sorted(hardest))

    def draw(self, rng: np.random.Generator) -> JobSequence:
        """Return one of the hard sequences."""
        return self.kept[int(rng.integers(len(self.kept)))]

    def at(
        self, start: int, length: int | None = None, *, source: int = 0, stretch: float | None = None
    ) -> JobSequence:
        """Return the sequence asked for, hard or not."""
        return self._source.at(start, length, source=source, stretch=stretch)


def draw_groups(sampler: Sampler, rng: np.random.Generator, groups: int, rollouts: int) -> list[JobSequence]:
    """Return *groups* sequences, each *rollouts* times in a row: what group baselines are computed over.

    Hand each to ``env.reset(options={"sequence": ...})``.
    """
    return [sequence for _ in range(groups) for sequence in [sampler.draw(rng)] * rollouts]


def sampler_of(jobs: Workload | Sequence[Workload] | Sampler, length: int | None) -> Sampler:
    """Return *jobs* if it samples already, else windows of *length* of it."""
    return jobs if isinstance(jobs, Sampler) else Windows(jobs, length)


def _stretched(workload: Workload, factor: float) -> Workload:
    """Return *workload* with all gaps between submits multiplied by *factor*; whole times stay whole."""
    if not _is_stretch(factor):
        raise InvalidArgument(f"The stretch is {factor!r}.", f"Give a number above 0, at most {MOST_STRETCH:,}.")
    if factor == 1:
        return workload
    submit_s = workload.columns["submit_s"]
    stretched = submit_s[0] + (submit_s - submit_s[0]) * factor
    if submit_s.dtype.kind in "iu":
        stretched = np.rint(stretched).astype(submit_s.dtype)
    result = workload.select(np.arange(len(workload)), f"gaps between submits x {factor:g}")
    result.columns["submit_s"] = stretched
    return result


def _is_stretch(factor: object) -> bool:
    return isinstance(factor, int | float) and not isinstance(factor, bool) and 0 < factor <= MOST_STRETCH


def _is_whole(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)
