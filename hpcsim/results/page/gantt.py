"""Who ran where and when: a bar for each allocation, or where they are too many, how full the machine was."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpcsim.node_ids import parse_intervals
from hpcsim.results.page.series import rounded
from hpcsim.results.quantities import count, duration
from hpcsim.results.result import Result
from hpcsim.results.room_ahead import spans

MOST_BARS = 2_500
"""Node intervals that are drawn one by one."""

BINS, ROWS = 800, 48
"""Parts of the time and of the machine that a large Gantt chart is summed up in, at most."""

COLOUR_COUNT = 6
"""Bars repeat so many colours."""


def gantt(result: Result, axis: tuple[float, float, float], charts: int = 1) -> dict[str, Any]:
    """Return the data of one of so many *charts*; *axis* is its first and last second and the unit in seconds.

    ``kind`` is ``bars`` (lists ``start length node height colour text``) or ``grid`` (``x y z``, the
    share of the nodes in use in percent).
    """
    low_s, high_s, unit_s = axis
    attempts = result.attempts
    parsed = [parse_intervals(text) for text in attempts["node_ids"].tolist()]
    owner = np.repeat(np.arange(len(parsed)), [len(intervals) for intervals in parsed])
    bounds = np.array([bound for intervals in parsed for bound in intervals], dtype=np.int64).reshape(-1, 2)
    start_s = attempts["start_s"].to_numpy()[owner]
    end_s = attempts["end_s"].fillna(high_s).to_numpy()[owner]
    if len(owner) > MOST_BARS:
        return _grid(result.nodes, start_s, end_s, bounds, axis, max(BINS // (1 + charts // 4), 100))
    jobs = result.jobs.set_index("row").loc[attempts["row"]]
    texts = [_text(*job) for job in zip(jobs["job_id"], jobs["nodes"], jobs["user_id"], jobs["wait_s"], strict=True)]
    return {
        "kind": "bars",
        "start": rounded((start_s - low_s) / unit_s, 6),
        "length": rounded((end_s - start_s) / unit_s, 6),
        "node": ((bounds[:, 0] + bounds[:, 1]) / 2).tolist(),
        "height": (bounds[:, 1] - bounds[:, 0] + 1).tolist(),
        "colour": (attempts["row"].to_numpy()[owner] % COLOUR_COUNT).tolist(),
        "text": [
            f"{texts[at]}, ran {duration(to - since)}" for at, since, to in zip(owner, start_s, end_s, strict=True)
        ],
    }


def _text(job_id: Any, nodes: int, user_id: Any, wait_s: float) -> str:
    import pandas as pd

    user = "" if pd.isna(user_id) else f", user {user_id}"
    return f"job {job_id}{user}: {count(int(nodes), 'node')}, waited {duration(wait_s)}"


def _grid(
    nodes: int, start_s: Any, end_s: Any, bounds: Any, axis: tuple[float, float, float], bins: int
) -> dict[str, Any]:
    """Return how full each part of the machine was in each part of the time."""
    low_s, high_s, unit_s = axis
    node_edges = np.unique(np.linspace(0, nodes, min(nodes, ROWS) + 1).astype(np.int64))
    first = np.searchsorted(node_edges, bounds[:, 0], side="right") - 1
    last = np.searchsorted(node_edges, bounds[:, 1] + 1)
    at, row = spans(first, last)
    held = np.minimum(bounds[at, 1] + 1, node_edges[row + 1]) - np.maximum(bounds[at, 0], node_edges[row])
    edges_s = np.linspace(low_s, high_s, bins + 1)
    rows = len(node_edges) - 1
    until = _until(row, held, start_s[at], edges_s, rows) - _until(row, held, end_s[at], edges_s, rows)
    share = np.diff(until, axis=1) / (np.diff(edges_s) * np.diff(node_edges)[:, None])
    return {
        "kind": "grid",
        "x": rounded((edges_s - low_s) / unit_s, 4),
        "y": (node_edges - 0.5).tolist(),
        "z": np.clip(np.rint(100 * share), 0, 100).astype(int).tolist(),
    }


def _until(row: Any, held: Any, from_s: Any, edges_s: Any, rows: int) -> Any:
    """Return the node-seconds of each row until each edge, were *held* nodes taken from *from_s* on for ever."""
    size = rows * len(edges_s)
    at = row * len(edges_s) + np.minimum(np.searchsorted(edges_s, from_s), len(edges_s) - 1)
    taken = np.cumsum(np.bincount(at, held, size).reshape(rows, -1), axis=1)
    since = np.cumsum(np.bincount(at, held * (from_s - edges_s[0]), size).reshape(rows, -1), axis=1)
    return taken * (edges_s - edges_s[0]) - since
