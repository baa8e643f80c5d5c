"""Predict a job's run time and power at node counts it never ran at: the contract of surrogates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Targets = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predictions of J jobs at N node counts; target 0 is run time in s, target 1 power in W.

    Attributes:
        mean, lower, upper: shape [J, N, 2].
        supported: shape [J, N], False where the model extrapolates.
    """

    mean: Targets
    lower: Targets
    upper: Targets
    supported: NDArray[np.bool_]


class Surrogate(ABC):
    """Base of all surrogates."""

    @abstractmethod
    def fit(self, outcomes: pd.DataFrame) -> Self:
        """Learn from finished jobs, one row each; return self."""

    @abstractmethod
    def predict(self, contexts: pd.DataFrame, nodes: NDArray[np.int64]) -> Prediction:
        """Predict J *contexts* (what is known at submission) at N node counts."""

    @abstractmethod
    def save(self, folder: str | Path) -> None:
        """Write the model without pickle."""

    @classmethod
    @abstractmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a saved model, its schema checked."""
