"""How fast logs are read, against pandas.read_csv on the same bytes: medians of five, in one run.

python bench/readers.py ../shared/traces/*.swf.gz   SWF logs
python bench/readers.py --sacct [JOBS]              a made-up dump of sacct, 300,000 jobs if not given
python bench/readers.py --power [JOBS]              a made-up table like PM100's, 231,238 jobs if not given
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from power_table import write_table
from sacct_dump import write_dump

from hpcsim.workloads.readers.pm100 import read_pm100
from hpcsim.workloads.readers.sacct import read_sacct
from hpcsim.workloads.readers.swf import read_swf

REPEATS = 5
SACCT_JOBS, POWER_JOBS = 300_000, 231_238


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def race(name: str, theirs: Callable[[], object], ours: Callable[[], object], rows: int) -> None:
    """Print the medians of both, taken by turns so that a busy machine slows both."""
    pairs = [(seconds(theirs), seconds(ours)) for _ in range(REPEATS)]
    pandas_s, ours_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{name:32} {rows:8,} {pandas_s:9.3f} {ours_s:9.3f} {rows / ours_s:10,.0f} {pandas_s / ours_s:6.2f}")


def head() -> None:
    print(f"{'log':32} {'rows':>8} {'pandas s':>9} {'hpcsim s':>9} {'rows/s':>10} {'ratio':>6}")


def swf(paths: list[Path]) -> None:
    head()
    for path in paths:
        name = path.name.removesuffix(".gz").removesuffix(".swf")
        rows = read_swf(path).ledger.rows
        race(
            name,
            lambda: pd.read_csv(path, sep=r"\s+", comment=";", header=None),  # noqa: B023 - called at once
            lambda: read_swf(path),  # noqa: B023 - likewise
            rows,
        )


def sacct(jobs: int) -> None:
    head()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump.txt"
        write_dump(path, jobs)
        race("sacct -P, 24 columns", lambda: pd.read_csv(path, sep="|"), lambda: read_sacct(path), jobs)


def power(jobs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs.parquet"
        samples = write_table(path, jobs)
        written_gb = _peak_gb()
        took = seconds(lambda: read_pm100(path))
        print(f"{jobs:,} jobs, {samples:,} power samples, {path.stat().st_size / 1e6:,.0f} MB: {took:.1f} s")
        print(f"peak memory {_peak_gb():.2f} GB ({written_gb:.2f} GB of it reached while writing the table)")


def _peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")
    match arguments:
        case ["--sacct", *jobs]:
            sacct(int(jobs[0]) if jobs else SACCT_JOBS)
        case ["--power", *jobs]:
            power(int(jobs[0]) if jobs else POWER_JOBS)
        case paths:
            swf([Path(path) for path in paths] or sorted(Path("../shared/traces").glob("*.swf.gz")))


if __name__ == "__main__":
    main(sys.argv[1:])
