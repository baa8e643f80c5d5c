"""Find the front of a function: any search engine, one domain, objectives that are evaluated in batches.

The engine is asked, the objectives answer, the engine is told. A setting that is asked for again is
counted: on a domain of whole numbers an engine made for continuous ones repeats itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.errors import InvalidArgument
from hpcsim.search import Points, Search, is_on_front
from hpcsim.surrogates.search.domain import Domain

Floats = NDArray[np.float64]
Objectives = Callable[[Floats], Floats]
"""Settings [E, axes] in; two or more objectives [E, M] out, to be minimised; NaN where there is no prediction."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has seen, in the order in which it looked.

    Attributes:
        settings: shape [E, axes].
        values: objectives, shape [E, M].
        is_repeat: whether the setting had been evaluated before, shape [E].
        is_exhausted: whether the engine stopped because nothing was left to try.
    """

    settings: Floats
    values: Floats
    is_repeat: NDArray[np.bool_]
    is_exhausted: bool

    @property
    def evaluations(self) -> int:
        """How many evaluations were made, repeats included."""
        return len(self.settings)

    @property
    def repeats(self) -> int:
        """How many of them were wasted on settings that were known."""
        return int(self.is_repeat.sum())

    @property
    def on_front(self) -> NDArray[np.int64]:
        """The places of the front, each setting once, in ascending order of the first objective."""
        places = np.flatnonzero(is_on_front(self.values) & ~self.is_repeat)
        return places[np.argsort(self.values[places, 0], kind="stable")]


def find_front(
    make_engine: Callable[..., Search],
    domain: Domain,
    objectives: Objectives,
    *,
    budget: int | None = None,
    seed: int = 0,
    start: ArrayLike | None = None,
    batch: int = 1,
    **options: Any,
) -> Found:
    """Search *domain* for settings that no other beats in all *objectives*.

    Args:
        make_engine: class of the engine; it gets levels, budget, seed, and where it takes them positions.
        domain: what can be chosen.
        objectives: what settings are worth.
        budget: evaluations in all; None stands for the whole domain, evaluated in one call.
        seed: of the engine.
        start: places [points, axes] to evaluate first, so that engines can be compared from the same start.
        batch: settings to ask for at a time.
        options: further arguments of the engine.

    Raises:
        InvalidArgument: objectives of a wrong shape, a start outside the domain, no axis or no evaluation.
    """
    budget = domain.size if budget is None else budget
    if not domain.axes or budget < 1:
        raise InvalidArgument(
            f"There is nothing to search: {len(domain.axes)} axes and a budget of {budget}.",
            "Give one axis or more, and a budget from 1.",
        )
    engine = make_engine(levels=domain.levels, budget=budget, seed=seed, **_positions(make_engine, domain), **options)
    book = _Book(domain, objectives)
    if start is not None:
        book.evaluate(engine, domain.points(_within(domain, start))[:budget])
    while book.count < budget:
        points = engine.ask(min(max(batch, 1), budget - book.count))
        if not len(points):
            return book.found(is_exhausted=True)
        book.evaluate(engine, points)
    return book.found(is_exhausted=False)


class _Book:
    """Evaluates, tells the engine, remembers."""

    def __init__(self, domain: Domain, objectives: Objectives) -> None:
        self.count = 0
        self._domain, self._objectives = domain, objectives
        self._settings: list[Floats] = []
        self._values: list[Floats] = []
        self._seen: set[tuple[int, ...]] = set()
        self._repeats: list[bool] = []

    def evaluate(self, engine: Search, points: Points) -> None:
        settings = self._domain.settings(points)
        answers = self._objectives(settings)
        try:
            values = np.asarray(answers, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"The objectives are no numbers: {error}.", "Return an array of numbers.") from error
        if values.ndim != 2 or len(values) != len(points) or values.shape[1] < 1:
            raise InvalidArgument(
                f"The objectives of {len(points)} settings have shape {list(values.shape)}.",
                "Return one row a setting and one column an objective.",
            )
        for place in map(tuple, self._domain.places(points).tolist()):
            self._repeats.append(place in self._seen)
            self._seen.add(place)
        self._settings.append(settings)
        self._values.append(values)
        self.count += len(points)
        engine.tell(points, values)

    def found(self, *, is_exhausted: bool) -> Found:
        width = len(self._domain.axes)
        settings = np.concatenate(self._settings) if self._settings else np.empty((0, width))
        values = np.concatenate(self._values) if self._values else np.empty((0, 2))
        return Found(settings, values, np.array(self._repeats, dtype=bool), is_exhausted)


def _within(domain: Domain, start: ArrayLike) -> NDArray[np.int64]:
    """Return *start* as places [points, axes], or refuse it."""
    places = np.asarray(start).reshape(-1, len(domain.axes))
    if places.dtype.kind not in "iu" or np.any((places < 0) | (places >= np.array(domain.levels))):
        raise InvalidArgument(
            f"The start {places.tolist()} is not of the domain.",
            f"Give places from 0, below {', '.join(map(str, domain.levels))}.",
        )
    return places


def volumes(values: Floats, measure: Callable[[Floats], float], at: Sequence[int]) -> list[float]:
    """Return *measure* of the first so many of *values* for each count in *at*; all of them where there are fewer."""
    return [measure(values[:count]) for count in at]


def _positions(make_engine: Callable[..., Search], domain: Domain) -> dict[str, Any]:
    takes = getattr(make_engine, "takes_positions", False)
    return {"positions": domain.positions} if takes else {}
