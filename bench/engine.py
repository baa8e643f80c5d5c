"""How fast the engine is, as ratios to the reference scheduler and to itself: medians of five, in one run.

Needs the shared job logs and reference.py: beside the checkout, or where HPCSIM_SHARED says. Timed:
read the log, simulate, build all tables of the result; imports and writing are left out. CPU time.

python bench/engine.py [schedules|whole-command|scale|import]
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from hpcsim import Cluster, make_policy, read, registry, simulate

REPEATS = 5
SHARED = Path(os.environ.get("HPCSIM_SHARED", Path(__file__).resolve().parents[2] / "shared"))
LOGS = {
    "SDSC-SP2": ("SDSC-SP2-1998-4.2-cln", 128, None),
    "KTH": ("KTH-SP2-1996-2.1-cln", 100, None),
    "Lublin": ("lublin_256", 256, None),
    "CTC 20,000": ("CTC-SP2-1996-3.1-cln", 338, 20_000),
}
WANTED = [
    ("easy", "SDSC-SP2", 1.0),
    ("easy", "KTH", 1.0),
    ("easy", "Lublin", 1.0),
    ("easy", "CTC 20,000", 4.0),
    ("fcfs", "SDSC-SP2", 0.5),
    ("fcfs", "KTH", 0.5),
    ("fcfs", "Lublin", 0.5),
    ("conservative", "SDSC-SP2", 3.0),
]


def cpu_s(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def load_reference() -> ModuleType:
    specification = importlib.util.spec_from_file_location("reference", SHARED / "oracle" / "reference.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["reference"] = module
    specification.loader.exec_module(module)
    return module


def path_of(log: str) -> tuple[str, int, int | None]:
    name, processors, limit = LOGS[log]
    return str(SHARED / "traces" / f"{name}.swf.gz"), processors, limit


def ours(path: str, processors: int, limit: int | None, policy: str) -> None:
    workload = read(path, limit_rows=limit)
    simulate(workload, Cluster.of_processors(processors), make_policy(policy))


def theirs(reference: Any, path: str, processors: int, limit: int | None, policy: str) -> None:
    jobs, _ = reference.read_swf(path, processors, limit, True)
    reference.Simulation(jobs, processors, policy).run()


def schedules() -> None:
    reference = load_reference()
    print(f"{'policy':14}{'log':12}{'reference s':>12}{'hpcsim s':>10}{'ratio':>7}{'wanted':>8}")
    for policy, log, wanted in WANTED:
        path, processors, limit = path_of(log)
        pairs = [
            (
                cpu_s(lambda: theirs(reference, path, processors, limit, policy)),  # noqa: B023 - called at once
                cpu_s(lambda: ours(path, processors, limit, policy)),  # noqa: B023 - likewise
            )
            for _ in range(REPEATS)
        ]
        reference_s, hpcsim_s = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{policy:14}{log:12}{reference_s:12.2f}{hpcsim_s:10.2f}{ratio:7.2f}{wanted:8.1f}", flush=True)


def whole_command() -> None:
    """The command as typed, start-up and writing included, against the reference as a command."""
    program = str(Path(sys.executable).with_name("hpcsim"))
    print(f"\n{'whole command':26}{'reference s':>12}{'hpcsim s':>10}{'ratio':>7}{'wanted':>8}")
    for log, wanted in (("CTC 20,000", 1.3), ("SDSC-SP2", 0.6)):
        path, processors, limit = path_of(log)
        some = [] if limit is None else ["--limit", str(limit)]
        with tempfile.TemporaryDirectory() as folder:
            script = [sys.executable, str(SHARED / "oracle" / "reference.py"), path, "--procs", str(processors)]
            a = [*script, "--policy", "easy", *some, "--out", f"{folder}/reference.csv"]
            b = [
                program,
                "run",
                path,
                "--processors",
                str(processors),
                "--policy",
                "easy",
                *some,
                "--out",
                f"{folder}/out",
            ]
            pairs = [(child_cpu_s(a), child_cpu_s(b)) for _ in range(REPEATS)]
        reference_s, hpcsim_s = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(x / y for x, y in pairs)
        print(f"{'easy, ' + log:26}{reference_s:12.2f}{hpcsim_s:10.2f}{ratio:7.2f}{wanted:8.1f}", flush=True)


def child_cpu_s(command: list[str]) -> float:
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def imports() -> None:
    command = [sys.executable, "-c"]
    pairs = [
        (child_cpu_s([*command, "import hpcsim"]), child_cpu_s([*command, "import simpy, numpy"])) for _ in range(9)
    ]
    print(f"\nimport hpcsim / import simpy, numpy: {statistics.median(a / b for a, b in pairs):.2f} (wanted: <= 1.5)")


def scale() -> None:
    """Each in a process of its own, so that the peak memory is its own."""
    script = str(Path(__file__).resolve())
    print(f"\n{'scale':46}{'jobs/s':>10}{'peak MB':>9}")
    rates = {}
    for what in ("50000 10000 10000", "1000000 10000 10000", "200000 1000 1000", "200000 100000 1000", "RICC"):
        answer = subprocess.run(
            [sys.executable, script, "one", *what.split()], check=True, capture_output=True, text=True
        )
        rate, peak_mb = (float(number) for number in answer.stdout.split())
        rates[what] = rate
        print(f"{describe(what):46}{rate:10,.0f}{peak_mb:9,.0f}", flush=True)
    larger, wider = (
        rates["1000000 10000 10000"] / rates["50000 10000 10000"],
        rates["200000 1000 1000"] / rates["200000 100000 1000"],
    )
    print(f"1,000,000 against 50,000 jobs: {larger:.2f} (wanted: >= 0.7)")
    print(f"1,000 against 100,000 nodes: {wider:.2f} (wanted: <= 1.3)")
    print(f"RICC: {rates['RICC']:,.0f} jobs/s (wanted: >= 15,000)")


def describe(what: str) -> str:
    if what == "RICC":
        return "EASY, RICC whole, 8,192 processors"
    jobs, nodes, _ = what.split()
    return f"EASY, {int(jobs):,} generated jobs, {int(nodes):,} nodes"


def one(*what: str) -> None:
    """Print jobs/s and peak memory in MB of one run in this process."""
    import resource

    started = time.process_time()
    if what[0] == "RICC":
        workload = read(SHARED / "traces" / "RICC-2010-2.swf.gz")
        cluster = Cluster.of_processors(8192)
    else:
        jobs, nodes, widest = (int(number) for number in what)
        workload = registry.make("models", "poisson", jobs=jobs, nodes=widest, load=0.8)
        cluster = Cluster.of_nodes(nodes)
        started = time.process_time()
    simulate(workload, cluster, make_policy("easy"))
    rate = len(workload) / (time.process_time() - started)
    print(rate, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)


def main(parts: list[str]) -> None:
    warnings.simplefilter("ignore")
    if parts[:1] == ["one"]:
        one(*parts[1:])
        return
    every = {"schedules": schedules, "whole-command": whole_command, "scale": scale, "import": imports}
    for part in parts or every:
        every[part]()


if __name__ == "__main__":
    main(sys.argv[1:])
