"""How near search engines come to the exact front of node counts, over jobs of synth-pm100 whose truth is known.

python bench/search.py                                    every engine from the same start, some jobs
python bench/search.py --engines mobo-fixed --start own --jobs 200 --budget 32
python bench/search.py --engines mobo --jobs 1 --budget 300

Rows are kept in --out, one a job, engine and start: a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hpcsim import registry
from hpcsim.results.statistics.student import mean_interval
from hpcsim.scaling import true_power_w, true_run_s
from hpcsim.surrogates.pareto import hypervolume_ratio
from hpcsim.surrogates.search.domain import Domain
from hpcsim.surrogates.search.front import find_front
from hpcsim.surrogates.search.mobo import START

Floats = NDArray[np.float64]

ENGINES = ("mobo-fixed", "mobo", "sobo-runtime", "sobo-power", "random", "random-shared", "loggrid")
LOG = 4_200
"""Jobs of the log that is drawn from: the same whatever --jobs, so that runs can be joined."""

AT = (8, 12, 16, 20, 24, 32, 64, 300)
PAPER = {"sobo-runtime": "+24 % (PM100), +37 % (Adastra)"}
COLUMNS = ("job", "engine", "start", "evaluations", "hv_ratio", "repeats", "is_exhausted", "cpu_s")


def fronts(jobs: int, most_nodes: int) -> Iterator[tuple[int, Floats]]:
    """Yield the run time and power of jobs that are not rigid at 1 to *most_nodes* nodes."""
    workload = registry.make("models", "synth-pm100", jobs=LOG, seed=7)
    rows = np.flatnonzero(workload.columns["scaling_law"] > 0)
    rows = np.random.default_rng(0).permutation(rows)[:jobs]
    counts = np.arange(1, most_nodes + 1)[None, :]
    truth = np.stack([true_run_s(workload, rows, counts), true_power_w(workload, rows, counts)], axis=2)
    yield from enumerate(truth)


def searched(job: int, truth: Floats, engine: str, start: str, budget: int) -> Iterator[dict[str, object]]:
    """Yield a row for each number of evaluations in `AT` up to *budget*."""
    domain = Domain.of_nodes(np.arange(1, len(truth) + 1))
    places = None
    if start == "same":
        places = np.random.default_rng(1000 + job).permutation(len(truth))[:START]
    began_s = time.process_time()
    found = find_front(
        registry.find("search", engine),
        domain,
        lambda settings: truth[settings[:, 0].astype(int) - 1],
        budget=budget,
        seed=job,
        start=places,
    )
    cpu_s = time.process_time() - began_s
    for count in (*(at for at in AT if at < budget), budget):
        row = {"job": job, "engine": engine, "start": start, "evaluations": count}
        row |= {"hv_ratio": round(hypervolume_ratio(found.values[:count], truth), 6)}
        row |= {"repeats": int(found.is_repeat[:count].sum()), "is_exhausted": found.evaluations < count}
        yield row | {"cpu_s": round(cpu_s, 2) if count == budget else ""}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--start", choices=("same", "own"), default="same")
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=128)
    parser.add_argument("--budget", type=int, default=32)
    parser.add_argument("--out", type=Path, default=Path("search.csv"))
    chosen = parser.parse_args()
    done = read(chosen.out)
    known = {(row["job"], row["engine"], row["start"]) for row in done if int(row["evaluations"]) >= chosen.budget}
    with chosen.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not done:
            writer.writeheader()
        for job, truth in fronts(chosen.jobs, chosen.nodes):
            for engine in chosen.engines.split(","):
                if (str(job), engine, chosen.start) not in known:
                    writer.writerows(searched(job, truth, engine, chosen.start, chosen.budget))
                    file.flush()
    print_table(read(chosen.out), chosen.nodes)


def read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def print_table(rows: list[dict[str, str]], nodes: int) -> None:
    """Print means with 95 % intervals over jobs, and each engine against mobo-fixed on the same jobs."""
    best: dict[tuple[str, int, str], dict[str, dict[str, str]]] = {}
    for row in rows:
        best.setdefault((row["start"], int(row["evaluations"]), row["engine"]), {})[row["job"]] = row
    print(f"share of the exact front's hypervolume, 1 to {nodes} nodes, means over jobs [95 % interval]")
    print(f"{'start':6}{'evals':>6} {'engine':15}{'jobs':>5}  {'mean':24}{'>= 0.98':>8}{'least':>7}{'repeats':>9}"
          f"{'cpu s':>8}  mobo-fixed over it, same jobs")  # fmt: skip
    for (start, count, engine), found in sorted(best.items()):
        shares = {job: float(row["hv_ratio"]) for job, row in found.items()}
        values = list(shares.values())
        repeats = np.mean([int(row["repeats"]) for row in found.values()])
        cpu = [float(row["cpu_s"]) for row in found.values() if row["cpu_s"]]
        ours = best.get((start, count, "mobo-fixed"), {})
        gains = [float(ours[job]["hv_ratio"]) / share - 1 for job, share in shares.items() if job in ours and share]
        gain = "" if engine == "mobo-fixed" or not gains else f"{_percent(gains)}  {PAPER.get(engine, '')}"
        print(f"{start:6}{count:6} {engine:15}{len(values):5}  {_mean(values):24}"
              f"{np.mean(np.array(values) >= 0.98):8.0%}{min(values):7.3f}{repeats:9.1f}"
              f"{np.mean(cpu) if cpu else float('nan'):8.1f}  {gain}")  # fmt: skip
    print("Paper: MOBO's hypervolume over SOBO's, as each model graded itself, in raw units: +24 % and +37 %.")


def _mean(values: list[float]) -> str:
    mean, low, high, _ = mean_interval(values)
    return f"{mean:.4f} [{low:.4f}, {high:.4f}]"


def _percent(values: list[float]) -> str:
    mean, low, high, _ = mean_interval(values)
    return f"{mean:+.1%} [{low:+.1%}, {high:+.1%}]"


if __name__ == "__main__":
    main()
