"""What a sweep costs beyond its simulations, and what a second worker brings.

python bench/batch.py [cells] [jobs]       default: 200 cells of 5,000 jobs; 1000 5000 is the full measure

Overhead is CPU time, so that a busy machine does not blur it; the speed-up is wall-clock time of an
otherwise idle one. Both are stated for the whole sweep: start-up, workloads, tables and all.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hpcsim import Cluster, make_policy, simulate
from hpcsim.experiments.batch import run
from hpcsim.experiments.cell_run import CELLS, FAILED, PARTIAL, WORKLOADS, run_cell, share
from hpcsim.experiments.cells import cells, sources
from hpcsim.experiments.experiment import Experiment
from hpcsim.experiments.progress import Progress
from hpcsim.experiments.workload_store import load

NODES = 64
SAMPLE = 40
WANTED_OVERHEAD_MS, WANTED_SPEED_UP, WANTED_GROWTH_MB = 30, 1.7, 20


def experiment(cells: int, jobs: int) -> Experiment:
    """Half of the cells under EASY, half under backfilling without a reservation, a workload for each two."""
    return Experiment.of(
        {
            "seeds": list(range(cells // 2)),
            "policies": [{"name": "easy"}, {"name": "backfill", "parameters": {"reservations": 0}}],
            "workloads": [{"model": "poisson", "parameters": {"jobs": jobs, "nodes": NODES, "load": 0.6}}],
        }
    )


def sweep(cells: int, jobs: int, workers: int, folder: Path) -> tuple[float, list[float]]:
    """Wall-clock seconds of a sweep, and the parent's memory in MB as it went."""
    memory = []

    def watch(_: Progress) -> None:
        memory.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6)

    began = time.perf_counter()
    done = run(experiment(cells, jobs), folder, workers=workers, progress=watch)
    took_s = time.perf_counter() - began
    assert set(done.table()["status"]) == {"finished"}
    return took_s, memory


def cells_s(jobs: int, folder: Path) -> tuple[float, float]:
    """CPU seconds of a cell in a sweep, and of `simulate` alone: medians over cells, measured in turn."""
    import pyarrow as pa

    pa.set_cpu_count(1)
    for name in (CELLS, FAILED, PARTIAL, WORKLOADS):
        (folder / name).mkdir(parents=True)
    described = experiment(SAMPLE, jobs)
    stored = {source.key: share(source, str(folder)) for source in sources(described)}
    pairs = []
    for cell in cells(described, stored):
        workload = load(Path(cell.workload))
        whole = cpu_s(lambda: run_cell(cell, str(folder)))  # noqa: B023 - called at once
        alone = cpu_s(
            lambda: simulate(workload, Cluster.of_nodes(NODES), make_policy(cell.policy[0], **cell.policy[1]))  # noqa: B023
        )
        pairs.append((whole, whole - alone))
    return statistics.median(whole for whole, _ in pairs), statistics.median(more for _, more in pairs)


def rest_s(cells_: int, folder: Path) -> float:
    """CPU seconds a cell of planning, handing out and gathering, in this process: a sweep of tiny cells less those."""
    with ThreadPoolExecutor(1) as executor:
        whole = cpu_s(lambda: run(experiment(cells_, 1), folder / "a", executor=executor))
        again = cpu_s(lambda: run(experiment(cells_, 1), folder / "a", executor=executor, resume=True))
    return min(whole, again) / cells_


def cpu_s(work: Callable[[], object]) -> float:
    """CPU seconds of this process, all threads."""
    began = time.process_time()
    work()
    return time.process_time() - began


def main(cells_wanted: int = 200, jobs: int = 5_000) -> None:
    with tempfile.TemporaryDirectory() as name:
        cell_s, more_s = cells_s(jobs, Path(name) / "in-turn")
        plan_s = rest_s(min(cells_wanted, 200), Path(name) / "rest")
        two_s, memory = sweep(cells_wanted, jobs, 2, Path(name) / "two")
        one_s, _ = sweep(cells_wanted, jobs, 1, Path(name) / "one")
    growth_mb = max(memory) - memory[len(memory) // 10]
    print(f"{cells_wanted:,} cells of {jobs:,} jobs: {one_s:.1f} s with 1 worker, {two_s:.1f} s with 2")
    print(f"CPU a cell: {1000 * cell_s:.0f} ms, {1000 * more_s:.1f} beyond simulate(); parent: {1000 * plan_s:.1f}")
    print(f"overhead a cell: {1000 * (more_s + plan_s):.1f} ms (wanted: <= {WANTED_OVERHEAD_MS})")
    print(f"2 workers against 1: {one_s / two_s:.2f} (wanted: >= {WANTED_SPEED_UP})")
    print(f"parent's memory after a tenth of the cells, and most: +{growth_mb:.1f} MB (wanted: <= {WANTED_GROWTH_MB})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
