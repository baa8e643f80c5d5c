"""What the pages take for granted: a log called LOG, a policy in my_policy.py, accounting files of a site.

Each page is run in an empty folder with these files. Words of a page that no test machine can serve,
such as absolute paths or a quarter of a million jobs, are replaced by `REPLACED`.
"""

from __future__ import annotations

import gzip
import shutil
from io import BytesIO
from pathlib import Path
from typing import Any

from hpcsim.registry import find, make
from tests.workloads.log_samples import SAMPLES

MADE_UP = {
    "docs/formats/sacct.md": {"sacct.txt": "sacct"},
    "docs/formats/pbs.md": {"accounting/20240101": "pbs"},
    "docs/formats/lsf.md": {"cluster-1/logdir/lsb.acct": "lsf"},
    "docs/formats/sge.md": {"default/common/accounting": "sge"},
    "docs/formats/alibaba.md": {"batch_task.csv": "alibaba-v2018"},
    "docs/formats/slurm-conf.md": {"dump.txt": "sacct", "log.swf": "swf"},
}
"""Small logs that a page needs, by page: name there -> name among `tests.workloads.log_samples`."""

NEEDS_LOGS = {"README.md", "docs/data.md", "docs/formats/intrepid.md", "docs/formats/slurm-conf.md"}
"""Pages that cannot be run without the shared logs and samples."""

MACHINE = """
[[groups]]
name = "all"
nodes = 64
cores = 128
gpus = 8
memory_bytes = 1_000_000_000_000
""" + "".join(f'\n[[partitions]]\nname = "{name}"\ngroups = ["all"]\n' for name in "abq")
"""Serves every job of those small logs."""

EXPERIMENT = """
seeds = [1, 2]

[[policies]]
name = "fcfs"

[[policies]]
name = "easy"

[[workloads]]
model = "poisson"
parameters = { jobs = 50, nodes = 8 }
"""

REPLACED: dict[str, list[tuple[str, str]]] = {
    "docs/formats/pbs.md": [("/var/spool/pbs/server_priv/accounting/2024", "accounting/2024")],
    "docs/formats/slurm-conf.md": [("/etc/slurm/", "")],
    "docs/formats/sacct.md": [("TZ=UTC sacct", "TZ=UTC ./sacct")],
    "docs/workload-models.md": [("synth-pm100 --as", "synth-pm100 --jobs 500 --as")],
    "docs/evaluation.md": [("--workers 2", "--sequences 2"), ("ppo-gtrxl --json", "ppo-gtrxl --sequences 2 --json")],
    "docs/evaluation-results.md": [("--brief --out", "--sequences 2 --brief --out")],
    "docs/sweeps.md": [("12_000", "300"), ("/scratch/me/", "")],
    "docs/testing.md": [
        ("hpcsim check easy", "hpcsim check easy --examples 2"),
        ("10  ", "10 --examples 2"),
        ("--json", "--json --examples 2"),
    ],
    "docs/tuning.md": [("examples/tune.toml", "tune.toml"), ("1_000", "200")],
}

MY_POLICY = '''
from hpcsim import Order, Policy, Start
from hpcsim.policies import FCFS


class FirstFit(Policy):
    """Start whatever fits among the first `depth` waiting jobs."""

    depth: int = 100

    def schedule(self, system):
        for job in system.queue[: self.depth]:
            if system.fits(job):
                yield Start(job)


class Weighted(FirstFit):
    """FirstFit that was given a file of weights, and has no use for it."""

    weights: str = ""


class Learned(FirstFit):
    """FirstFit that looks at the hour, and so does not keep what it declares."""

    invariances = ("time-shift",)

    def schedule(self, system):
        for job in sorted(system.queue, key=lambda job: (job.nodes if int(system.now_s) % 2 else -job.nodes, job.row)):
            if system.fits(job):
                yield Start(job)


class Mine(Policy):
    """Start whatever fits, in an order."""

    order: Order = FCFS()
    weight: float = 1.0

    def listeners(self):
        return (self.order,)

    def schedule(self, system):
        for job in sorted(system.queue, key=lambda job: self.order.key(job, system)):
            if system.fits(job):
                yield Start(job)
'''


