"""One scaling law for all jobs: the strong and simple baseline of learned surrogates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hpcsim.speedup import amdahl_speed_up
from hpcsim.surrogates import model_files
from hpcsim.surrogates.learned import Learned
from hpcsim.surrogates.speedup_evidence import habit_likelihood
from hpcsim.surrogates.speedup_library import SERIAL_SHARES

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

WAITING_SHARE = 0.5
NO_LIMIT = np.log(1e9) - 1e-6


@dataclass(kw_only=True, eq=False)
class GlobalLaw(Learned):
    """Limit over the usual over-estimate at the count asked for, one fitted Amdahl share for everybody.

    T(n) = T(asked) (f + (1 - f)/n) / (f + (1 - f)/asked), where one f explains the mean run times of users within
    applications best, over all applications. Nodes draw half of their dynamic power while they wait; their watts on
    one node are the mean.
    """

    def _learn(self, outcomes: pd.DataFrame, weight: Floats | None) -> None:
        nodes, run_s = outcomes["nodes"].to_numpy(), outcomes["run_s"].to_numpy()
        log_run = np.log(run_s)
        apps, app = np.unique(outcomes["app_id"].to_numpy(), return_inverse=True)
        by_habit = habit_likelihood(app, outcomes["user_id"].to_numpy(), nodes, run_s, len(apps)).sum(axis=0)
        self._share = float(SERIAL_SHARES[int(np.argmax(by_habit[: len(SERIAL_SHARES)]))])
        limit = outcomes["log_limit_s"].to_numpy()
        limited = limit < NO_LIMIT
        self._overestimate = float(np.median((limit - log_run)[limited])) if limited.any() else 0.0
        self._usual_run = float(np.median(log_run))
        node_w = outcomes["power_w"].to_numpy() / nodes
        draw = WAITING_SHARE + (1 - WAITING_SHARE) * amdahl_speed_up(nodes, self._share) / nodes
        known = np.isfinite(node_w)
        self._peak_w = float(np.exp(np.mean(np.log(node_w / draw)[known]))) if known.any() else np.nan

    def _log_mean(self, contexts: pd.DataFrame, nodes: Floats) -> Floats:
        limit, asked = contexts["log_limit_s"].to_numpy(), contexts["asked_nodes"].to_numpy()
        base = np.where(limit < NO_LIMIT, limit - self._overestimate, self._usual_run)
        speed_up = amdahl_speed_up(nodes, self._share)
        ratio = np.log(amdahl_speed_up(asked, self._share))[:, None] - np.log(speed_up)[None, :]
        power_w = nodes * self._peak_w * (WAITING_SHARE + (1 - WAITING_SHARE) * speed_up / nodes)
        result = np.empty((len(contexts), len(nodes), 2))
        result[..., 0] = base[:, None] + ratio
        result[..., 1] = np.log(power_w)
        return result

    def _state(self) -> model_files.State:
        names = ("share", "overestimate", "usual_run", "peak_w")
        values = np.array([getattr(self, f"_{name}") for name in names])
        return model_files.State({"law": values})

    def _restore(self, state: model_files.State) -> None:
        self._share, self._overestimate, self._usual_run, self._peak_w = state.arrays["law"].tolist()
