"""Parts of the network in NumPy: linear maps, normalisation, gates, recalibration, pooling.

Each repeats what its torch counterpart computes, from the same weights by the same names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


class Pooled(NamedTuple):
    """Mean and maximum of some tokens, [B, width] each."""

    mean: Floats
    largest: Floats


BLOCKED = np.float32(-1e9)
_HAIR = np.float32(1e-5)  # nn.LayerNorm's
_HALF, _TWO, _NONE = np.float32(0.5), np.float32(2), np.float32(0)


def sigmoid(x: Floats) -> Floats:
    """Return the logistic function, by tanh, which does not overflow."""
    result: Floats = _HALF * x
    np.tanh(result, out=result)
    result *= _HALF
    result += _HALF
    return result


def softmax(score: Floats) -> Floats:
    """Return the softmax over the last axis."""
    weights: Floats = score - np.maximum.reduce(score, -1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= np.add.reduce(weights, -1, keepdims=True)
    return weights


def pooled(tokens: Floats, valid: Bools) -> Pooled:
    """Return mean and maximum over the *valid* tokens of [B, T, width]; 0 where none is."""
    weight = valid.astype(np.float32)
    count = np.add.reduce(weight, -1, keepdims=True)
    mean = np.matmul(weight[:, None, :], tokens)[:, 0]
    mean /= np.maximum(count, 1)
    beyond = np.where(valid, _NONE, -np.inf).astype(np.float32)
    largest = np.maximum.reduce(tokens + beyond[..., None], -2)
    return Pooled(mean, np.where(count > 0, largest, _NONE))


class Linear:
    """x W' + b."""

    def __init__(self, weights: Mapping[str, Floats], name: str) -> None:
        self.weight = np.ascontiguousarray(weights[f"{name}.weight"].T)
        self.bias = weights.get(f"{name}.bias")

    def __call__(self, x: Floats) -> Floats:
        """Map the last axis."""
        out: Floats = x @ self.weight
        if self.bias is not None:
            out += self.bias
        return out


class Perceptron:
    """Two linear maps with a ReLU between, and one after them where *is_bounded_below*."""

    def __init__(self, weights: Mapping[str, Floats], name: str, *, is_bounded_below: bool = False) -> None:
        self.first, self.second = Linear(weights, f"{name}.0"), Linear(weights, f"{name}.2")
        self.is_bounded_below = is_bounded_below

    def __call__(self, x: Floats) -> Floats:
        """Map the last axis."""
        hidden = self.first(x)
        out = self.second(np.maximum(hidden, _NONE, out=hidden))
        return np.maximum(out, _NONE, out=out) if self.is_bounded_below else out


class LayerNorm:
    """Normalisation over channels, with a learned scale and shift."""

    def __init__(self, weights: Mapping[str, Floats], name: str) -> None:
        self.weight, self.bias = weights[f"{name}.weight"], weights[f"{name}.bias"]

    def __call__(self, x: Floats) -> Floats:
        """Normalise the last axis."""
        width = np.float32(x.shape[-1])
        mean: Floats = np.add.reduce(x, -1, keepdims=True)
        mean /= width
        out: Floats = x - mean
        deviation: Floats = np.add.reduce(out * out, -1, keepdims=True)
        deviation /= width
        deviation += _HAIR
        np.sqrt(deviation, out=deviation)
        out /= deviation
        out *= self.weight
        out += self.bias
        return out


class Gate:
    """Joins what a part adds, y, to the stream x; see `hpcsim.policies.ppo_gtrxl.gates`."""

    def __init__(self, weights: Mapping[str, Floats], name: str, kind: str) -> None:
        self.kind = kind
        self.bias = weights.get(f"{name}.bias")
        if kind == "gru":
            assert self.bias is not None
            self._shift = np.concatenate([np.zeros_like(self.bias), self.bias])
        names = {"gru": ("from_y", "from_x", "candidate"), "sigtanh": ("weight", "candidate"), "residual": ()}
        self.maps = [Linear(weights, f"{name}.{part}") for part in names.get(kind, ("weight",))]

    def __call__(self, x: Floats, y: Floats) -> Floats:
        """Return the gated stream, shaped as x."""
        if self.kind == "residual":
            return x + y
        first = self.maps[0]
        if self.kind == "gru":
            return self._gru(x, y)
        if self.kind == "input":
            return sigmoid(first(x)) * x + y
        assert self.bias is not None
        if self.kind == "output":
            return x + sigmoid(first(x) - self.bias) * y
        if self.kind == "highway":
            keep = sigmoid(first(x) + self.bias)
            return keep * x + (1 - keep) * y
        out: Floats = x + sigmoid(first(y) - self.bias) * np.tanh(self.maps[1](y))
        return out

    def _gru(self, x: Floats, y: Floats) -> Floats:
        width = x.shape[-1]
        from_y, from_x = self.maps[0](y), self.maps[1](x)
        from_x += from_y[..., : 2 * width]
        from_x -= self._shift
        both = sigmoid(from_x)
        reset, update = both[..., :width], both[..., width:]
        reset *= x
        out: Floats = self.maps[2](reset)
        out += from_y[..., 2 * width :]
        np.tanh(out, out=out)
        out -= x
        out *= update
        out += x
        return out


