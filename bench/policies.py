"""How fast each policy is, in jobs/s, and as a ratio to EASY on the same log in the same run.

Needs the shared job logs: beside the checkout, or where HPCSIM_SHARED says. Timed: the simulation and
the tables of its result; reading is left out. CPU time, medians of three pairs of EASY and the policy.
Policies that sort or plan the whole queue at each pass are timed on the first jobs of a log only; the
column says how many.

python bench/policies.py [NAME ...]
"""

from __future__ import annotations

import os
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from hpcsim import Cluster, Workload, make_policy, read, registry, simulate

REPEATS = 3
SHARED = Path(os.environ.get("HPCSIM_SHARED", Path(__file__).resolve().parents[2] / "shared"))
LOGS = {"SDSC-SP2": ("SDSC-SP2-1998-4.2-cln", 128), "CTC": ("CTC-SP2-1996-3.1-cln", 338)}

MANY, SOME = 10**9, 10_000
STATIC = ("fcfs", "lcfs", "sjf", "ljf", "saf", "laf", "fewest-nodes", "most-nodes", "random", "f1", "f2", "f3", "f4")
DYNAMIC = ("wfp3", "unicep", "multifactor", "shortest-predicted")
WANTED = 1.3
"""Backfilling by a static order takes at most so many times as long as EASY by arrival."""


def cases() -> list[tuple[str, Any, int]]:
    """Return (label, factory of the policy, most jobs)."""
    static = [(f"backfill, {name}", with_order(name), MANY) for name in STATIC]
    dynamic = [(f"backfill, {name}", with_order(name), SOME) for name in DYNAMIC]
    others = [("easy-sjbf", MANY), ("easy-plus-plus", SOME), ("lookahead", SOME), ("conservative", MANY)]
    others += [("selective", SOME), ("slack-based", SOME)]
    named = [(name, lambda name=name: make_policy(name), most) for name, most in others]
    family = [
        ("backfill, 0 reservations", lambda: make_policy("backfill", reservations=0), MANY),
        ("backfill, 2 reservations", lambda: make_policy("backfill", reservations=2), SOME),
        ("backfill, rlscheduler", lambda: make_policy("backfill", protocol="rlscheduler"), MANY),
        ("backfill, cqsim", lambda: make_policy("backfill", protocol="cqsim"), SOME),
        ("fcfs alone", lambda: make_policy("fcfs"), MANY),
    ]
    return [*static, *dynamic, *named, *family]


def with_order(name: str) -> Any:
    return lambda: make_policy("backfill", order=registry.make("orders", name))


def first_jobs(workload: Workload, most: int) -> Workload:
    return Workload({name: column[:most] for name, column in workload.columns.items()})


def cpu_s(workload: Workload, cluster: Cluster, factory: Any) -> float:
    """Return the CPU seconds of one simulation."""
    policy, started = factory(), time.process_time()
    simulate(workload, cluster, policy)
    return time.process_time() - started


def main(wanted: list[str]) -> None:
    warnings.simplefilter("ignore")
    missed = []
    for log, (name, processors) in LOGS.items():
        whole, cluster = read(SHARED / "traces" / f"{name}.swf.gz"), Cluster.of_processors(processors)
        print(f"\n{log:28}{'jobs':>8}{'jobs/s':>10}{'time / EASY':>13}")
        for label, factory, most in [("easy", easy, MANY), *cases()]:
            if wanted and not any(word in label for word in wanted):
                continue
            jobs = first_jobs(whole, most)
            pairs = [(cpu_s(jobs, cluster, easy), cpu_s(jobs, cluster, factory)) for _ in range(REPEATS)]
            ratio = statistics.median(other_s / easy_s for easy_s, other_s in pairs)
            rate = len(jobs) / statistics.median(other_s for _, other_s in pairs)
            print(f"{label:28}{len(jobs):8}{rate:10,.0f}{ratio:13.2f}", flush=True)
            if ratio > WANTED and label.removeprefix("backfill, ") in STATIC:
                missed.append(f"{label} on {log}: {ratio:.2f}")
    print(f"\nstatic orders above {WANTED}: {'; '.join(missed) or 'none'}")


def easy() -> Any:
    return make_policy("easy")


if __name__ == "__main__":
    main(sys.argv[1:])
