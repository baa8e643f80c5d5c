"""How fast the ledger of unlike nodes is: against counting, and on a large machine. Medians, in one run.

Needs the shared job logs: beside the checkout, or where HPCSIM_SHARED says. CPU time of the simulation alone.

python bench/nodes.py [named|large|shared|power]
"""

from __future__ import annotations

import dataclasses
import os
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from hpcsim import Cluster, NodeGroup, NodePower, Partition, Simulation, Workload, make_policy, read

REPEATS = 5
SHARED = Path(os.environ.get("HPCSIM_SHARED", Path(__file__).resolve().parents[2] / "shared"))
LARGE = Cluster(
    groups=(
        NodeGroup(name="thin", nodes=6000, cores=64, memory_bytes=2**38),
        NodeGroup(name="fat", nodes=1500, cores=64, memory_bytes=2**40),
        NodeGroup(name="gpu", nodes=2000, cores=64, gpus=4, memory_bytes=2**39),
        NodeGroup(name="gpu8", nodes=500, cores=128, gpus=8, memory_bytes=2**40, features=frozenset({"nvlink"})),
    ),
    partitions=(
        Partition(name="cpu", groups=("thin", "fat")),
        Partition(name="gpu", groups=("gpu", "gpu8")),
        Partition(name="debug", groups=("thin", "gpu"), max_limit_s=3600, max_nodes=64),
    ),
)
POWER = NodePower(idle_w=240, busy_w=1800, off_w=10, boot_w=500, boot_s=180, shutdown_s=60, idle_timeout_s=600)


def cpu_s(workload: Workload, cluster: Cluster, policy: str) -> float:
    simulation = Simulation(workload, cluster, make_policy(policy))
    started = time.process_time()
    simulation.run()
    return time.process_time() - started


def named() -> None:
    """SDSC-SP2 as 128 named nodes, a group each, against 128 that are counted; schedules are compared."""
    workload = read(SHARED / "traces" / "SDSC-SP2-1998-4.2-cln.swf.gz")
    names = Cluster(groups=tuple(NodeGroup(name=f"node{node:03}", nodes=1) for node in range(128)))
    print(f"{'SDSC-SP2, 128 nodes':22}{'counting s':>12}{'named s':>10}{'ratio':>7}{'wanted':>8}")
    for policy in ("fcfs", "easy"):
        pairs = [
            (cpu_s(workload, Cluster.of_nodes(128), policy), cpu_s(workload, names, policy)) for _ in range(REPEATS)
        ]
        counting_s, named_s = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{policy:22}{counting_s:12.2f}{named_s:10.2f}{ratio:7.2f}{0.3:8.1f}", flush=True)


def large_workload(jobs: int, load: float, cluster: Cluster = LARGE) -> Workload:
    """Five kinds of jobs up to 400 nodes: thin, fat by memory, GPUs, eight GPUs, and short ones of two partitions."""
    rng = np.random.default_rng(1)
    kind = rng.choice(5, size=jobs, p=[0.55, 0.1, 0.2, 0.05, 0.1])
    nodes = np.minimum(
        np.exp(rng.uniform(0, np.log(400), jobs)).astype(int) + 1, np.array([400, 400, 400, 100, 16])[kind]
    )
    limit_s = np.where(kind == 4, 1800, rng.integers(600, 86400, jobs))
    run_s = (limit_s * rng.uniform(0.1, 1, jobs)).astype(int)
    span_s = (nodes * run_s).sum() / (load * cluster.nodes)
    partitions = np.empty(jobs, dtype=object)
    partitions[:] = [(("cpu",), ("cpu",), ("gpu",), ("gpu",), ("debug", "cpu"))[one] for one in kind]
    return Workload.of(
        submit_s=np.sort(rng.integers(0, int(span_s), jobs)),
        run_s=run_s,
        limit_s=limit_s,
        nodes=nodes,
        partitions=partitions,
        gpus_per_node=np.array([0, 0, 2, 8, 0])[kind],
        memory_bytes_per_node=np.where(kind == 1, 2**39, 0),
    )


def rate(what: str, workload: Workload, cluster: Cluster, wanted: str = "") -> None:
    for policy in ("fcfs", "easy"):
        rates = [len(workload) / cpu_s(workload, cluster, policy) for _ in range(3)]
        print(f"{what + ', ' + policy:62}{statistics.median(rates):9,.0f} jobs/s  {wanted}", flush=True)


def large() -> None:
    """10,000 nodes of four kinds under three overlapping partitions."""
    for load in (0.7, 0.8, 0.9):
        rate(f"10,000 unlike nodes, load {load}", large_workload(20_000, load), LARGE, "(wanted: >= 5,000)")


def shared() -> None:
    """The same machine, a tenth of it, half of the jobs sharing nodes."""
    workload = large_workload(5_000, 0.7)
    columns = dict(workload.columns)
    columns["exclusive"] = np.arange(len(workload)) % 2 == 0
    columns["cores_per_node"] = np.full(len(workload), 8)
    rate("10,000 unlike nodes, half of the jobs share", Workload(columns), LARGE)


def power() -> None:
    """The same machine with power, without and with a cap, and with idle nodes switched off."""
    workload = large_workload(10_000, 0.7)
    on = dataclasses.replace(POWER, idle_timeout_s=float("inf"))
    for what, watts, cap_w in (("power", on, float("inf")), ("cap", on, 1.5e7), ("switched off", POWER, float("inf"))):
        groups = tuple(dataclasses.replace(group, power=watts) for group in LARGE.groups)
        rate(f"10,000 unlike nodes, {what}", workload, dataclasses.replace(LARGE, groups=groups, power_cap_w=cap_w))


def main(parts: list[str]) -> None:
    warnings.simplefilter("ignore")
    every = {"named": named, "large": large, "shared": shared, "power": power}
    for part in parts or every:
        every[part]()


if __name__ == "__main__":
    main(sys.argv[1:])
