"""Logs like PM100's and Adastra's whose truth is known: run time and power of every job at every node count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.ingest import IngestLedger
from hpcsim.scaling import speed_ups
from hpcsim.speedup import node_power_w
from hpcsim.workload import Workload
from hpcsim.workloads.models import synth_jobs
from hpcsim.workloads.models.arguments import check_choice, check_number, check_whole
from hpcsim.workloads.models.cycles import Floats, office_week, spread_from
from hpcsim.workloads.models.synth_people import Apps, Ints, job_laws, make_apps, sessions
from hpcsim.workloads.models.synth_presets import (
    ADASTRA,
    FAMILIES,
    PM100,
    PRESETS,
    SESSION_START,
    USERS_A_GROUP,
    WAITING_SHARE,
    Machine,
    Preset,
)

PURPOSES = ("apps", "people", "jitter", "size", "choice", "noise", "ends", "limits", "floors", "arrivals", "power")
"""Each has random numbers of its own, so that a change to one of them leaves the others' draws alone."""


def synth_pm100(
    *,
    jobs: int = PM100.jobs,
    nodes: int = PM100.nodes,
    load: float | None = None,
    preset: str = "pm100-like",
    kappa: float = 1.0,
    family: str = "mix",
    run_noise: float = 0.08,
    power_noise: float = 0.04,
    seed: int = 0,
) -> Workload:
    """Return a log like PM100's (Marconi100, 231,238 jobs) whose hidden truth is known.

    Users with habits submit sessions of jobs of 60 applications, each of which scales by Amdahl's law
    with communication, by Downey's or by a power law. The node counts have the preset's distribution
    exactly; *kappa* says how much they depend on the job. The truth stands in the hidden columns of
    `hpcsim.scaling`, so that neither policies nor surrogates see it. docs/workload-models.md lists
    every parameter.

    Args:
        jobs: how many; 2,000 make the small variant for tests.
        nodes: of the machine.
        load: offered; None keeps the log's own rate of submits.
        preset: ``pm100-like``, ``habit-driven``, ``skilled-users`` or ``half-rigid``.
        kappa: 0 to 1; 0 makes counts independent of the jobs, 1 confounds them with size and scaling.
        family: of the laws, ``mix``, ``amdahl``, ``downey`` or ``power-law``.
        run_noise: log-normal spread of run times about the laws, 0 or more.
        power_noise: the same of power.
        seed: of the random numbers, 0 or more.

    Raises:
        WorkloadError: an argument is out of its range.
    """
    return _synthesise(PM100, jobs, nodes, load, preset, kappa, family, run_noise, power_noise, seed)


def synth_adastra(
    *,
    jobs: int = ADASTRA.jobs,
    nodes: int = ADASTRA.nodes,
    load: float | None = None,
    preset: str = "pm100-like",
    kappa: float = 1.0,
    family: str = "mix",
    run_noise: float = 0.08,
    power_noise: float = 0.04,
    seed: int = 0,
) -> Workload:
    """Return a log like that of Adastra's MI250X partition (15,285 jobs) whose hidden truth is known.

    Arguments, truth and errors are those of `synth_pm100`; machine, span and watts are Adastra's.
    """
    return _synthesise(ADASTRA, jobs, nodes, load, preset, kappa, family, run_noise, power_noise, seed)


def _synthesise(
    machine: Machine,
    jobs: int,
    nodes: int,
    load: float | None,
    preset: str,
    kappa: float,
    family: str,
    run_noise: float,
    power_noise: float,
    seed: int,
) -> Workload:
    options = {"jobs": jobs, "nodes": nodes, "load": load, "preset": preset, "kappa": kappa, "family": family}
    options |= {"run_noise": run_noise, "power_noise": power_noise, "seed": seed}
    _check(**options)
    seeds = dict(zip(PURPOSES, np.random.SeedSequence(seed).spawn(len(PURPOSES)), strict=True))
    rng = {purpose: np.random.default_rng(child) for purpose, child in seeds.items()}
    habits = PRESETS[preset]
    apps = make_apps(machine, habits, family, seeds["apps"])
    begins, user, app = sessions(jobs, rng["people"])
    laws = job_laws(apps, app, rng["jitter"])
    size = synth_jobs.sizes(apps.size, app, user, rng["size"])
    asked = synth_jobs.asked_by_habit(habits.node_counts, size, user, kappa, nodes, rng["choice"])
    if habits.are_skilled:
        asked = synth_jobs.asked_by_skill(laws, asked, kappa, nodes, rng["choice"])
    columns = {"nodes": asked} | _runs(habits, laws, size, asked, run_noise, rng)
    columns |= laws | _power(machine, apps, app, laws, asked, power_noise, rng["power"])
    is_rigid = synth_jobs.rigid_jobs(habits, apps.rigid, app, user, rng["floors"])
    columns["allowed_nodes"] = synth_jobs.allowed_counts(asked, is_rigid, nodes, rng["floors"])
    columns |= _who(user, app) | _proxies(machine, apps, app, asked)
    columns["submit_s"] = _arrivals(machine, columns, begins, nodes, load, rng["arrivals"])
    return Workload(
        {"job_id": np.arange(1, jobs + 1)} | columns,
        machine_nodes=nodes,
        provenance={"model": f"synth-{machine.name}", "unix_start_s": machine.unix_start_s} | options,
        ledger=IngestLedger(source=f"synth-{machine.name}", format="model", rows=jobs),
    )


