"""Where a model may be believed: the counts near those that an application has run at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

REACH = 2.0
"""Counts from the least seen / 2 to twice the most seen are supported."""


def supported(contexts: pd.DataFrame, nodes: Floats) -> NDArray[np.bool_]:
    """Tell of each context [J] and count [N] whether the application's history comes near it; shape [J, N].

    Nothing is for an application that had never finished a job: then every prediction is an extrapolation.
    """
    least, most = (contexts[name].to_numpy()[:, None] for name in ("app_least_nodes", "app_most_nodes"))
    return np.asarray((nodes[None, :] >= least / REACH) & (nodes[None, :] <= most * REACH))


def distance(contexts: pd.DataFrame, nodes: Floats) -> Floats:
    """Return how far each count [N] is from what is known of the context [J], in log nodes; shape [J, N].

    Known are the counts between the least and the most that the application has run at, and the one asked for.
    """
    asked = contexts["asked_nodes"].to_numpy()
    least = np.fmin(contexts["app_least_nodes"].to_numpy(), asked)[:, None]
    most = np.fmax(contexts["app_most_nodes"].to_numpy(), asked)[:, None]
    return np.abs(np.log(nodes[None, :] / np.clip(nodes[None, :], least, most)))
