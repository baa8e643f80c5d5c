"""Trees on raw features, embeddings or both: the count is one feature among others, moved with its proxies.

Settings are the paper's: 100 trees of depth 10 (random forest) or 6 (boosting, learning rate 0.1). Targets are logs.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument
from hpcsim.surrogates import boosting, forests, model_files, xgboost_trees
from hpcsim.surrogates.features.columns import COUNTED
from hpcsim.surrogates.features.matrix import Matrix
from hpcsim.surrogates.learned import Learned
from hpcsim.surrogates.tabnet import Architecture, How
from hpcsim.surrogates.tabnet_inputs import TreeInputs

Floats = NDArray[np.float64]

TREES, BOOSTED_DEPTH, FOREST_DEPTH, LEARNING_RATE = 100, 6, 10, 0.1
TARGETS = ("run_s", "power_w")


@dataclass(kw_only=True, eq=False)
class Trees(Learned):
    """Base of the tree surrogates.

    Args:
        inputs: ``raw``, ``embedding`` or ``raw+embedding``.
        form, embed, with_limit, with_post_run: see `hpcsim.surrogates.tabnet_inputs.TreeInputs`.
        cross_fit: whether TabNet and trees learn from different rows.
        width, steps, epochs: of the TabNet.
        seed, sampler: as of `Learned`.
    """

    inputs: str = "raw"
    form: str = "context"
    embed: How = "sum"
    with_limit: bool = True
    with_post_run: bool = False
    cross_fit: bool = True
    width: int = 8
    steps: int = 3
    epochs: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("with_limit", "with_post_run", "cross_fit"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidArgument(f"The {name} of a surrogate is {getattr(self, name)!r}.", "Give true or false.")
        self._inputs = self._new_inputs()
        self._models: dict[str, Any] = {}

    @abstractmethod
    def _grown(self, features: Floats, target: Floats, weight: Floats | None, direction: int) -> Any:
        """Return trees of *target*, which by nature rises (1) or falls (-1) with the node count."""

    @abstractmethod
    def _guess(self, model: Any, features: Floats) -> Floats:
        """Return what *model* predicts."""

    @abstractmethod
    def _gains(self, model: Any) -> dict[str, float]:
        """Return the importance of the features of *model*."""

    @abstractmethod
    def _bytes(self, model: Any) -> bytes:
        """Return *model* in its own format."""

    @abstractmethod
    def _of_bytes(self, content: bytes) -> Any:
        """Return the model of what `_bytes` returned."""

    def _new_inputs(self) -> TreeInputs:
        size = Architecture(width=self.width, steps=self.steps, epochs=self.epochs)
        return TreeInputs(
            inputs=self.inputs,
            form=self.form,
            embed=self.embed,
            with_limit=self.with_limit,
            with_post_run=self.with_post_run,
            architecture=size,
            seed=self.seed,
        )

    def _learn(self, outcomes: Matrix, weight: Floats | None) -> None:
        self._inputs = self._new_inputs()
        targets = np.log(outcomes.take(TARGETS))
        chosen = self._inputs.fit(outcomes, targets, weight, cross_fit=self.cross_fit)
        features = self._inputs.own_rows(outcomes)
        self._models = {}
        for column, (name, direction) in enumerate(zip(TARGETS, (-1, 1), strict=True)):
            known = chosen & np.isfinite(targets[:, column])
            if known.any():
                part = None if weight is None else weight[known]
                self._models[name] = self._grown(features[known], targets[known, column], part, direction)

    def _log_mean(self, contexts: Matrix, nodes: Floats) -> Floats:
        rows = self._inputs.rows(contexts, nodes)
        result = np.full((len(contexts), len(nodes), 2), np.nan)
        for column, name in enumerate(TARGETS):
            if name in self._models:
                result[..., column] = self._guess(self._models[name], rows).reshape(result.shape[:2])
        return result

    def _importance(self) -> dict[str, dict[str, float]]:
        return {name: self._gains(model) for name, model in self._models.items()}

    def _state(self) -> model_files.State:
        files = {f"{name}.model": self._bytes(model) for name, model in self._models.items()}
        return model_files.State(self._inputs.state(), files)

    def _restore(self, state: model_files.State) -> None:
        self._inputs = self._new_inputs().restore(dict(state.arrays))
        found = {name.removesuffix(".model"): part for name, part in state.files.items()}
        self._models = {name: self._of_bytes(found[name]) for name in TARGETS if name in found}


@dataclass(kw_only=True, eq=False)
class LightGBMTrees(Trees):
    """LightGBM, 100 trees of depth 6, with the node count as a feature."""

    def _grown(self, features: Floats, target: Floats, weight: Floats | None, direction: int) -> Any:
        return boosting.boosted(
            features, target, rounds=TREES, seed=self.seed, weight=weight, **self._settings(direction)
        )

    def _settings(self, direction: int) -> dict[str, Any]:
        return {"max_depth": BOOSTED_DEPTH, "num_leaves": 2**BOOSTED_DEPTH - 1, "learning_rate": LEARNING_RATE}

    def _guess(self, model: Any, features: Floats) -> Floats:
        return boosting.predicted(model, features)

    def _gains(self, model: Any) -> dict[str, float]:
        return boosting.gains(model, self._inputs.names)

    def _bytes(self, model: Any) -> bytes:
        return boosting.to_text(model)

    def _of_bytes(self, content: bytes) -> Any:
        return boosting.from_text(content, len(self._inputs.names))


@dataclass(kw_only=True, eq=False)
class MonotoneLightGBM(LightGBMTrees):
    """LightGBM whose run time never rises and whose power never falls with the node count.

    It denies that a job can get slower past its best count.
    """

    def _settings(self, direction: int) -> dict[str, Any]:
        constraints = [direction if name in COUNTED else 0 for name in self._inputs.names]
        return super()._settings(direction) | {"monotone_constraints": constraints}


@dataclass(kw_only=True, eq=False)
class XGBoostTrees(Trees):
    """XGBoost, 100 trees of depth 6, with the node count as a feature."""

    def _grown(self, features: Floats, target: Floats, weight: Floats | None, direction: int) -> Any:
        settings = {"max_depth": BOOSTED_DEPTH, "learning_rate": LEARNING_RATE}
        return xgboost_trees.boosted(features, target, rounds=TREES, seed=self.seed, weight=weight, **settings)

    def _guess(self, model: Any, features: Floats) -> Floats:
        return xgboost_trees.predicted(model, features)

    def _gains(self, model: Any) -> dict[str, float]:
        return xgboost_trees.gains(model, self._inputs.names)

    def _bytes(self, model: Any) -> bytes:
        return xgboost_trees.to_json(model)

    def _of_bytes(self, content: bytes) -> Any:
        return xgboost_trees.from_json(content, len(self._inputs.names))


@dataclass(kw_only=True, eq=False)
class RandomForest(Trees):
    """A random forest, 100 trees of depth 10, with the node count as a feature; slow to fit and to ask."""

    def _grown(self, features: Floats, target: Floats, weight: Floats | None, direction: int) -> Any:
        return forests.grown(features, target, weight, trees=TREES, depth=FOREST_DEPTH, seed=self.seed)

    def _guess(self, model: Any, features: Floats) -> Floats:
        return forests.predicted(model, features)

    def _gains(self, model: Any) -> dict[str, float]:
        return forests.gains(model, self._inputs.names)

    def _bytes(self, model: Any) -> bytes:
        return forests.to_bytes(model)

    def _of_bytes(self, content: bytes) -> Any:
        return forests.from_bytes(content, len(self._inputs.names))
