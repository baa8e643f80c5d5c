"""Baselines that only remember: what the user's last job of the application did, or what its jobs do on average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hpcsim.surrogates import model_files
from hpcsim.surrogates.features.matrix import Matrix
from hpcsim.surrogates.learned import Learned

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False)
class AppMean(Learned):
    """The mean of log run times and of watts a node of the same user and application, whatever the count.

    Without such a job that of the application, else of the user, else of all. Run time does not change with the
    count, power is in proportion to it.
    """

    columns: ClassVar[tuple[tuple[str, str], ...]] = (
        ("pair_mean_log_run", "pair_mean_node_w"),
        ("app_mean_log_run", "app_mean_node_w"),
        ("user_mean_log_run", "user_mean_node_w"),
    )

    def _learn(self, outcomes: Matrix, weight: Floats | None) -> None:
        node_w = outcomes["power_w"] / outcomes["nodes"]
        self._log_run = float(np.average(np.log(outcomes["run_s"]), weights=weight))
        known = np.isfinite(node_w)
        part = None if weight is None else weight[known]
        self._node_w = float(np.average(node_w[known], weights=part)) if known.any() else np.nan

    def _log_mean(self, contexts: Matrix, nodes: Floats) -> Floats:
        log_run = np.full(len(contexts), self._log_run)
        node_w = np.full(len(contexts), self._node_w)
        for names in reversed(self.columns):
            for known, values in zip((contexts[name] for name in names), (log_run, node_w), strict=True):
                np.copyto(values, known, where=np.isfinite(known))
        result = np.empty((len(contexts), len(nodes), 2))
        result[..., 0] = log_run[:, None]
        result[..., 1] = np.log(node_w)[:, None] + np.log(nodes)[None, :]
        return result

    def _state(self) -> model_files.State:
        return model_files.State({"mean": np.array([self._log_run, self._node_w])})

    def _restore(self, state: model_files.State) -> None:
        self._log_run, self._node_w = state.arrays["mean"].tolist()


@dataclass(kw_only=True, eq=False)
class AppLast(AppMean):
    """Run time and watts a node of the user's last job of the application, else means as of `AppMean`."""

    columns: ClassVar[tuple[tuple[str, str], ...]] = (("pair_last_log_run", "pair_last_node_w"), *AppMean.columns)
