"""How long do explanations and the report take? Seconds beside what is wanted, on a real log and on 100,000 jobs.

Needs the shared job logs: beside the checkout, or where HPCSIM_SHARED says; and the extra `report`.

python bench/explain.py
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from hpcsim import Cluster, Result, make_policy, read, registry, simulate
from hpcsim.results.explain import explain_all
from hpcsim.results.page.document import write_page

SHARED = Path(os.environ.get("HPCSIM_SHARED", Path(__file__).resolve().parents[2] / "shared"))
LOG = SHARED / "traces" / "SDSC-SP2-1998-4.2-cln.swf.gz"
REPEATS = 3
JOBS = 100_000


def cpu_s(work: Callable[[], object]) -> float:
    """Return the median of `REPEATS` measurements."""
    taken = []
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return statistics.median(taken)


def line(what: str, seconds: float, wanted: float) -> None:
    print(f"{what:52}{seconds:9.3f} s{wanted:9.1f} s  {'met' if seconds < wanted else 'missed'}")


def explanations(policy: str) -> Result:
    result = simulate(read(LOG), Cluster.of_processors(128), make_policy(policy))
    by_wait = result.jobs.sort_values("wait_s")["row"]
    for name, row in (("median", by_wait.iloc[len(by_wait) // 2]), ("longest", by_wait.iloc[-1])):
        seconds = cpu_s(lambda row=row: result.explain(int(row), is_row=True))
        line(f"{policy}: explain the job of the {name} wait", seconds, 0.2)
    line(f"{policy}: explain all of {len(result.jobs):,} jobs", cpu_s(lambda: explain_all(result)), 10)
    return result


def report(folder: Path) -> None:
    workload = registry.make("models", "poisson", jobs=JOBS, nodes=256, load=0.8, seed=1)
    result = simulate(workload, Cluster.of_nodes(256), make_policy("easy"))
    path = folder / "report.html"
    started = time.perf_counter()
    write_page({"easy": result}, path, title="100,000 jobs")
    line(f"report of {JOBS:,} jobs, wall clock", time.perf_counter() - started, 20)
    size = path.stat().st_size / 1e6
    print(f"{'its size':52}{size:8.2f} MB{8:8.1f} MB  {'met' if size < 8 else 'missed'}")


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'':52}{'taken':>11}{'wanted':>11}")
    for policy in ("fcfs", "easy", "conservative"):
        explanations(policy)
    with tempfile.TemporaryDirectory() as folder:
        report(Path(folder))


if __name__ == "__main__":
    main()
