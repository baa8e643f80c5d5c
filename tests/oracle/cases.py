"""Which traces and policies are compared with the reference scheduler, and how."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from hpcsim.policy import Policy
from hpcsim.registry import make
from hpcsim.workload import Workload
from tests.schedules import run

DIGESTS = Path(__file__).with_name("digests.json")


@dataclass(frozen=True)
class Trace:
    """A log of the shared folder, its machine, and how many of its job lines are taken (None: all)."""

    name: str
    processors: int
    limit: int | None = None


TRACES = (
    Trace("SDSC-SP2-1998-4.2-cln", 128),
    Trace("KTH-SP2-1996-2.1-cln", 100),
    Trace("lublin_256", 256),
    Trace("lublin_256_new2", 256),
    Trace("CTC-SP2-1996-3.1-cln", 338, 20_000),
    Trace("HPC2N-2002-2.2-cln", 240, 20_000),
)

POLICIES: dict[str, tuple[str, str]] = {
    "fcfs": ("fcfs", "early"),
    "easy": ("easy", "early"),
    "conservative-early": ("conservative", "early"),
    "conservative-any": ("conservative", "any"),
}
"""Name of a case -> (policy, the instants at which conservative remakes its promises)."""


def shared_folder() -> Path:
    """Return the shared folder for scripts; tests use the fixture ``shared``."""
    return Path(os.environ.get("HPCSIM_SHARED", Path(__file__).resolve().parents[3] / "shared"))


def load_reference(shared: Path) -> ModuleType:
    """Import the reference scheduler from the shared folder."""
    name = "hpcsim_oracle_reference"
    if name not in sys.modules:
        specification = importlib.util.spec_from_file_location(name, shared / "oracle" / "reference.py")
        assert specification is not None
        assert specification.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def read_jobs(shared: Path, trace: Trace, *, kill: bool = True) -> list[Any]:
    """Read a log with the reference's own reader, which shares nothing with ours."""
    path = shared / "traces" / f"{trace.name}.swf.gz"
    jobs, _ = load_reference(shared).read_swf(str(path), trace.processors, trace.limit, kill)
    return list(jobs)


def reference_starts(shared: Path, jobs: list[Any], processors: int, case: str) -> list[int]:
    """Schedule *jobs* with the reference; return the start of each, in submit order."""
    policy, compress = POLICIES[case]
    load_reference(shared).Simulation(jobs, processors, policy, compress).run()
    return [job.start for job in jobs]


def our_starts(jobs: list[Any], processors: int, case: str, **options: Any) -> list[float]:
    """Schedule *jobs* with the engine; return the start of each, in submit order."""
    workload = Workload.of(
        job_id=[job.id for job in jobs],
        submit_s=[job.submit for job in jobs],
        run_s=[job.run for job in jobs],
        limit_s=[job.request for job in jobs],
        nodes=[job.procs for job in jobs],
    )
    columns = run(workload, processors, policy_of_case(case), **options)
    return [columns.attempt_start_s[attempt] for attempt in columns.attempt_of()]


def policy_of_case(case: str) -> Policy:
    """Return a new policy for a case."""
    name, compress = POLICIES[case]
    parameters = {"compress": compress} if name == "conservative" else {}
    return make("policies", name, **parameters)  # type: ignore[no-any-return]


def digest(starts: list[Any]) -> str:
    """Return the SHA-256 of start times, as little-endian 64-bit integers in submit order."""
    exact = np.asarray(starts).astype("<i8")
    assert np.array_equal(exact, np.asarray(starts)), "start times of an integral log must be integral"
    return hashlib.sha256(exact.tobytes()).hexdigest()


def first_difference(jobs: list[Any], ours: list[Any], theirs: list[Any]) -> str:
    """Name the first job, by start time, whose start differs; the empty string where none does."""
    differing = [(min(a, b), job, a, b) for job, a, b in zip(jobs, ours, theirs, strict=True) if a != b]
    if not differing:
        return ""
    _, job, a, b = min(differing, key=lambda entry: entry[0])
    return f"{len(differing)} of {len(jobs)} starts differ, first job {job.id}: ours {a}, theirs {b}; {job}"
