"""Who submits what: users with habits, applications that scale each in its way, sessions of like jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.scaling import AMDAHL, DOWNEY, POWER_LAW
from hpcsim.workloads.models.synth_presets import (
    APPS,
    COMMUNICATION,
    EXPONENT,
    FAMILIES,
    JITTER,
    LATE_APPS,
    LATE_FROM,
    MOST_APPS_A_USER,
    PARALLELISM,
    SERIAL_SHARE,
    SESSION_START,
    USER_ZIPF,
    USERS,
    WORK_BY_SCALABILITY,
    Machine,
    Preset,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Apps:
    """The applications, one entry each in every array.

    Attributes:
        law, a, b: scaling law and its parameters, as the columns of `hpcsim.scaling.TRUTH`.
        size: standard normal; how large its jobs are.
        peak_w: of a node that works all the time.
        tasks_per_node, cores_per_task, gpus_per_node: what its jobs ask for on each node.
        memory_share: of a node's memory asked for; 1 means whole nodes.
        rigid: share of its jobs that are rigid.
    """

    law: NDArray[np.int8]
    a: Floats
    b: Floats
    size: Floats
    peak_w: Floats
    tasks_per_node: Ints
    cores_per_task: Ints
    gpus_per_node: Ints
    memory_share: Floats
    rigid: Floats


def make_apps(machine: Machine, preset: Preset, families: str, seed: np.random.SeedSequence) -> Apps:
    """Return the applications of one log; *families* is ``mix`` or one of `FAMILIES`."""
    laws_seed, others_seed = seed.spawn(2)
    rng = np.random.default_rng(laws_seed)
    skill = rng.standard_normal(APPS)
    law, a, b = _laws(skill + preset.scalability, families, rng)
    rng = np.random.default_rng(others_seed)
    size = WORK_BY_SCALABILITY * skill + np.sqrt(1 - WORK_BY_SCALABILITY**2) * rng.standard_normal(APPS)
    tasks = rng.choice([1, 4, 8, 16, 32], size=APPS, p=[0.25, 0.35, 0.15, 0.15, 0.1])
    return Apps(
        law=law,
        a=a,
        b=b,
        size=size,
        peak_w=_log_normal(rng, machine.peak_w, machine.peak_sigma, machine.least_peak_w, machine.most_peak_w),
        tasks_per_node=tasks,
        cores_per_task=np.maximum(1, machine.node_cores // tasks // rng.choice([1, 1, 1, 4], size=APPS)),
        gpus_per_node=rng.choice([machine.node_gpus, 2, 1, 0], size=APPS, p=[0.9, 0.04, 0.03, 0.03]),
        memory_share=rng.choice([1.0, 0.5, 0.25, 0.03], size=APPS, p=[0.6, 0.15, 0.15, 0.1]),
        rigid=np.minimum(1.0, preset.rigid_jobs * 2 * rng.random(APPS)),
    )


def _laws(skill: Floats, families: str, rng: np.random.Generator) -> tuple[NDArray[np.int8], Floats, Floats]:
    """Return law, first and second parameter of each application; more *skill* is less loss."""
    which = rng.integers(0, len(FAMILIES), APPS) if families == "mix" else np.full(APPS, FAMILIES.index(families))
    serial = _log_normal_at(-skill, *SERIAL_SHARE)
    communication = _log_normal_at(0.5 * rng.standard_normal(APPS) - 0.8 * skill, *COMMUNICATION)
    parallelism = _log_normal_at(skill, *PARALLELISM)
    mean, deviation, least, most = EXPONENT
    exponent = np.clip(mean + deviation * skill, least, most)
    law = np.array([AMDAHL, DOWNEY, POWER_LAW], dtype=np.int8)[which]
    a = np.choose(which, [serial, parallelism, exponent])
    b = np.choose(which, [communication, rng.uniform(0, 2, APPS), np.zeros(APPS)])
    return law, a, b


def job_laws(apps: Apps, app: Ints, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Return the columns ``scaling_law scaling_a scaling_b`` of jobs of the applications *app* [J]."""
    law = apps.law[app]
    a = apps.a[app] * np.exp(JITTER * rng.standard_normal(len(app)))
    a = np.where(law == AMDAHL, np.minimum(a, 1.0), np.where(law == DOWNEY, np.maximum(a, 1.0), np.minimum(a, 1.0)))
    return {"scaling_law": law, "scaling_a": a, "scaling_b": apps.b[app]}


def sessions(jobs: int, rng: np.random.Generator) -> tuple[NDArray[np.bool_], Ints, Ints]:
    """Return for each job whether it begins a session, and its user and application, numbered from 0."""
    begins = rng.random(jobs) < SESSION_START
    begins[:1] = True
    session = np.cumsum(begins) - 1
    count = int(session[-1]) + 1
    weights = np.arange(1, USERS + 1) ** -USER_ZIPF
    user = rng.choice(USERS, size=count, p=weights / weights.sum())
    repertoire = rng.integers(0, APPS, (USERS, MOST_APPS_A_USER))
    app = repertoire[user, np.minimum(rng.geometric(0.5, count) - 1, MOST_APPS_A_USER - 1)]
    late = int(LATE_APPS * APPS)
    is_early = np.flatnonzero(begins) < LATE_FROM * jobs
    app = np.where(is_early & (app < late), late + app % (APPS - late), app)
    return begins, user[session], app[session]


def _log_normal(rng: np.random.Generator, median: float, sigma: float, least: float, most: float) -> Floats:
    return _log_normal_at(rng.standard_normal(APPS), median, sigma, least, most)


def _log_normal_at(z: Floats, median: float, sigma: float, least: float, most: float) -> Floats:
    return np.asarray(np.clip(median * np.exp(sigma * z), least, most))
