"""Experience of a batch of episodes, kept decision by decision and cut into segments to learn from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig

Floats = NDArray[np.float32]
Array = NDArray[Any]


class Moment(NamedTuple):
    """One decision each of some episodes, as arrays whose first axis is the episode.

    *states* is [B, layers, width]: what was fed to each layer. *log_probs* [B, K] are of all actions.
    """

    jobs: Floats
    nodes: Floats
    globals_: Floats
    mask: NDArray[np.bool_]
    prior: Floats
    actions: NDArray[np.int64]
    log_probs: Floats
    values: Floats
    times_s: NDArray[np.float64]
    states: Floats


def moments_of(parts: Iterable[Array]) -> Moment:
    """Return arrays, one for each field in its order, as a `Moment`."""
    fields: tuple[Any, ...] = tuple(parts)
    return Moment(*fields)


class Record:
    """What B episodes that decide in step have gone through; room doubles as they grow longer."""

    def __init__(self, episodes: int) -> None:
        self.lengths = np.zeros(episodes, dtype=np.int64)
        self.rewards = np.zeros((episodes, 64))
        self._kept: Moment | None = None

    def keep(self, rows: NDArray[np.int64], at: int, moment: Moment) -> None:
        """Keep decision *at* of the episodes *rows*."""
        if self._kept is None:
            shape = self.rewards.shape
            self._kept = moments_of(np.zeros((*shape, *part.shape[1:]), part.dtype) for part in moment)
        elif at == self.rewards.shape[1]:
            self._kept = moments_of(np.concatenate([part, np.zeros_like(part)], axis=1) for part in self._kept)
            self.rewards = np.concatenate([self.rewards, np.zeros_like(self.rewards)], axis=1)
        pairs: Iterable[tuple[Any, Any]] = zip(self._kept, moment, strict=True)
        for kept, new in pairs:
            kept[rows, at] = new
        self.lengths[rows] = at + 1

    @property
    def moments(self) -> Moment:
        """All that was kept, each array [B, T, ...]; beyond an episode's length it means nothing."""
        assert self._kept is not None
        longest = int(self.lengths.max())
        return moments_of(part[:, :longest] for part in self._kept)


@dataclass(frozen=True, slots=True, eq=False)
class Experience:
    """S segments of T decisions, in the layout of `network.Inputs`, `network.Carried` and `losses.Taken`.

    *weight* [S, T] is 1 where a decision was asked; *carried* [S, M, layers, width] is what each segment
    starts from and *is_kept* [S, M] which places of it hold something.
    """

    jobs: Floats
    nodes: Floats
    globals_: Floats
    mask: NDArray[np.bool_]
    prior: Floats
    actions: NDArray[np.int64]
    log_probs: Floats
    values: Floats
    advantages: Floats
    returns: Floats
    weight: Floats
    carried: Floats
    is_kept: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def decisions(self) -> int:
        """How many decisions were asked."""
        return int(self.weight.sum())

    def first(self, decisions: int) -> Experience:
        """Return the first segments, of which just so many *decisions* are learned from; all if there are no more."""
        asked = np.cumsum(self.weight > 0).reshape(self.weight.shape)
        segments = int(np.searchsorted(asked[:, -1], decisions)) + 1
        parts = {name: getattr(self, name)[:segments] for name in self.__dataclass_fields__}
        return Experience(**parts | {"weight": parts["weight"] * (asked[:segments] <= decisions)})


def segments_of(
    record: Record,
    advantages: Sequence[NDArray[np.float64]],
    returns: Sequence[NDArray[np.float64]],
    config: NetworkConfig,
) -> Experience:
    """Cut the episodes of *record* into segments; advantages and returns are one array an episode."""
    moments, lengths = record.moments, record.lengths
    per_episode = -(-int(lengths.max()) // config.segment)
    padded = per_episode * config.segment
    starts = np.arange(per_episode) * config.segment
    episode, segment = np.nonzero(starts[None, :] < lengths[:, None])

    def cut(array: Array) -> Array:
        filled = np.zeros((len(lengths), padded, *array.shape[2:]), dtype=array.dtype)
        filled[:, : array.shape[1]] = array
        return filled.reshape(len(lengths), per_episode, config.segment, *array.shape[2:])[episode, segment]

    def lay_out(parts: Sequence[NDArray[np.float64]]) -> Floats:
        out = np.zeros((len(lengths), padded), dtype=np.float32)
        for row, part in enumerate(parts):
            out[row, : len(part)] = part
        return out

    weight = cut((np.arange(padded)[None, :] < lengths[:, None]).astype(np.float32))
    mask = cut(moments.mask)
    mask[..., 0] |= weight == 0  # padding has one action, so that its distribution is one
    carried, is_kept = _carried(moments.states, episode, starts[segment], config)
    kept = {name: cut(getattr(moments, name)) for name in ("jobs", "nodes", "globals_", "prior", "actions", "values")}
    return Experience(
        **kept,
        mask=mask,
        log_probs=np.where(mask, cut(moments.log_probs), np.float32(-1e9)),
        advantages=cut(lay_out(advantages)),
        returns=cut(lay_out(returns)),
        weight=weight,
        carried=carried,
        is_kept=is_kept,
    )


def joined(parts: Sequence[Experience]) -> Experience:
    """Return all segments of *parts* together."""
    names = Experience.__dataclass_fields__
    return Experience(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def _carried(
    states: Floats, episode: NDArray[np.int64], starts: NDArray[np.int64], config: NetworkConfig
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return what each segment starts from, [S, M, layers, width], and what of it is filled, [S, M]."""
    if config.core == "gru":  # its state before the segment's first decision was kept with that decision
        return states[episode, starts][:, None], np.ones((len(episode), 1), dtype=np.bool_)
    places = config.memory if config.layers else 0
    at = starts[:, None] - places + np.arange(places)[None, :]
    is_kept = at >= 0
    carried = states[episode[:, None], np.maximum(at, 0)]
    return np.where(is_kept[..., None, None], carried, np.float32(0)), is_kept
