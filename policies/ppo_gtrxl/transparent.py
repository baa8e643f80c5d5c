"""The network once more, slow and open: every weight of attention, every gate and every factor can be read.

Written from the definitions and from the weights alone, for one episode, so that it is a check of the
fast forward pass as well: both give the same logits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import Unsupported
from hpcsim.policies.ppo_gtrxl.distances import sinusoids
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig, kernel_width

Floats = NDArray[np.float64]


class Look(NamedTuple):
    """What a block did at one decision.

    Attributes:
        attention: [heads, seen], itself first, then ever older decisions.
        attention_gate, mlp_gate: mean over channels of what the gate let through; NaN without one.
    """

    attention: Floats
    attention_gate: float
    mlp_gate: float


class Seen(NamedTuple):
    """What the network did at one decision.

    Attributes:
        logits: [K], unmasked.
        alone: [K], the same with the past hidden.
        looks: of each block.
        job_factors, node_factors: [features], see `hpcsim.inspection.Inspection.factors`; nodes may be None.
    """

    logits: Floats
    alone: Floats
    looks: tuple[Look, ...]
    job_factors: Floats
    node_factors: Floats | None


class TransparentNetwork:
    """The network of *config* with *weights*, one decision after the other from the first of an episode.

    Raises:
        Unsupported: it has no attention over decisions to look at.
    """

    def __init__(self, config: NetworkConfig, weights: Mapping[str, NDArray[np.float32]]) -> None:
        if config.core not in {"gtrxl", "trxl"} or config.token_attention:
            what = f"core '{config.core}'" if not config.token_attention else "attention over tokens"
            raise Unsupported(
                f"A network with {what} cannot be looked into.",
                "Give one of core gtrxl or trxl without token attention.",
            )
        self.config = config
        self._weights = {name: np.asarray(value, dtype=np.float64) for name, value in weights.items()}
        self._past: list[list[Floats]] = [[] for _ in range(config.blocks)]

    def step(self, jobs: Floats, nodes: Floats, globals_: Floats, prior: Floats) -> Seen:
        """Return what one more decision does; shapes [K, F], [N, G], [H] and [K], as the network is fed."""
        tokens, job_factors = self._tokens("jobs", jobs, globals_)
        summary, node_factors = [*_pooled(tokens, jobs[:, 0] > 0)], None
        if self.config.node_features:
            groups, node_factors = self._tokens("nodes", nodes, globals_)
            summary += _pooled(groups, nodes[:, 0] > 0)
        decision = self._linear("pool", np.concatenate([*summary, globals_]))
        alone, looks = decision, []
        for block in range(self.config.blocks):
            past = self._past[block] = [*self._past[block], decision]
            alone, _ = self._block(block, [alone])
            decision, look = self._block(block, self._window(past))
            looks.append(look)
        logits = [self._logits(tokens, context, prior) for context in (decision, alone)]
        return Seen(logits[0], logits[1], tuple(looks), job_factors, node_factors)

    def _window(self, past: list[Floats]) -> list[Floats]:
        """Return the states that the newest may see: its segment so far, and the memory before that."""
        newest = len(past) - 1
        begin = newest - newest % self.config.segment
        return past[max(0, begin - self.config.memory) :]

    def _logits(self, tokens: Floats, context: Floats, prior: Floats) -> Floats:
        beside = np.broadcast_to(context, tokens.shape)
        logits = self._perceptron("policy", np.concatenate([tokens, beside], axis=1))[:, 0]
        return logits if self.config.prior == "none" else logits + self.config.prior_weight * prior

    def _tokens(self, kind: str, rows: Floats, globals_: Floats) -> tuple[Floats, Floats]:
        """Return the recalibrated tokens of *rows*, and the factor of each feature."""
        hidden = self._linear(f"{kind}.0", rows)
        raw = self._linear(f"{kind}.2", np.maximum(hidden, 0))
        valid = rows[:, 0] > 0
        tokens = np.maximum(raw, 0)
        factors = self._factors(f"recalibrate_{kind}", tokens, valid, globals_)
        first, second = self._weights[f"{kind}.0.weight"], self._weights[f"{kind}.2.weight"]
        slopes = [np.abs((second * (hidden[at] > 0)) @ first) * (raw[at] > 0)[:, None] for at in np.flatnonzero(valid)]
        reacts = np.mean(slopes, axis=0) if slopes else np.zeros((len(factors), rows.shape[1]))
        total = reacts.sum(axis=0)
        by_feature = np.where(total > 0, factors @ reacts / np.where(total > 0, total, 1), np.nan)
        tokens = tokens * factors
        if self.config.recalibration == "cbam":
            of_token = np.stack([tokens.mean(axis=1), tokens.max(axis=1)], axis=1)
            tokens = tokens * 2 * _sigmoid(self._linear(f"recalibrate_{kind}.token", of_token))
        return tokens, by_feature

    def _factors(self, name: str, tokens: Floats, valid: NDArray[np.bool_], globals_: Floats) -> Floats:
        """Return the factor of each channel."""
        kind = self.config.recalibration
        if kind == "none":
            return np.ones(tokens.shape[1])
        mean, largest = _pooled(tokens, valid)
        if kind == "eca":
            score = _neighbours(mean, kernel_width(self.config.width)) @ self._weights[f"{name}.kernel"]
        elif kind == "cbam":
            score = self._excited(name, mean) + self._excited(name, largest)
        else:
            score = self._excited(name, np.concatenate([mean, largest, globals_]) if kind == "sect" else mean)
        return 2 * _sigmoid(score)

    def _excited(self, name: str, squeezed: Floats) -> Floats:
        return self._linear(f"{name}.excite", np.maximum(self._linear(f"{name}.squeeze", squeezed), 0))

    def _block(self, number: int, window: list[Floats]) -> tuple[Floats, Look]:
        """Return what comes of the newest state of *window*, and how."""
        name, newest = f"core.{number}", window[-1]
        if self.config.core == "trxl":
            read, attention = self._attend(f"{name}.attention", window)
            stream = self._normed(f"{name}.norm_attention", newest + read)
            out = self._normed(f"{name}.norm_mlp", stream + self._perceptron(f"{name}.mlp", stream))
            return out, Look(attention, math.nan, math.nan)
        read, attention = self._attend(
            f"{name}.attention", [self._normed(f"{name}.norm_attention", state) for state in window]
        )
        stream, first = self._gated(f"{name}.gate_attention", newest, np.maximum(read, 0))
        added = np.maximum(self._perceptron(f"{name}.mlp", self._normed(f"{name}.norm_mlp", stream)), 0)
        out, second = self._gated(f"{name}.gate_mlp", stream, added)
        return out, Look(attention, first, second)

    def _attend(self, name: str, window: list[Floats]) -> tuple[Floats, Floats]:
        """Return what the newest reads, and its weights [heads, seen], the newest first."""
        heads, seen = self.config.heads, len(window)
        states = np.stack(window[::-1])
        query = self._linear(f"{name}.query", states[0]).reshape(heads, -1)
        keys, values = (self._linear(f"{name}.{part}", states).reshape(seen, heads, -1) for part in ("key", "value"))
        scale = 1 / math.sqrt(query.shape[1])
        if self.config.positions == "sinusoidal":
            content, position = (self._weights[f"{name}.{kind}_bias"] for kind in ("content", "position"))
            distances = sinusoids(seen, self.config.width).astype(float)
            encoded = self._linear(f"{name}.position", distances)
            score = np.einsum("hc,shc->hs", query + content, keys)
            score += np.einsum("hc,shc->hs", query + position, encoded.reshape(seen, heads, -1))
            score *= scale
        else:
            score = np.einsum("hc,shc->hs", query, keys) * scale + self._weights[f"{name}.table"][:, :seen]
        weights = np.exp(score - score.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return self._linear(f"{name}.out", np.einsum("hs,shc->hc", weights, values).reshape(-1)), weights

    def _gated(self, name: str, x: Floats, y: Floats) -> tuple[Floats, float]:
        """Return the joined stream, and the mean of what the gate let through; see the module `gates`."""
        kind, bias = self.config.gate, self._weights.get(f"{name}.bias", np.zeros(1))
        if kind == "residual":
            return x + y, math.nan
        if kind == "gru":
            width = len(x)
            by_y, by_x = self._linear(f"{name}.from_y", y), self._linear(f"{name}.from_x", x)
            reset = _sigmoid(by_y[:width] + by_x[:width])
            update = _sigmoid(by_y[width : 2 * width] + by_x[width:] - bias)
            candidate = np.tanh(by_y[2 * width :] + self._linear(f"{name}.candidate", reset * x))
            return (1 - update) * x + update * candidate, float(update.mean())
        opened = self._linear(f"{name}.weight", y if kind == "sigtanh" else x)
        if kind == "input":
            return _sigmoid(opened) * x + y, math.nan
        if kind == "highway":
            kept = _sigmoid(opened + bias)
            return kept * x + (1 - kept) * y, float((1 - kept).mean())
        share = _sigmoid(opened - bias)
        added = y if kind == "output" else np.tanh(self._linear(f"{name}.candidate", y))
        return x + share * added, float(share.mean())

    def _perceptron(self, name: str, x: Floats) -> Floats:
        return self._linear(f"{name}.2", np.maximum(self._linear(f"{name}.0", x), 0))

    def _linear(self, name: str, x: Floats) -> Floats:
        out: Floats = x @ self._weights[f"{name}.weight"].T + self._weights.get(f"{name}.bias", 0.0)
        return out

    def _normed(self, name: str, x: Floats) -> Floats:
        normed = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
        out: Floats = normed * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return out


def _sigmoid(x: Floats) -> Floats:
    return 0.5 * np.tanh(0.5 * x) + 0.5


def _pooled(tokens: Floats, valid: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return mean and maximum over the valid tokens, zeros where there is none."""
    if not valid.any():
        return np.zeros(tokens.shape[1]), np.zeros(tokens.shape[1])
    return tokens[valid].mean(axis=0), tokens[valid].max(axis=0)


def _neighbours(channels: Floats, width: int) -> Floats:
    """Return [channels, width]: each channel and its neighbours, zeros beyond the ends."""
    padded = np.pad(channels, width // 2)
    return np.stack([padded[at : at + width] for at in range(len(channels))])
