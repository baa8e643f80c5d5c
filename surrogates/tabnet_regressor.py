"""TabNet as a regressor by itself: the paper's control, on all features, counts moved with their proxies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hpcsim.surrogates import model_files
from hpcsim.surrogates.features.columns import FEATURES
from hpcsim.surrogates.features.interventions import at_counts
from hpcsim.surrogates.learned import Learned
from hpcsim.surrogates.tabnet import Architecture, TabNet

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False)
class TabNetRegressor(Learned):
    """TabNet on all 35 features.

    Args:
        width, steps, epochs: of the TabNet.
        seed, sampler: as of `Learned`; a sampler's weights are how often rows are drawn.
    """

    width: int = 8
    steps: int = 3
    epochs: int = 20

    @property
    def _size(self) -> Architecture:
        return Architecture(width=self.width, steps=self.steps, epochs=self.epochs)

    @property
    def tabnet(self) -> TabNet:
        """The fitted network, for its masks."""
        self._require_fitted()
        return self._network

    def _learn(self, outcomes: pd.DataFrame, weight: Floats | None) -> None:
        targets = np.log(outcomes[["run_s", "power_w"]].to_numpy())
        self._has_power = bool(np.isfinite(targets[:, 1]).any())
        features = outcomes[list(FEATURES)].to_numpy()
        self._network = TabNet(self._size, seed=self.seed).fit(features, targets, weight)

    def _log_mean(self, contexts: pd.DataFrame, nodes: Floats) -> Floats:
        rows = at_counts(contexts, nodes.astype(np.int64), FEATURES)
        result = self._network.predict(rows).reshape(len(contexts), len(nodes), 2)
        if not self._has_power:
            result[..., 1] = np.nan
        return result

    def _state(self) -> model_files.State:
        return model_files.State(self._network.arrays(), facts={"has_power": self._has_power})

    def _restore(self, state: model_files.State) -> None:
        self._has_power = bool(state.facts["has_power"])
        self._network = TabNet.of_arrays(dict(state.arrays), self._size, self.seed)
