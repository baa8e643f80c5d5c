"""How fast workloads are generated, and in how much memory; each figure from a process of its own.

python bench/models.py
"""

from __future__ import annotations

import subprocess
import sys

CASES = (
    ("lublin, 1,000,000 jobs", "lublin(jobs=1_000_000, load=0.8)", "10 s"),
    ("lublin with Tsafrir limits, 1,000,000 jobs", "lublin(jobs=1_000_000, load=0.8, estimates='tsafrir')", "-"),
    ("downey, 100,000 jobs", "downey(jobs=100_000)", "-"),
    ("intrepid, 68,936 jobs", "intrepid(jobs=68_936)", "-"),
    ("synth-pm100, 231,238 jobs", "synth_pm100()", "-"),
    ("synth-pm100 as a table with power series", "write_job_table(synth_pm100(), path)", "60 s, 2 GB"),
    ("synth-adastra as a table", "write_job_table(synth_adastra(), path)", "-"),
)
PROGRAM = """
import resource, sys, tempfile, time
from pathlib import Path
from hpcsim.workloads.models.downey import downey
from hpcsim.workloads.models.intrepid import intrepid
from hpcsim.workloads.models.lublin import lublin
from hpcsim.workloads.models.synth import synth_adastra, synth_pm100
from hpcsim.workloads.writers.job_table import write_job_table
import pyarrow.parquet
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "jobs.parquet"
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    {case}
    print(time.perf_counter() - wall_s, time.process_time() - cpu_s)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
"""


def main() -> None:
    print(f"{'what':46} {'wall s':>8} {'cpu s':>8} {'peak GB':>8}  target")
    for name, case, target in CASES:
        program = PROGRAM.replace("{case}", case)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        wall_s, cpu_s, peak_gb = map(float, done.stdout.split())
        print(f"{name:46} {wall_s:8.2f} {cpu_s:8.2f} {peak_gb:8.2f}  {target}", flush=True)


if __name__ == "__main__":
    main()
