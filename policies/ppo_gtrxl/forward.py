"""The network in NumPy, one decision at a time: what a policy runs, and what training rolls out with.

Keys and values of earlier decisions are kept, so a decision costs one query. A segment begins every
`NetworkConfig.segment` decisions and then forgets all but the last `NetworkConfig.memory` of what came
before it; that is the very window that training sees, so both compute the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hpcsim.policies.ppo_gtrxl.distances import sinusoids
from hpcsim.policies.ppo_gtrxl.forward_parts import (
    Floats,
    Gate,
    LayerNorm,
    Linear,
    Perceptron,
    Recalibration,
    sigmoid,
    softmax,
)
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig

Rows = slice | NDArray[np.int64]


class Step(NamedTuple):
    """Observations of one decision each of B episodes.

    *jobs* [B, K, F], *nodes* [B, N, G], *globals_* [B, H], *prior* [B, K]; see `network.Inputs`.
    """

    jobs: Floats
    nodes: Floats
    globals_: Floats
    prior: Floats


class Answer(NamedTuple):
    """*logits* [B, K], unmasked; *values* [B]; *states*, what was fed to each layer, [B, width] each."""

    logits: Floats
    values: Floats
    states: tuple[Floats, ...]


class Memory:
    """What episodes remember between decisions; they decide in step, so all have as many behind them."""

    def __init__(self, config: NetworkConfig, episodes: int) -> None:
        heads, channels = config.heads, config.width // config.heads
        self._memory, self._segment = config.memory, config.segment
        self._places = 0
        self.steps = 0
        shape = (episodes, heads, config.span, channels)
        is_transformer = config.core in {"gtrxl", "trxl"}
        kept = range(config.blocks if is_transformer else 0)
        self.keys = [np.zeros(shape, dtype=np.float32) for _ in kept]
        self.values = [np.zeros(shape, dtype=np.float32) for _ in kept]
        self.recurrent = np.zeros((episodes, config.width), dtype=np.float32)

    def advance(self) -> int:
        """Make room for one more decision; return how many the query sees, its own among them."""
        if self.steps and self.steps % self._segment == 0:
            kept = min(self._memory, self._places)
            for array in (*self.keys, *self.values):
                array[:, :, :kept] = array[:, :, self._places - kept : self._places].copy()
            self._places = kept
        self.steps += 1
        self._places += 1
        return self._places


class _Attention:
    def __init__(self, weights: Mapping[str, Floats], name: str, config: NetworkConfig) -> None:
        self.heads, channels = config.heads, config.width // config.heads
        joined = [weights[f"{name}.{part}.weight"] for part in ("query", "key", "value")]
        self.query_key_value = Linear({"joined.weight": np.concatenate(joined)}, "joined")
        self.out = Linear(weights, f"{name}.out")
        self.scale = np.float32(1 / math.sqrt(channels))
        self.is_sinusoidal = config.positions == "sinusoidal"
        if self.is_sinusoidal:
            self.content_bias = weights[f"{name}.content_bias"]
            self.position_bias = weights[f"{name}.position_bias"]
            encoded = Linear(weights, f"{name}.position")(sinusoids(config.span, config.width))
            self.encoded = encoded.reshape(config.span, config.heads, channels).transpose(1, 2, 0)
        else:
            self.table = weights[f"{name}.table"]

    def __call__(self, normed: Floats, keys: Floats, values: Floats, rows: Rows, seen: int) -> Floats:
        """Return what the newest decision reads; its key and value take place *seen* - 1."""
        parts = self.query_key_value(normed).reshape(len(normed), 3, self.heads, -1)
        query = parts[:, 0, :, None]
        keys[rows, :, seen - 1] = parts[:, 1]
        values[rows, :, seen - 1] = parts[:, 2]
        known = keys[rows, :, :seen].transpose(0, 1, 3, 2)
        score: Any
        if self.is_sinusoidal:
            score = (query + self.content_bias[:, None, :]) @ known
            score += ((query + self.position_bias[:, None, :]) @ self.encoded)[..., seen - 1 :: -1]
            score *= self.scale
        else:
            score = query @ known
            score *= self.scale
            score += self.table[:, None, seen - 1 :: -1]
        read = softmax(score) @ values[rows, :, :seen]
        return self.out(read.reshape(len(normed), -1))


class _Block:
    def __init__(self, weights: Mapping[str, Floats], name: str, config: NetworkConfig) -> None:
        self.attention = _Attention(weights, f"{name}.attention", config)
        self.norm_attention = LayerNorm(weights, f"{name}.norm_attention")
        self.norm_mlp = LayerNorm(weights, f"{name}.norm_mlp")
        self.mlp = Perceptron(weights, f"{name}.mlp")
        self.is_gated = config.core == "gtrxl"
        if self.is_gated:
            self.gate_attention = Gate(weights, f"{name}.gate_attention", config.gate)
            self.gate_mlp = Gate(weights, f"{name}.gate_mlp", config.gate)

    def __call__(self, stream: Floats, keys: Floats, values: Floats, rows: Rows, seen: int) -> Floats:
        if not self.is_gated:
            stream = self.norm_attention(stream + self.attention(stream, keys, values, rows, seen))
            return self.norm_mlp(stream + self.mlp(stream))
        read = self.attention(self.norm_attention(stream), keys, values, rows, seen)
        stream = self.gate_attention(stream, np.maximum(read, 0, out=read))
        added = self.mlp(self.norm_mlp(stream))
        return self.gate_mlp(stream, np.maximum(added, 0, out=added))


class Forward:
    """The network of *config* with *weights*, which are named as torch names them."""

    def __init__(self, config: NetworkConfig, weights: Mapping[str, Floats]) -> None:
        self.config = config
        self._jobs = Perceptron(weights, "jobs", is_bounded_below=True)
        self._recalibrate_jobs = Recalibration(weights, "recalibrate_jobs", config)
        if config.node_features:
            self._nodes = Perceptron(weights, "nodes", is_bounded_below=True)
            self._recalibrate_nodes = Recalibration(weights, "recalibrate_nodes", config)
        self._pool = Linear(weights, "pool")
        if config.core == "mlp":
            self._reactive = Perceptron(weights, "core.0")
        elif config.core == "gru":
            self._cell = _Cell(weights, "core.0")
        else:
            self._blocks = [_Block(weights, f"core.{at}", config) for at in range(config.blocks)]
        self._policy, self._value = Perceptron(weights, "policy"), Perceptron(weights, "value")

    def begin(self, episodes: int = 1) -> Memory:
        """Return the memory of *episodes* that have not decided yet."""
        return Memory(self.config, episodes)

    def step(self, memory: Memory, step: Step, rows: Rows = slice(None)) -> Answer:
        """Answer one decision each of the episodes *rows*, which `step` holds in that order; *memory* goes on."""
        is_job = step.jobs[..., 0] > 0
        tokens, seen = self._recalibrate_jobs(self._jobs(step.jobs), is_job, step.globals_)
        summary = [*seen]
        if self.config.node_features:
            valid = step.nodes[..., 0] > 0
            summary += self._recalibrate_nodes(self._nodes(step.nodes), valid, step.globals_)[1]
        decision = self._pool(np.concatenate([*summary, step.globals_], axis=-1))
        context, states = self._remember(decision, memory, rows)
        width = self.config.width
        in_context = np.empty((*tokens.shape[:2], 2 * width), dtype=np.float32)
        in_context[..., :width], in_context[..., width:] = tokens, context[:, None, :]
        logits = self._policy(in_context)[..., 0]
        if self.config.prior != "none":
            logits = logits + np.float32(self.config.prior_weight) * step.prior
        values = self._value(np.concatenate([context, step.globals_], axis=-1))[..., 0]
        return Answer(logits, values, states)

    def _remember(self, decision: Floats, memory: Memory, rows: Rows) -> tuple[Floats, tuple[Floats, ...]]:
        if self.config.core == "mlp":
            return decision + np.maximum(self._reactive(decision), 0), ()
        if self.config.core == "gru":
            before = memory.recurrent[rows].copy()
            memory.recurrent[rows] = after = self._cell(decision, before)
            return after, (before,)
        seen = memory.advance()
        states = []
        for block, keys, values in zip(self._blocks, memory.keys, memory.values, strict=True):
            states.append(decision)
            decision = block(decision, keys, values, rows, seen)
        return decision, tuple(states)


class _Cell:
    """A recurrent cell, as torch's GRUCell computes it."""

    def __init__(self, weights: Mapping[str, Floats], name: str) -> None:
        self.from_input = np.ascontiguousarray(weights[f"{name}.weight_ih"].T), weights[f"{name}.bias_ih"]
        self.from_state = np.ascontiguousarray(weights[f"{name}.weight_hh"].T), weights[f"{name}.bias_hh"]

    def __call__(self, x: Floats, state: Floats) -> Floats:
        width = state.shape[-1]
        by_input = x @ self.from_input[0] + self.from_input[1]
        by_state = state @ self.from_state[0] + self.from_state[1]
        both = sigmoid(by_input[..., : 2 * width] + by_state[..., : 2 * width])
        candidate = np.tanh(by_input[..., 2 * width :] + both[..., :width] * by_state[..., 2 * width :])
        after: Floats = candidate + both[..., width:] * (state - candidate)
        return after
