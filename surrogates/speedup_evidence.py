"""What a log says about how applications scale, as a likelihood of every curve of the library.

One job has one node count, and users choose it by the size of the job: run times by themselves confound the two.
Three things do not.

* **Power.** A node that waits draws less: idle + (peak - idle)(w + (1 - w) efficiency). The watts of a node on one
  node and on n tell the efficiency there, whatever the size of the job.
* **Habits.** Users' mean counts within an application differ mostly by habit, not by the size of their jobs.
* **Trials.** A job that ran on another count than its user asked for says how run time changes, directly.

The requested limit is a proxy of the run time at the user's count, and has no part in this.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hpcsim.surrogates.speedup_library import log_speed_ups

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MODEL_ERROR = 0.01
"""Standard deviation, in log, of what the power curve itself gets wrong: many jobs do not make it exact."""

PEAK_ROUNDS = 4
PEAK_RANGE = (-0.05, 0.6)
"""Log of the peak watts considered, relative to the highest mean watts of a node that the application has shown."""

LEAST_JOBS_OF_USER = 10
"""A user's mean count says something about habit only if it is the mean of that many jobs."""

USER_SPREAD = 0.6
"""Standard deviation, in log, of the mean work of users of one application about each other."""

LEAST_TRIAL_ERROR = 0.1


@dataclass(frozen=True, slots=True)
class NodePower:
    """What all nodes have in common: `idle_w`, and the share of dynamic power that a waiting core still draws."""

    idle_w: float
    waiting_share: float

    def floor_w(self, peak_w: Floats) -> Floats:
        """Return what a node of *peak_w* draws at efficiency 0."""
        return np.asarray(self.idle_w + np.maximum(peak_w - self.idle_w, 0.0) * self.waiting_share)


class PowerEvidence:
    """Mean watts of a node by application and count, and what they say.

    Args:
        app: number of each job's application, below *apps*.
        nodes: its count.
        power_w: of the whole job; jobs without one are left out.
        apps: how many applications there are.
    """

    def __init__(self, app: Ints, nodes: Floats, power_w: Floats, apps: int) -> None:
        known = np.isfinite(power_w) & (power_w > 0)
        self._apps = apps
        log_w = np.log(power_w[known] / nodes[known])
        cells, cell = np.unique(np.stack([app[known], nodes[known]]), axis=1, return_inverse=True)
        cell = cell.ravel()
        jobs = np.bincount(cell, minlength=cells.shape[1]).astype(float)
        self._app, self._nodes = cells[0].astype(np.int64), cells[1]
        self._mean = np.bincount(cell, log_w, cells.shape[1]) / np.maximum(jobs, 1)
        spread = log_w - self._mean[cell]
        free = len(log_w) - len(jobs)
        self.noise = float(np.sqrt((spread**2).sum() / free)) if free > 0 else 0.05
        self._weight = 1.0 / (self.noise**2 / np.maximum(jobs, 1) + MODEL_ERROR**2)
        self._of_apps = [self._cells_of(number) for number in np.unique(self._app).tolist()]

    def __len__(self) -> int:
        return len(self._mean)

    @property
    def median_node_w(self) -> float:
        """Watts of a node, the median over applications and counts; NaN without any."""
        return float(np.exp(np.median(self._mean))) if len(self) else np.nan

    def _cells_of(self, number: int) -> tuple[int, Floats, Floats, Floats]:
        """Return an application's number, mean log watts, weights, and the efficiency of every curve at its counts."""
        mine = self._app == number
        nodes = self._nodes[mine]
        return number, self._mean[mine], self._weight[mine], np.exp(log_speed_ups(nodes)) / nodes

    def likelihood(self, power: NodePower) -> tuple[Floats, Floats]:
        """Return log likelihoods [apps, curves], and the peak watts most likely with each curve [apps, curves]."""
        curves = len(log_speed_ups([1.0]))
        result = np.zeros((self._apps, curves))
        peaks = np.full((self._apps, curves), np.nan)
        for number, mean, weight, efficiency in self._of_apps:
            low, high = mean.max() + PEAK_RANGE[0], mean.max() + PEAK_RANGE[1]
            log_peak = np.full(curves, mean.max())
            for _ in range(PEAK_ROUNDS):
                share = (power.floor_w(np.exp(log_peak)) / np.exp(log_peak))[:, None]
                relative = np.log(share + (1 - share) * efficiency)
                log_peak = np.clip((mean - relative) @ weight / weight.sum(), low, high)
            result[number] = -0.5 * (mean - relative - log_peak[:, None]) ** 2 @ weight
            peaks[number] = np.exp(log_peak)
        return result, peaks


def habit_likelihood(app: Ints, user: Ints, nodes: Floats, run_s: Floats, apps: int) -> Floats:
    """Return log likelihoods [apps, curves] by the means of users within each application."""
    log_run = np.log(np.maximum(run_s, 1.0))
    pairs, pair = np.unique(np.stack([app, user]), axis=1, return_inverse=True)
    pair = pair.ravel()
    jobs = np.bincount(pair, minlength=pairs.shape[1]).astype(float)
    mean = np.bincount(pair, log_run, pairs.shape[1]) / np.maximum(jobs, 1)
    free = len(log_run) - len(jobs)
    within = float(((log_run - mean[pair]) ** 2).sum() / free) if free > 0 else 1.0
    known, count = np.unique(nodes, return_inverse=True)
    shares = np.zeros((pairs.shape[1], len(known)))
    np.add.at(shares, (pair, count), 1.0)
    work = mean[:, None] + shares / jobs[:, None] @ log_speed_ups(known).T
    weight = np.where(jobs >= LEAST_JOBS_OF_USER, 1.0 / (USER_SPREAD**2 + within / jobs), 0.0)
    result = np.zeros((apps, work.shape[1]))
    for number in np.unique(pairs[0]).astype(int).tolist():
        mine = pairs[0] == number
        result[number] = _squared_spread(work[mine], weight[mine])
    return result


def trial_likelihood(app: Ints, asked: Floats, nodes: Floats, log_ratio: Floats, error: float, apps: int) -> Floats:
    """Return log likelihoods [apps, curves] by jobs that ran on *nodes* and not on the count *asked*.

    *log_ratio* is the log of their run time over the one expected at the count asked for, *error* its spread.
    """
    curves = len(log_speed_ups([1.0]))
    result = np.zeros((apps, curves))
    tried = asked != nodes
    if tried.any():
        expected = log_speed_ups(asked[tried]) - log_speed_ups(nodes[tried])
        misfit = (log_ratio[tried] - expected) ** 2 / max(error, LEAST_TRIAL_ERROR) ** 2
        np.add.at(result, app[tried], -0.5 * misfit.T)
    return result


def _squared_spread(values: Floats, weight: Floats) -> Floats:
    """Return -1/2 the weighted sum of squares of *values* [rows, curves] about their weighted means."""
    mean = (values * weight[:, None]).sum(axis=0) / max(float(weight.sum()), 1e-9)
    return np.asarray(-0.5 * ((values - mean) ** 2 * weight[:, None]).sum(axis=0))
