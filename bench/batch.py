"""What a sweep costs beyond its simulations, and what a second worker brings.

python bench/batch.py [cells] [jobs]       default: 200 cells of 5,000 jobs; 1000 5000 is the full measure

Overhead is CPU time, so that a busy machine does not blur it; the speed-up is wall-clock time of an
otherwise idle one. Both are stated for the whole sweep: start-up, workloads, tables and all.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hpcsim import Cluster, make_policy, registry, simulate
from hpcsim.experiments.batch import run
from hpcsim.experiments.experiment import Experiment
from hpcsim.experiments.progress import Progress

NODES = 64
SAMPLE = 20
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


def simulating_s(jobs: int) -> float:
    """CPU seconds of `simulate` alone, the mean over a sample of cells."""
    cluster = Cluster.of_nodes(NODES)
    spent = []
    for seed in range(SAMPLE):
        workload = registry.make("models", "poisson", jobs=jobs, nodes=NODES, load=0.6, seed=seed)
        for name, parameters in (("easy", {}), ("backfill", {"reservations": 0})):
            began = time.process_time()
            simulate(workload, cluster, make_policy(name, **parameters), seed=seed)
            spent.append(time.process_time() - began)
    return sum(spent) / len(spent)


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


def sweeping_s(cells: int, jobs: int, folder: Path) -> float:
    """CPU seconds of a sweep in this process: planning, workloads, simulations, results, table."""
    import pyarrow as pa

    pa.set_cpu_count(1)
    with ThreadPoolExecutor(1) as executor:
        began = time.process_time()
        run(experiment(cells, jobs), folder, executor=executor)
        return time.process_time() - began


def main(cells: int = 200, jobs: int = 5_000) -> None:
    sampled = max(40, cells // 5)
    with tempfile.TemporaryDirectory() as name:
        two_s, memory = sweep(cells, jobs, 2, Path(name) / "two")
        one_s, _ = sweep(cells, jobs, 1, Path(name) / "one")
        cpu_ms = 1000 * sweeping_s(sampled, jobs, Path(name) / "here") / sampled
    alone_ms = 1000 * simulating_s(jobs)
    growth_mb = max(memory) - memory[len(memory) // 10]
    print(f"{cells:,} cells of {jobs:,} jobs: {one_s:.1f} s with 1 worker, {two_s:.1f} s with 2")
    print(f"CPU a cell: {cpu_ms:.0f} ms, of which simulate() takes {alone_ms:.0f} ms")
    print(f"overhead a cell: {cpu_ms - alone_ms:.1f} ms (wanted: <= {WANTED_OVERHEAD_MS})")
    print(f"2 workers against 1: {one_s / two_s:.2f} (wanted: >= {WANTED_SPEED_UP})")
    print(f"parent's memory after a tenth of the cells, and most: +{growth_mb:.1f} MB (wanted: <= {WANTED_GROWTH_MB})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
