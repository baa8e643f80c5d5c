"""Writes a dump as ``sacct -a -X -P`` prints it: made-up jobs, in the columns that docs/formats/sacct.md recommends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

EPOCH_S = 1_700_000_000
HEADER = (
    "JobID|JobIDRaw|User|Group|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|ExitCode|"
    "NNodes|NCPUS|ReqCPUS|ReqMem|ReqTRES|AllocTRES|ConsumedEnergyRaw|NodeList|JobName\n"
)


def write_dump(path: Path, jobs: int, seed: int = 0) -> None:
    """Write *jobs* rows; one in a hundred is an array task, every job has an energy of its own."""
    rng = np.random.default_rng(seed)
    submit = EPOCH_S + np.cumsum(rng.exponential(20, jobs)).astype(np.int64)
    start = submit + rng.exponential(600, jobs).astype(np.int64)
    run = 1 + rng.exponential(3000, jobs).astype(np.int64)
    nodes = 2 ** rng.integers(0, 6, jobs)
    limit = np.array([30, 60, 240, 1440])[rng.integers(0, 4, jobs)]
    energy = (nodes * run * 350.0 * rng.random(jobs)).astype(np.int64)
    users, states = rng.integers(0, 300, jobs), np.array(["COMPLETED", "FAILED", "CANCELLED by 1000", "TIMEOUT"])
    state = states[rng.choice(4, jobs, p=[0.8, 0.1, 0.05, 0.05])]
    stamps = [pd.to_datetime(times, unit="s").strftime("%Y-%m-%dT%H:%M:%S") for times in (submit, start, start + run)]
    with path.open("w", encoding="utf-8") as file:
        file.write(HEADER)
        for row, (submitted, started, ended) in enumerate(zip(*stamps, strict=True)):
            size, cores = nodes[row], nodes[row] * 64
            tres = f"billing={cores},cpu={cores},mem={size * 240}G,node={size}"
            name = f"{1_000_000 + row}_{row % 7}" if row % 100 == 0 else str(1_000_000 + row)
            file.write(
                f"{name}|{1_000_000 + row}|user{users[row]}|grp{users[row] % 9}|acc{users[row] % 40}|"
                f"{'gpu' if size == 1 else 'batch'}|normal|{submitted}|{submitted}|{started}|{ended}|{run[row]}|"
                f"{limit[row]}|{state[row]}|0:0|{size}|{cores}|{cores}|240G|{tres}|{tres},energy={energy[row]}|"
                f"{energy[row]}|cn[{row % 900:04d}-{row % 900 + size:04d}]|job {row}\n"
            )
