"""What the engines on Gaussian processes share: data, coordinates, signs, the model, and points not yet tried.

BoTorch maximises. Objectives are minimised everywhere else, so they change sign here, in
`maximised` and `minimised`, and nowhere else.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument
from hpcsim.search import Points, Search, snapped
from hpcsim.surrogates.search.domain import grid
from hpcsim.surrogates.search.quiet_torch import check_installed, quiet_torch

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float64]

MOST_CHOICES = 1024
"""Domains of at most so many points are judged whole, larger ones by a set of candidates."""

STEPS = (0.02, 0.1)
"""Standard deviations of the steps from known points to candidates near them."""


def maximised(values: Floats) -> Floats:
    """Return objectives to be minimised as BoTorch wants them."""
    return -values


def minimised(values: Floats) -> Floats:
    """Return objectives of BoTorch's as everybody else wants them."""
    return -values


class ModelSearch(Search):
    """Base of engines that model each objective by a Gaussian process; an answer that is not finite is never modelled.

    Objectives are modelled in logarithms while all their values are above 0, since run times and
    watts span magnitudes. Values that are told before the first question stand for the engine's own start.

    Args:
        levels, budget, seed: see `hpcsim.search.Search`.
        positions: for each dimension where its levels lie on the model's axis, 0 to 1; evenly if not given.
        candidates: how many points are judged where the domain is too large to be judged whole.
    """

    takes_positions: ClassVar[bool] = True
    least_objectives: ClassVar[int] = 2

    def __init__(
        self,
        *,
        levels: Sequence[int],
        budget: int,
        seed: int = 0,
        positions: Sequence[Floats] | None = None,
        candidates: int = 256,
    ) -> None:
        check_installed(type(self).__name__)
        super().__init__(levels=levels, budget=budget, seed=seed)
        if candidates < 2:
            raise InvalidArgument(f"The candidates of a search are {candidates}.", "Give a whole number from 2.")
        self._positions = positions
        self._most_candidates = candidates
        self._has_begun = False
        self._start = np.empty((0, len(self.levels)))
        self.points = np.empty((0, len(self.levels)))
        self.values = np.empty((0, 0))

    def ask(self, count: int) -> Points:
        """Return points of the start while it lasts, then the most promising ones."""
        if not self._has_begun:
            self._has_begun = True
            self._start = self._untried(self.start_points(has_data=len(self.points) > 0))
        if len(self._start):
            taken, self._start = self._start[:count], self._start[count:]
            return taken
        is_known = self._is_known
        if is_known.sum() < 2:
            return self._drawn(count)
        with quiet_torch(int(self.rng.integers(2**31))):
            return self.promising(count, self.points[is_known], self.values[is_known])

    def tell(self, points: Points, values: Points) -> None:
        """Remember what was found; repeats are remembered as repeats.

        Raises:
            InvalidArgument: there are fewer objectives than the engine needs.
        """
        if values.shape[1] < self.least_objectives:
            raise InvalidArgument(
                f"{type(self).__name__} needs {self.least_objectives} objectives, and was told {values.shape[1]}.",
                "Give more, or search with sobo-runtime, random or loggrid.",
            )
        self.points = np.vstack([self.points, snapped(points, self.levels)])
        self.values = np.vstack([self.values.reshape(-1, values.shape[1]), values])

    @abstractmethod
    def start_points(self, *, has_data: bool) -> Points:
        """Return what to try before there is a model; *has_data* where somebody has told values already."""

    @abstractmethod
    def promising(self, count: int, points: Points, values: Floats) -> Points:
        """Return up to *count* points to try next, by a model of *values* at *points*; torch is quiet meanwhile."""

    def design(self, points: Points) -> Points:
        """Return *points* of the cube in the coordinates that the model sees; same shape."""
        if self._positions is None:
            return snapped(points, self.levels)
        columns = []
        for at, (count, positions) in enumerate(zip(self.levels, self._positions, strict=True)):
            column = points[:, at]
            columns.append(positions[np.rint(column * (count - 1)).astype(np.int64)] if count else column)
        return np.stack(columns, axis=1)

    def choices(self, values: Floats) -> Points:
        """Return points that have not been tried: all there are, or a controlled number of candidates.

        Half of those are spread over the whole domain, half lie near what is known, the best first.
        """
        if self._is_small:
            every = grid(self.levels)
        else:
            half = self._most_candidates // 2
            far = self.rng.uniform(size=(half, len(self.levels)))
            ranks = np.argsort(np.argsort(values, axis=0), axis=0).sum(axis=1)
            parents = self.points[self._is_known][np.argsort(ranks)[: max(4, len(ranks) // 4)]]
            near = parents[self.rng.integers(0, len(parents), half)]
            near = near + self.rng.normal(size=near.shape) * self.rng.choice(STEPS, size=(half, 1))
            every = np.unique(snapped(np.vstack([far, np.clip(near, 0, 1)]), self.levels), axis=0)
        return self._untried(every)

    def _untried(self, points: Points) -> Points:
        tried = {tuple(row) for row in self.points.tolist()}
        return np.array([row for row in points.tolist() if tuple(row) not in tried]).reshape(-1, len(self.levels))

    def _drawn(self, count: int) -> Points:
        """Return up to *count* untried points at random."""
        if self._is_small:
            left = self._untried(grid(self.levels))
            return left[self.rng.permutation(len(left))[:count]]
        return snapped(self.rng.uniform(size=(count, len(self.levels))), self.levels)

    @property
    def _is_known(self) -> NDArray[np.bool_]:
        """Which answers are finite: nothing else can be modelled."""
        return np.asarray(np.isfinite(self.values).all(axis=1))

    @property
    def _is_small(self) -> bool:
        return all(self.levels) and math.prod(self.levels) <= MOST_CHOICES


def in_logs(values: Floats) -> Floats:
    """Return the logarithms of the columns of *values* that are above 0 throughout, the others as they are."""
    is_positive = np.all(values > 0, axis=0)
    return np.where(is_positive, np.log(np.where(is_positive, values, 1.0)), values)


def fitted(points: Points, targets: Floats) -> tuple[Any, Tensor, Tensor]:
    """Return a `SingleTaskGP` of *targets* [E, M] (to be maximised) at *points* [E, D] of the unit cube, and both.

    Double precision, explicit bounds, outcomes standardised; a process for each objective.
    """
    import torch
    from botorch.exceptions import ModelFittingError
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Normalize, Standardize
    from gpytorch.mlls import ExactMarginalLogLikelihood

    x = torch.tensor(points, dtype=torch.float64)
    y = torch.tensor(targets, dtype=torch.float64)
    width = x.shape[1]
    bounds = torch.stack([torch.zeros(width, dtype=torch.float64), torch.ones(width, dtype=torch.float64)])
    scales = {"input_transform": Normalize(width, bounds=bounds), "outcome_transform": Standardize(y.shape[1])}
    model = SingleTaskGP(x, y, **scales)
    try:
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    except ModelFittingError:  # the model as it stands, by its priors, still says where nothing is known
        model.eval()
    return model, x, y
