"""As-of history: what had happened to the jobs of a group when another one was submitted.

Only jobs that ended strictly before the submission count. Everything is sorted once and looked up by
binary search, so that a million jobs cost seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Finished:
    """Finished jobs, one entry each in every array.

    Attributes:
        user, app: numbers of who ran what.
        end_s: when it ended; run_s: how long it ran.
        nodes: on how many.
        power_w: of the whole job; what is not finite and above 0 counts as not measured.
    """

    user: Ints
    app: Ints
    end_s: Floats
    run_s: Floats
    nodes: Floats
    power_w: Floats

    def __len__(self) -> int:
        return len(self.end_s)


class History:
    """Finished jobs by group, ready to be asked what was known at any time.

    Args:
        group: number of the group of each finished job.
        jobs: the jobs.
    """

    def __init__(self, group: Ints, jobs: Finished) -> None:
        order = np.lexsort((np.arange(len(jobs)), jobs.end_s, group))
        self._group, self._end_s = group[order], jobs.end_s[order]
        nodes, run_s = jobs.nodes[order], np.maximum(jobs.run_s[order], 1.0)
        self._log_run, self._log_nodes = np.log(run_s), np.log(nodes)
        power_w = jobs.power_w[order]
        self._node_w = np.where(np.isfinite(power_w) & (power_w > 0), power_w, np.nan) / nodes
        self._ends = np.unique(jobs.end_s)
        self._keys = self._key(self._group, np.searchsorted(self._ends, self._end_s))
        self._is_new = _first_of_its_kind(self._group, nodes)
        self._least, self._most = _running_extremes(self._group, nodes)

    def seen(self, group: Ints, time_s: Floats) -> dict[str, Floats]:
        """Return what was known of each *group* [J] before *time_s* [J].

        Keys: ``jobs counts`` (0 where none), ``last_log_run mean_log_run mean_log_node_s last_node_w
        mean_node_w mean_log_nodes log_since_s least_nodes most_nodes`` (NaN where none).
        """
        first = np.searchsorted(self._group, group, "left")
        last = np.searchsorted(self._keys, self._key(group, np.searchsorted(self._ends, time_s, "left")), "left")
        count = last - first
        is_known = count > 0
        at = np.where(is_known, last - 1, 0)
        measured = ~np.isnan(self._node_w)
        watts = self._sums(np.where(measured, self._node_w, 0.0), first, last)
        with np.errstate(invalid="ignore", divide="ignore"):
            result = {
                "mean_log_run": self._sums(self._log_run, first, last) / count,
                "mean_log_node_s": self._sums(self._log_run + self._log_nodes, first, last) / count,
                "mean_log_nodes": self._sums(self._log_nodes, first, last) / count,
                "mean_node_w": watts / self._sums(measured.astype(float), first, last),
            }
        looked_up = {"last_log_run": self._log_run, "last_node_w": self._node_w}
        looked_up |= {"least_nodes": self._least, "most_nodes": self._most}
        for name, column in looked_up.items():
            result[name] = _where(is_known, column, at)
        result["log_since_s"] = np.log(np.maximum(time_s - _where(is_known, self._end_s, at), 1.0))
        result["jobs"] = count.astype(float)
        result["counts"] = self._sums(self._is_new, first, last)
        return result

    def _key(self, group: Ints, rank: Ints) -> Ints:
        return group * (len(self._ends) + 1) + rank

    @staticmethod
    def _sums(values: Floats, first: Ints, last: Ints) -> Floats:
        total = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(total[last] - total[first])


def _where(is_known: NDArray[np.bool_], column: Floats, at: Ints) -> Floats:
    if not len(column):
        return np.full(len(at), np.nan)
    return np.where(is_known, column[at], np.nan)


def _first_of_its_kind(group: Ints, nodes: Floats) -> Floats:
    """Tell of each entry whether its group had not run on that many nodes before; entries are in order of time."""
    pairs = np.stack([group.astype(float), nodes], axis=1)
    result = np.zeros(len(group))
    result[np.unique(pairs, axis=0, return_index=True)[1]] = 1.0
    return result


def _running_extremes(group: Ints, nodes: Floats) -> tuple[Floats, Floats]:
    """Return the least and the most nodes of each group so far; groups ascend."""
    if not len(group):
        return np.zeros(0), np.zeros(0)
    step = np.unique(group, return_inverse=True)[1] * (nodes.max() + 1.0)
    most = np.maximum.accumulate(nodes + step) - step
    least = -(np.maximum.accumulate(-nodes + step + nodes.max()) - step - nodes.max())
    return np.asarray(least), np.asarray(most)
