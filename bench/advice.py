"""How long does one answer take, and a million? Semi-parametric and LightGBM, a queue of 100 on 256 nodes.

    python bench/advice.py [--jobs 4000] [--questions 400] [--batch 100000]

Times are CPU times of this process (one thread), which other load on the machine does not change; wall
times are printed beside them. Cold: the queue is planned for the question. Warm: nothing but arrivals
happened since the last one.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from time import perf_counter, process_time
from typing import Any

import numpy as np

from hpcsim import Cluster, registry
from hpcsim.job import Job
from hpcsim.profile import Profile
from hpcsim.surrogates.features import contexts_table, outcomes_table

NODES, WAITING = 256, 100


class Moment:
    """A full machine with *WAITING* jobs in its queue, as far as an advisor looks."""

    power_w = float("nan")

    def __init__(self, queue: list[Job], now_s: float) -> None:
        self.queue, self.now_s, self.ends_seen = queue, now_s, 0
        self.cluster = Cluster.of_nodes(NODES)
        draw = np.random.default_rng(1)
        ends_s = np.sort(now_s + draw.uniform(0, 40_000, 60)).tolist()
        self._releases = [(end_s, row, 4) for row, end_s in enumerate(ends_s)]

    def profile(self) -> Profile:
        """Return when the running jobs' nodes come free."""
        return Profile(self.now_s, NODES - 4 * 60, self._releases)


def main() -> None:
    """Print a line for each surrogate and kind of question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=4_000)
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--batch", type=int, default=100_000)
    sizes = parser.parse_args()
    log = registry.make("models", "synth-pm100", jobs=sizes.jobs, nodes=NODES, load=0.9, preset="habit-driven", seed=1)
    order = log.arrival_order()
    before = log.select(np.sort(order[: -sizes.jobs // 4]), "before")
    later = [log.job(row) for row in order[-sizes.jobs // 4 :].tolist()]
    print("surrogate          counts  state    CPU p50    CPU p99    wall p50   wall p99   (ms)")
    for name in ("semi-parametric", "lightgbm"):
        advisor = registry.make("advisors", "advisor", surrogate=name, history=before).learn()
        for counts in ("grid", "every"):
            for state in ("cold", "warm"):
                show(name, counts, state, advisor, later, sizes.questions)
        batch(name, advisor.surrogate, before, log, sizes.batch)


def show(name: str, counts: str, state: str, advisor: Any, jobs: list[Job], questions: int) -> None:
    """Ask about jobs one by one, and print the quantiles."""
    moment = Moment(jobs[:WAITING], jobs[WAITING].submit_s)
    cpu_s, wall_s = [], []
    for number in range(questions):
        job = jobs[WAITING + number % (len(jobs) - WAITING)]
        if counts == "every":
            job = replace(job, allowed_nodes=tuple(range(1, NODES + 1)))
        if state == "cold":
            moment.ends_seen += 1
        began = process_time(), perf_counter()
        advisor.advise(job, moment)
        cpu_s.append(process_time() - began[0])
        wall_s.append(perf_counter() - began[1])
    shown = [1e3 * value for times in (cpu_s[5:], wall_s[5:]) for value in np.percentile(times, (50, 99))]
    size = "1..256" if counts == "every" else "grid"
    print(f"{name:<18} {size:<7} {state:<6}" + "".join(f"{value:11.2f}" for value in shown), flush=True)


def batch(name: str, surrogate: Any, before: Any, log: Any, rows: int) -> None:
    """Predict many jobs at 16 counts in one go, and say how long a million would take."""
    known = outcomes_table(before)
    table = contexts_table(log, known)
    many = table.iloc[np.resize(np.arange(len(table)), rows)].reset_index(drop=True)
    counts = np.unique(np.geomspace(1, NODES, 16).astype(int))
    began = process_time()
    for first in range(0, rows, 10_000):
        surrogate.predict(many.iloc[first : first + 10_000], counts)
    per_million_s = (process_time() - began) * 1e6 / rows
    print(f"{name:<18} {len(counts)} counts a job in batch: {per_million_s / 60:.1f} CPU minutes a million", flush=True)


if __name__ == "__main__":
    main()
