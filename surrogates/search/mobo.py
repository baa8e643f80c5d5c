"""Bayesian search for a front: as published, and with what was found wrong with it mended.

`Mobo` is the loop of Ahmed, Banday, Jones and Islam (arXiv 2601.15399): a Gaussian process of each
objective, qLogEHVI, and a reference point inferred anew from each current front. That point shuts out
whatever is much worse than the front in one objective, so the ends are reached late or never.
`MoboFixed` keeps one reference point, starts from the ends and evenly between them, and tries
nothing twice. Criterion: Ament et al., NeurIPS 2023; noisy form: Daulton et al., NeurIPS 2021.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument
from hpcsim.search import Points, is_on_front, snapped
from hpcsim.surrogates.search.enumeration import spread_levels
from hpcsim.surrogates.search.gaussian import ModelSearch, fitted, in_logs, maximised, minimised

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float64]

SAMPLES = 128
"""Sobol samples of the Monte Carlo criterion."""

RESTARTS, RAW_SAMPLES = 5, 32
"""Of the search for the criterion's maximum, as published."""

START = 8
"""Points before there is a model."""

MARGIN = 0.1
"""How far beyond the worst of the start the fixed reference lies, as a share of its range."""

AT_ONCE = 128
"""Choices judged in one batch: memory grows with it."""


class Mobo(ModelSearch):
    """The published loop: continuous optimum, rounded, repeats and all; it stops when its budget is used up.

    Not published and chosen here: the start is `START` points at random.
    """

    takes_positions: ClassVar[bool] = False

    def start_points(self, *, has_data: bool) -> Points:
        """Return points at random, none where there are data."""
        size = 0 if has_data else min(START, self.budget)
        drawn = snapped(self.rng.uniform(size=(size, len(self.levels))), self.levels)
        return np.asarray(drawn[np.sort(np.unique(drawn, axis=0, return_index=True)[1])])  # in the order of the draw

    def promising(self, count: int, points: Points, values: Floats) -> Points:
        """Return one point, where the criterion is highest, moved to the nearest level."""
        import torch
        from botorch.optim import optimize_acqf
        from botorch.utils.multi_objective.hypervolume import infer_reference_point

        model, x, y = fitted(self.design(points), maximised(in_logs(values)))
        front = y[torch.as_tensor(is_on_front(minimised(y.numpy())))]
        criterion = improvement(model, y, infer_reference_point(front))
        bounds = torch.stack([torch.zeros_like(x[0]), torch.ones_like(x[0])])
        found, _ = optimize_acqf(criterion, bounds=bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES)
        return snapped(found.numpy(), self.levels)


