"""Bayesian search for the best of one objective, which finds a front only by the way: what MOBO has to beat."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hpcsim.search import Points
from hpcsim.surrogates.search.enumeration import spread_levels
from hpcsim.surrogates.search.gaussian import ModelSearch, fitted, in_logs, maximised
from hpcsim.surrogates.search.mobo import AT_ONCE, START

Floats = NDArray[np.float64]


class SoboRuntime(ModelSearch):
    """Most expected improvement of the first objective, the run time; nothing is tried twice."""

    objective: ClassVar[int] = 0
    least_objectives: ClassVar[int] = 1

    def start_points(self, *, has_data: bool) -> Points:
        """Return the start of `mobo-fixed`, ends and points evenly between them; none where there are data."""
        size = 0 if has_data else min(START, self.budget)
        return spread_levels(self.levels, self._positions, size, self.rng)

    def promising(self, count: int, points: Points, values: Floats) -> Points:
        """Return one untried point, where the logarithm of the expected improvement is highest."""
        import torch
        from botorch.acquisition.analytic import LogExpectedImprovement
        from botorch.optim import optimize_acqf_discrete

        choices = self.choices(values[:, [self.objective]])
        if not len(choices):
            return choices
        targets = maximised(in_logs(values))[:, [self.objective]]
        model, x, y = fitted(self.design(points), targets)
        options = torch.tensor(self.design(choices), dtype=torch.float64)
        criterion = LogExpectedImprovement(model, best_f=y.max())
        found, _ = optimize_acqf_discrete(criterion, q=1, choices=options, max_batch_size=AT_ONCE, X_avoid=x)
        return choices[[int((options == found[0]).all(dim=1).nonzero()[0, 0])]]


class SoboPower(SoboRuntime):
    """Most expected improvement of the second objective, the power."""

    objective: ClassVar[int] = 1
    least_objectives: ClassVar[int] = 2