def _check(**options: Any) -> None:
    check_whole("jobs", options["jobs"])
    check_whole("nodes", options["nodes"])
    check_whole("seed", options["seed"], least=0)
    if options["load"] is not None:
        check_number("load", options["load"], above=0)
    check_choice("preset", options["preset"], PRESETS)
    check_choice("family", options["family"], ("mix", *FAMILIES))
    check_number("kappa", options["kappa"], least=0, most=1)
    check_number("run_noise", options["run_noise"], least=0)
    check_number("power_noise", options["power_noise"], least=0)


def _runs(
    preset: Preset,
    laws: dict[str, NDArray[Any]],
    size: Floats,
    asked: Ints,
    noise: float,
    rng: dict[str, np.random.Generator],
) -> dict[str, NDArray[Any]]:
    """Return run times, ends and limits."""
    work_s = preset.median_work_s * np.exp(preset.work_sigma * size)
    full_s = synth_jobs.full_run_s(work_s, speed_ups(laws, asked), noise, rng["noise"])
    state = synth_jobs.states(full_s, rng["ends"])
    return {
        "run_s": synth_jobs.own_run_s(full_s, state, rng["ends"]),
        "limit_s": synth_jobs.limits_s(full_s, state, rng["limits"]),
        "end_state": synth_jobs.END_STATE[state],
        "recorded_state": np.array(synth_jobs.STATE_NAMES, dtype=object)[state],
    }


def _power(
    machine: Machine,
    apps: Apps,
    app: Ints,
    laws: dict[str, NDArray[Any]],
    asked: Ints,
    noise: float,
    rng: np.random.Generator,
) -> dict[str, NDArray[Any]]:
    jobs = len(asked)
    peak_w = apps.peak_w[app]
    node_w = node_power_w(speed_ups(laws, asked) / asked, machine.idle_w, peak_w, WAITING_SHARE)
    return {
        "mean_power_w": asked * node_w * np.exp(noise * rng.standard_normal(jobs)),
        "idle_w": np.full(jobs, machine.idle_w),
        "peak_w": peak_w,
        "waiting_share": np.full(jobs, WAITING_SHARE),
    }


def _who(user: Ints, app: Ints) -> dict[str, NDArray[Any]]:
    """Return users, groups and applications, numbered from 1."""
    columns = {"user_id": user + 1, "group_id": user // USERS_A_GROUP + 1, "app_id": app + 1}
    return {name: column.astype(np.int16) for name, column in columns.items()}


def _proxies(machine: Machine, apps: Apps, app: Ints, asked: Ints) -> dict[str, NDArray[Any]]:
    """Return the totals that are multiples of the node count, see `hpcsim.proxies`."""
    share = apps.memory_share[app]
    whole = np.rint(machine.node_memory_bytes * share).astype(np.int64)
    held = np.where(share < 0.1, machine.node_memory_bytes, whole)  # who asks for next to nothing gets the node's
    tasks = apps.tasks_per_node[app]
    gpus = apps.gpus_per_node[app]
    per_node = {
        "cores_requested": tasks * apps.cores_per_task[app],
        "cores_allocated": np.full(len(app), machine.node_cores),
        "tasks": tasks,
        "gpus_requested": gpus,
        "gpus_allocated": gpus,
        "memory_requested_bytes": whole,
        "memory_allocated_bytes": held,
    }
    return {name: column * asked for name, column in per_node.items()}


def _arrivals(
    machine: Machine,
    columns: dict[str, NDArray[Any]],
    begins: NDArray[np.bool_],
    nodes: int,
    load: float | None,
    rng: np.random.Generator,
) -> Ints:
    """Return whole seconds from 0: sessions apart, the jobs of one close together, all by the hours of the week."""
    gaps = rng.exponential(1.0, len(begins)) * np.where(begins, 1.0, 0.1 * SESSION_START)
    if load is None:
        span_s = machine.span_s * len(begins) / machine.jobs
    else:
        span_s = float((columns["run_s"] * columns["nodes"]).sum()) / (nodes * load)
    times = spread_from(office_week(), np.cumsum(gaps), machine.start_of_week_s, span_s)
    return np.asarray(np.rint(times - machine.start_of_week_s).astype(np.int64))