def lay_out(page: str, folder: Path, shared: Path | None) -> dict[str, str]:
    """Put what *page* needs into *folder*; return the environment that its commands run in."""
    (folder / "my_policy.py").write_text(MY_POLICY, encoding="utf-8")
    package = folder / "my_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "module.py").write_text(MY_POLICY, encoding="utf-8")
    if "LOG" in (Path(__file__).resolve().parents[2] / page).read_text(encoding="utf-8"):
        _a_log(folder)
    for name, sample in MADE_UP.get(page, {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(SAMPLES[sample])
    (folder / "cluster.toml").write_text(MACHINE, encoding="utf-8")
    if page == "docs/results.md":
        (folder / "experiment.toml").write_text(EXPERIMENT, encoding="utf-8")
    special = _SPECIAL.get(page)
    if special is not None:
        special(folder, shared)
    return {
        "PYTHONPATH": str(folder),
        "HPCSIM_DATA": str(folder),
        "SGE_ROOT": str(folder),
        "LSB_SHAREDIR": str(folder),
        "COLUMNS": "100",
    }


def _a_log(folder: Path) -> None:
    """Write 5,000 jobs on 128 nodes, under the names by which pages call somebody's log."""
    log = make("models", "lublin", jobs=5_000, nodes=128, load=0.7, seed=3)
    find("writers", "swf")(log, folder / "LOG.swf.gz")
    (folder / "LOG").symlink_to("LOG.swf.gz")


def _archive(folder: Path, shared: Any) -> None:
    (folder / "SDSC-SP2-1998-4.2-cln.swf.gz").symlink_to(shared / "traces" / "SDSC-SP2-1998-4.2-cln.swf.gz")


def _power(folder: Path, shared: Any) -> None:
    for model, name in (("synth-pm100", "job_table"), ("synth-adastra", "AdastaJobsMI250_15days")):
        find("writers", "job-table")(make("models", model, jobs=40, nodes=64), folder / f"{name}.parquet")


def _fugaku(folder: Path, shared: Any) -> None:
    import pandas as pd

    pd.read_csv(BytesIO(SAMPLES["f-data"])).to_parquet(folder / "23_05.parquet")


def _site(folder: Path, shared: Any) -> None:
    shutil.copy(shared / "samples" / "slurm_conf_gpu.conf", folder / "slurm.conf")
    shutil.copy(shared / "samples" / "gres.conf", folder / "gres.conf")


def _intrepid(folder: Path, shared: Any) -> None:
    source = shared / "data" / "ANL-Intrepid-2009-excerpt-first3000.csv.gz"
    (folder / "intrepid.csv").write_bytes(gzip.decompress(source.read_bytes()))


def _a_table(folder: Path, shared: Any) -> None:
    rows = "\n".join(f"2024-05-01 1{n}:00:00,600,{n},20" for n in range(1, 9))
    (folder / "jobs.csv").write_text(f"queued,ran,n,asked_min\n{rows}\n", encoding="utf-8")


def _a_small_log(folder: Path, shared: Any) -> None:
    find("writers", "swf")(make("models", "poisson", jobs=200, nodes=16, load=0.7), folder / "jobs.swf.gz")


def _sacct(folder: Path, shared: Any) -> None:
    """A command that prints what a site's sacct would."""
    script = folder / "sacct"
    script.write_text("#!/bin/sh\nexec cat sacct.txt\n", encoding="utf-8")
    script.chmod(0o755)


_SPECIAL = {
    "README.md": _archive,
    "docs/data.md": _archive,
    "docs/formats/power.md": _power,
    "docs/formats/f-data.md": _fugaku,
    "docs/formats/slurm-conf.md": _site,
    "docs/formats/intrepid.md": _intrepid,
    "docs/formats/table.md": _a_table,
    "docs/formats/workload.md": _a_small_log,
    "docs/formats/sacct.md": _sacct,
}