class MoboFixed(ModelSearch):
    """Most expected hypervolume by one fixed reference point; stops when everything has been tried.

    Args:
        levels, budget, seed, positions, candidates: see `ModelSearch`.
        reference: the worst values of interest, one an objective; if not given, those of the start and a tenth
            of its range beyond.
        warm_starts: so many points between start and criterion, each where a weighted Chebyshev sum of the
            predictions is least, with weights evenly spread: cheap, and a front in outline.

    Attributes:
        answers_scatter: whether the same point may get other answers, as simulated ones do over seeds.
    """

    answers_scatter: ClassVar[bool] = False

    def __init__(
        self,
        *,
        levels: Sequence[int],
        budget: int,
        seed: int = 0,
        positions: Sequence[Floats] | None = None,
        candidates: int = 256,
        reference: Sequence[float] | None = None,
        warm_starts: int = 0,
    ) -> None:
        super().__init__(levels=levels, budget=budget, seed=seed, positions=positions, candidates=candidates)
        self._given = None if reference is None else np.asarray(reference, dtype=np.float64)
        if self._given is not None and (self._given.ndim != 1 or not np.all(np.isfinite(self._given))):
            raise InvalidArgument(f"The reference of a search is {reference}.", "Give one finite number an objective.")
        if warm_starts < 0:
            raise InvalidArgument(f"The warm starts of a search are {warm_starts}.", "Give a whole number from 0.")
        self._fixed_by = 0
        self._warm_starts = warm_starts

    def tell(self, points: Points, values: Points) -> None:
        """Remember what was found.

        Raises:
            InvalidArgument: there are other objectives than the reference has, or fewer than two.
        """
        if self._given is not None and len(self._given) != values.shape[1]:
            raise InvalidArgument(
                f"The reference has {len(self._given)} values, and there are {values.shape[1]} objectives.",
                "Give one finite number an objective.",
            )
        super().tell(points, values)

    def start_points(self, *, has_data: bool) -> Points:
        """Return both ends of each dimension and points evenly between them, on the model's axis.

        Where there are data the ends alone: the reference point is worth as much as they are.
        """
        ends = len(self.levels) + 2 if len(self.levels) > 1 else 2
        size = ends if has_data else max(START, 2 * ends)
        return spread_levels(self.levels, self._positions, min(self.budget, size), self.rng)

    def promising(self, count: int, points: Points, values: Floats) -> Points:
        """Return the untried points of highest criterion, *count* of them, one after the other."""
        import torch
        from botorch.optim import optimize_acqf_discrete

        choices = self.choices(values)
        if not len(choices):
            return choices
        targets = self._targets(values)
        model, x, y = fitted(self.design(points), targets)
        seen = self.design(choices)
        if self._warm_starts > 0:
            self._warm_starts -= 1
            return choices[[self._scalarised(model, targets, seen)]]
        reference = torch.tensor(self._reference(targets), dtype=torch.float64)
        criterion = noisy_improvement(model, x, reference) if self.answers_scatter else improvement(model, y, reference)
        options = torch.tensor(seen, dtype=torch.float64)
        count = min(count, len(choices))
        found, _ = optimize_acqf_discrete(criterion, q=count, choices=options, max_batch_size=AT_ONCE, X_avoid=x)
        return choices[[int((options == row).all(dim=1).nonzero()[0, 0]) for row in found]]

    def _targets(self, values: Floats) -> Floats:
        both = values if self._given is None else np.vstack([values, self._given])
        return maximised(in_logs(both))[: len(values)]

    def _reference(self, targets: Floats) -> Floats:
        """Return the reference point, to be maximised from; it is fixed when it is first needed."""
        if self._given is not None:
            known = self.values[self._is_known]
            return np.asarray(maximised(in_logs(np.vstack([known, self._given])))[-1])
        self._fixed_by = self._fixed_by or len(targets)
        first = targets[: self._fixed_by]  # not the point is kept but who gave it: a value below 0 ends logarithms
        low, high = first.min(axis=0), first.max(axis=0)
        return np.asarray(low - MARGIN * np.where(high > low, high - low, 1.0))

    def _scalarised(self, model: Any, targets: Floats, choices: Points) -> int:
        """Return the choice whose predictions are best by the next weights."""
        import torch

        with torch.no_grad():
            mean = minimised(model.posterior(torch.tensor(choices, dtype=torch.float64)).mean.numpy())
        goals = minimised(targets)
        low, high = goals.min(axis=0), goals.max(axis=0)
        shares = (mean - low) / np.where(high > low, high - low, 1.0)
        weights = self.rng.dirichlet(np.ones(targets.shape[1]))
        weighted = weights * shares
        return int(np.argmin(weighted.max(axis=1) + 0.05 * weighted.sum(axis=1)))


class MoboNoisy(MoboFixed):
    """`MoboFixed` for answers that scatter, such as means over a few simulated seeds (qLogNEHVI)."""

    answers_scatter = True


def improvement(model: Any, y: Tensor, reference: Tensor) -> Any:
    """Return the log of the expected hypervolume improvement over *y* [E, M] beyond *reference*, all maximised."""
    from botorch.acquisition.multi_objective.logei import qLogExpectedHypervolumeImprovement
    from botorch.sampling import SobolQMCNormalSampler
    from botorch.utils.multi_objective.box_decompositions import FastNondominatedPartitioning

    return qLogExpectedHypervolumeImprovement(
        model=model,
        ref_point=reference,
        partitioning=FastNondominatedPartitioning(reference, Y=y),
        sampler=SobolQMCNormalSampler(_shape(SAMPLES), seed=0),
    )


def noisy_improvement(model: Any, x: Tensor, reference: Tensor) -> Any:
    """Return the same where the values at *x* [E, D] are known with noise only."""
    from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
    from botorch.sampling import SobolQMCNormalSampler

    return qLogNoisyExpectedHypervolumeImprovement(
        model=model,
        ref_point=reference,
        X_baseline=x,
        prune_baseline=True,
        sampler=SobolQMCNormalSampler(_shape(SAMPLES), seed=0),
    )


def _shape(samples: int) -> Any:
    import torch

    return torch.Size([samples])
