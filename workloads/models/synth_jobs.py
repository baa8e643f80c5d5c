"""One job after the other: the count its user asks for, how long it runs, how it ends, what limit it got."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.job import JobState
from hpcsim.scaling import speed_ups
from hpcsim.workload import END_STATES
from hpcsim.workloads.models.node_counts import allowed, grid
from hpcsim.workloads.models.synth_presets import (
    FLOOR,
    FLOOR_JOBS,
    HABIT,
    INSTANT_FAILURES,
    LIMIT_STEP_S,
    LONGEST_SHARE,
    MOST_LIMIT_S,
    OVERESTIMATE,
    SIZE,
    SKILLED_EFFICIENCY,
    SKILLED_MOST,
    SKILLED_NOISE,
    STATES,
    TIMEOUT_FROM_S,
    TIMEOUT_SHARE,
    USERS,
    WHIM,
    WORK_BY_APP,
    WORK_BY_USER,
    Preset,
    Shares,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Laws = dict[str, NDArray[Any]]

STATE_NAMES = tuple(name for name, _ in STATES)
TIMEOUT = STATE_NAMES.index("TIMEOUT")
END_STATE = np.array(
    [
        END_STATES.index(JobState.CANCELLED if name == "CANCELLED" else JobState.COMPLETED)
        if name in {"COMPLETED", "CANCELLED", "TIMEOUT"}
        else END_STATES.index(JobState.FAILED)
        for name in STATE_NAMES
    ],
    dtype=np.int8,
)
"""How each recorded state ends by itself; a job that times out would have completed."""


def sizes(app_size: Floats, app: Ints, user: Ints, rng: np.random.Generator) -> Floats:
    """Return the log work of each job, standardised: of its application, its user and chance."""
    own = np.sqrt(1 - WORK_BY_APP**2 - WORK_BY_USER**2)
    by_user = rng.standard_normal(USERS)[user]
    return np.asarray(WORK_BY_APP * app_size[app] + WORK_BY_USER * by_user + own * rng.standard_normal(len(app)))


def asked_by_habit(
    shares: Shares, size: Floats, user: Ints, kappa: float, nodes: int, rng: np.random.Generator
) -> Ints:
    """Return node counts whose distribution is *shares*: wide ones for users of wide habits, by *kappa* for large jobs.

    Only with *kappa* > 0 does a count say anything about its job.
    """
    habit = rng.standard_normal(USERS)[user]
    wish = HABIT * habit + WHIM * rng.standard_normal(len(user)) + kappa * SIZE * size
    place = np.empty(len(wish))
    place[np.argsort(wish, kind="stable")] = (np.arange(len(wish)) + 0.5) / len(wish)
    counts, weights = (np.array(column) for column in zip(*shares, strict=True))
    chosen = np.searchsorted(np.cumsum(weights) / weights.sum(), place)
    return np.asarray(np.minimum(counts[chosen], nodes))


def asked_by_skill(laws: Laws, habitual: Ints, kappa: float, nodes: int, rng: np.random.Generator) -> Ints:
    """Return the widest counts of good efficiency, with noise, for a share *kappa* of the jobs, else *habitual*."""
    counts = np.array(grid(min(nodes, SKILLED_MOST)))
    good = np.ones(len(habitual))
    for count in counts.tolist():
        efficiency = speed_ups(laws, np.full(len(habitual), count)) / count
        good = np.where(efficiency >= SKILLED_EFFICIENCY, count, good)
    noisy = np.rint(good * np.exp(SKILLED_NOISE * rng.standard_normal(len(good))))
    is_skilled = rng.random(len(good)) < kappa
    return np.where(is_skilled, np.clip(noisy, 1, counts[-1]), habitual).astype(np.int64)


def full_run_s(work_s: Floats, speed_up: Floats, noise: float, rng: np.random.Generator) -> Floats:
    """Return how long each job would run if it neither failed nor were killed; longer ones are cut by their users."""
    run_s = work_s / speed_up * np.exp(noise * rng.standard_normal(len(work_s)))
    low, high = LONGEST_SHARE
    cut_s = MOST_LIMIT_S * rng.uniform(low, high, len(run_s))
    return np.asarray(np.where(run_s > MOST_LIMIT_S * high, cut_s, np.maximum(run_s, 1.0)))


def states(run_s: Floats, rng: np.random.Generator) -> NDArray[np.int8]:
    """Return an index into `STATE_NAMES` for each job, each state as often as its share says, rounded.

    Only jobs that run long enough time out; where there are too few of them, fewer do.
    """
    jobs = len(run_s)
    result = np.zeros(jobs, dtype=np.int8)
    order = rng.permutation(jobs)
    long = order[run_s[order] >= TIMEOUT_FROM_S][: round(dict(STATES)["TIMEOUT"] * jobs)]
    result[long] = TIMEOUT
    rest = order[result[order] != TIMEOUT]
    first = 0
    for index, (name, share) in enumerate(STATES):
        if name not in {"COMPLETED", "TIMEOUT"}:
            last = first + round(share * jobs)
            result[rest[first:last]] = index
            first = last
    return result


def own_run_s(run_s: Floats, state: NDArray[np.int8], rng: np.random.Generator) -> Ints:
    """Return how long each job runs by itself, in whole seconds: failed, cancelled and crashed ones end early."""
    share = rng.random(len(run_s))
    early_s = np.where(rng.random(len(run_s)) < INSTANT_FAILURES, rng.uniform(2, 12, len(run_s)), run_s * share**3)
    is_failed = np.isin(state, [STATE_NAMES.index("FAILED"), STATE_NAMES.index("OUT_OF_MEMORY")])
    is_stopped = np.isin(state, [STATE_NAMES.index("CANCELLED"), STATE_NAMES.index("NODE_FAIL")])
    own = np.where(is_failed, np.minimum(early_s, run_s), np.where(is_stopped, run_s * share, run_s))
    return np.asarray(np.maximum(1, np.rint(own)).astype(np.int64))


def limits_s(run_s: Floats, state: NDArray[np.int8], rng: np.random.Generator) -> Ints:
    """Return limits in steps of 15 minutes: over-estimates up to the maximum; too short for jobs that time out."""
    median, sigma = OVERESTIMATE
    factor = 1 + median * np.exp(sigma * rng.standard_normal(len(run_s)))
    generous = np.minimum(np.ceil(run_s * factor / LIMIT_STEP_S) * LIMIT_STEP_S, MOST_LIMIT_S)
    tight = np.maximum(1, np.floor(run_s * rng.uniform(*TIMEOUT_SHARE, len(run_s)) / LIMIT_STEP_S)) * LIMIT_STEP_S
    return np.asarray(np.where(state == TIMEOUT, tight, generous).astype(np.int64))


def allowed_counts(asked: Ints, is_rigid: NDArray[np.bool_], nodes: int, rng: np.random.Generator) -> NDArray[Any]:
    """Return the tuple of counts that each job may run at, above its memory floor; the empty one for rigid jobs."""
    low, high = FLOOR
    has_floor = rng.random(len(asked)) < FLOOR_JOBS
    floor = np.where(has_floor, np.ceil(asked * rng.uniform(low, high, len(asked))), 1).astype(np.int64)
    counts = grid(nodes)
    rows = zip(asked.tolist(), floor.tolist(), is_rigid.tolist(), strict=True)
    column = np.empty(len(asked), dtype=object)
    column[:] = [() if rigid else allowed(counts, least, mine) for mine, least, rigid in rows]
    return column


def rigid_jobs(preset: Preset, app_share: Floats, app: Ints, user: Ints, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which jobs can run at no other count: a share of each application's, and all of some users'."""
    rigid_user = rng.permutation(USERS) < preset.rigid_users * USERS
    return np.asarray((rng.random(len(app)) < app_share[app]) | rigid_user[user])
