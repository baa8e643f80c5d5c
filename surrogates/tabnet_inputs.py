"""What trees are given: raw features, embeddings of a TabNet, or both; and how embeddings meet a candidate count.

Two forms. In ``context`` TabNet sees no count and none of its proxies: one embedding a job is right at every count,
can be kept, and the trees get the counts beside it. In ``paper`` TabNet sees all features, as the paper has it, and
each candidate count has an embedding of its own.

An embedding is trained on the targets, so trees that learn from the same rows see over-fitted inputs. Cross-fitting
trains TabNet on half of the rows and the trees on the other half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument, closest
from hpcsim.surrogates.features.columns import BURSTS, CONTEXT, COUNTED, FEATURES
from hpcsim.surrogates.features.interventions import at_counts
from hpcsim.surrogates.features.matrix import Matrix
from hpcsim.surrogates.sampling import uniforms
from hpcsim.surrogates.tabnet import Architecture, How, TabNet

Floats = NDArray[np.float64]

INPUTS = ("raw", "embedding", "raw+embedding")
FORMS = ("context", "paper")
EMBEDS = ("sum", "concat")
KEPT_EMBEDDINGS = 100_000


@dataclass(kw_only=True, eq=False)
class TreeInputs:
    """Turns jobs and counts into the rows that trees see.

    Args:
        inputs: ``raw``, ``embedding`` or ``raw+embedding``.
        form: ``context`` or ``paper``.
        embed: ``sum`` or ``concat`` of TabNet's steps.
        with_limit: whether the requested limit is among the raw features; it stands in for the run time at the
            user's count, and with it predictions hardly move with the count.
        with_post_run: whether what only a run tells (`hpcsim.surrogates.features.BURSTS`) is seen, too: for
            reproductions; no table of contexts has it.
        architecture: of the TabNet.
        seed: of the TabNet and of the halves.
    """

    inputs: str = "raw"
    form: str = "context"
    embed: How = "sum"
    with_limit: bool = True
    with_post_run: bool = False
    architecture: Architecture
    seed: int = 0

    def __post_init__(self) -> None:
        given = (
            ("kind of inputs", self.inputs, INPUTS),
            ("form of embedding", self.form, FORMS),
            ("embedding", self.embed, EMBEDS),
        )
        for what, value, known in given:
            if value not in known:
                raise InvalidArgument(
                    f"There is no {what} '{value}'.{closest(value, known)}", f"Give {', '.join(known)}."
                )
        self.tabnet: TabNet | None = None
        self._kept: dict[bytes, Floats] = {}

    @property
    def uses_embedding(self) -> bool:
        """Whether a TabNet is part of it."""
        return self.inputs != "raw"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of `rows`, in order."""
        embedded = self.architecture.width * (1 if self.embed == "sum" else self.architecture.steps)
        extra = tuple(f"embedding_{number}" for number in range(embedded)) if self.uses_embedding else ()
        return (*self._raw, *extra)

    @property
    def _raw(self) -> tuple[str, ...]:
        if self.inputs == "embedding":
            return COUNTED if self.form == "context" else ()
        return self._allowed(FEATURES)

    @property
    def _seen(self) -> tuple[str, ...]:
        """What TabNet sees."""
        return self._allowed(CONTEXT if self.form == "context" else FEATURES)

    def _allowed(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        chosen = tuple(name for name in columns if self.with_limit or name != "log_limit_s")
        return (*chosen, *BURSTS) if self.with_post_run else chosen

    def _check(self, rows: Matrix) -> None:
        missing = [name for name in BURSTS if self.with_post_run and name not in rows.place]
        if missing:
            raise InvalidArgument(
                f"This surrogate uses what only a run tells, and the table has no column '{missing[0]}'.",
                "For a reproduction add it by hpcsim.surrogates.features.with_bursts; advice cannot have it.",
            )

    def fit(self, outcomes: Matrix, targets: Floats, weight: Floats | None, *, cross_fit: bool) -> NDArray[np.bool_]:
        """Train the TabNet, if there is one, and return which rows the trees may learn from, shape [rows]."""
        self._check(outcomes)
        everything = np.ones(len(outcomes), dtype=bool)
        if not self.uses_embedding:
            return everything
        first = uniforms(outcomes["row"].astype(np.int64), self.seed + 1) < 0.5
        if not cross_fit or first.all() or not first.any():
            first = everything
        features = outcomes.take(self._seen)
        self.tabnet = TabNet(self.architecture, seed=self.seed)
        self.tabnet.fit(features[first], targets[first], None if weight is None else weight[first])
        return everything if first.all() else ~first

    def own_rows(self, outcomes: Matrix) -> Floats:
        """Return the rows of *outcomes* at the counts they ran at: shape [rows, columns]."""
        parts = [outcomes.take(self._raw)]
        if self.tabnet is not None:
            parts.append(self.tabnet.embed(outcomes.take(self._seen), self.embed))
        return np.concatenate(parts, axis=1)

    def rows(self, contexts: Matrix, nodes: Floats) -> Floats:
        """Return the rows of J contexts at N counts: shape [J * N, columns], a job's counts together."""
        self._check(contexts)
        parts = [at_counts(contexts, nodes.astype(np.int64), self._raw)] if self._raw else []
        if self.tabnet is not None and self.form == "context":
            embedded = self._embedded(contexts.take(self._seen))
            parts.append(np.repeat(embedded, len(nodes), axis=0))
        elif self.tabnet is not None:
            parts.append(self.tabnet.embed(at_counts(contexts, nodes.astype(np.int64), self._seen), self.embed))
        return np.concatenate(parts, axis=1)

    def _embedded(self, features: Floats) -> Floats:
        """Return the embedding of each row of *features*, computed once for each different one."""
        assert self.tabnet is not None
        keys = [row.tobytes() for row in features]
        new = {key: place for place, key in enumerate(keys) if key not in self._kept}
        if new:
            if len(self._kept) + len(new) > KEPT_EMBEDDINGS:
                self._kept.clear()
                new = {key: place for place, key in enumerate(keys)}
            found = self.tabnet.embed(features[list(new.values())], self.embed)
            self._kept.update(zip(new, found, strict=True))
        return np.stack([self._kept[key] for key in keys]) if keys else np.zeros((0, len(self.names)))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what the TabNet learned, as named arrays."""
        return {} if self.tabnet is None else self.tabnet.arrays()

    def restore(self, arrays: dict[str, NDArray[Any]]) -> Self:
        """Take back what `state` returned; return self."""
        if self.uses_embedding:
            self.tabnet = TabNet.of_arrays(arrays, self.architecture, self.seed)
        return self