class TokenAttention:
    """Self-attention over tokens, gated."""

    def __init__(self, weights: Mapping[str, Floats], name: str, config: NetworkConfig) -> None:
        self.heads = config.heads
        self.norm = LayerNorm(weights, f"{name}.norm")
        self.query_key_value = Linear(weights, f"{name}.query_key_value")
        self.out = Linear(weights, f"{name}.out")
        self.gate = Gate(weights, f"{name}.gate", config.gate)

    def __call__(self, tokens: Floats, valid: Bools) -> Floats:
        """Return the tokens after each has read the *valid* ones."""
        batch, count, width = tokens.shape
        parts = self.query_key_value(self.norm(tokens)).reshape(batch, count, 3, self.heads, -1)
        query, key, value = (parts[:, :, at].transpose(0, 2, 1, 3) for at in range(3))
        score = query @ key.transpose(0, 1, 3, 2) * np.float32(1 / math.sqrt(query.shape[-1]))
        weights = softmax(np.where(valid[:, None, None, :], score, BLOCKED))
        read = (weights @ value).transpose(0, 2, 1, 3).reshape(batch, count, width)
        return self.gate(tokens, np.maximum(self.out(read), 0))


class Recalibration:
    """Rescales tokens by what they are together; see `hpcsim.policies.ppo_gtrxl.recalibration`."""

    def __init__(self, weights: Mapping[str, Floats], name: str, config: NetworkConfig) -> None:
        self.kind = config.recalibration
        if self.kind in {"sect", "se", "cbam"}:
            self.squeeze, self.excite = Linear(weights, f"{name}.squeeze"), Linear(weights, f"{name}.excite")
        if self.kind == "eca":
            self.kernel = weights[f"{name}.kernel"]
        if self.kind == "cbam":
            self.token = Linear(weights, f"{name}.token")
        has_attention = self.kind == "sect" and config.token_attention
        self.attention = TokenAttention(weights, f"{name}.attention", config) if has_attention else None

    def __call__(self, tokens: Floats, valid: Bools, globals_: Floats) -> tuple[Floats, Pooled]:
        """Return the tokens, rescaled, and what they are together then."""
        before = pooled(tokens, valid)
        if self.kind == "none":
            return tokens, before
        factor = sigmoid(self._score(before, globals_))
        factor *= _TWO
        tokens = tokens * factor[:, None, :]
        if self.kind == "cbam":
            of_token = np.stack([tokens.mean(-1), tokens.max(-1)], axis=-1)
            tokens *= 2 * sigmoid(self.token(of_token))
        if self.attention is not None:
            tokens = self.attention(tokens, valid)
        if self.attention is not None or self.kind == "cbam":
            return tokens, pooled(tokens, valid)
        return tokens, Pooled(before.mean * factor, before.largest * factor)  # factors are above 0

    def _score(self, tokens: Pooled, globals_: Floats) -> Floats:
        mean, largest = tokens
        if self.kind == "eca":
            side = len(self.kernel) // 2
            padded = np.pad(mean, ((0, 0), (side, side)))
            windows = np.lib.stride_tricks.sliding_window_view(padded, len(self.kernel), axis=-1)
            score: Floats = windows @ self.kernel
            return score
        if self.kind == "cbam":
            return self._excite(mean) + self._excite(largest)
        return self._excite(np.concatenate([mean, largest, globals_], axis=-1) if self.kind == "sect" else mean)

    def _excite(self, squeezed: Floats) -> Floats:
        narrow = self.squeeze(squeezed)
        return self.excite(np.maximum(narrow, _NONE, out=narrow))
