"""How fast logs are read, against pandas.read_csv on the same file: medians of five, in one run.

python bench/readers.py ../shared/traces/*.swf.gz
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from hpcsim.workloads.readers.swf import read_swf

REPEATS = 5


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main(paths: list[Path]) -> None:
    warnings.simplefilter("ignore")
    print(f"{'log':32} {'rows':>8} {'pandas s':>9} {'hpcsim s':>9} {'rows/s':>10} {'ratio':>6}")
    for path in paths:
        pairs = [
            (
                seconds(lambda: pd.read_csv(path, sep=r"\s+", comment=";", header=None)),  # noqa: B023 - called at once
                seconds(lambda: read_swf(path)),  # noqa: B023 - likewise
            )
            for _ in range(REPEATS)
        ]
        theirs, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
        rows = read_swf(path).ledger.rows
        name = path.name.removesuffix(".gz").removesuffix(".swf")
        print(f"{name:32} {rows:8,} {theirs:9.3f} {ours:9.3f} {rows / ours:10,.0f} {theirs / ours:6.2f}")


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]] or sorted(Path("../shared/traces").glob("*.swf.gz")))
