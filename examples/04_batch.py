"""Run an experiment file in bulk, on all cores, and read the answer off one table.

The same from the command line, where it also draws up the comparison::

    hpcsim sweep sweep.toml --out sweep-out --workers 2

Kill it at any moment: ``--resume`` (here: ``resume=True``) goes on, and nothing that had finished is
run again. What changes on a Slurm cluster is the executor alone, see docs/sweeps.md.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hpcsim.experiments.batch import run
from hpcsim.experiments.experiment import Experiment

EXPERIMENT = """
name = "backfilling on three seeds"
seeds = [1, 2, 3]
baseline = "fcfs"

[[policies]]
name = "fcfs"

[[policies]]
name = "backfill"
grid = { reservations = [1, 4] }

[[workloads]]
model = "poisson"
parameters = { jobs = 2_000, nodes = 64, load = 0.6 }
"""


def main() -> None:
    """Print one line a cell, then the differences from FCFS."""
    experiment = Experiment.from_toml(EXPERIMENT)
    with TemporaryDirectory() as folder:
        sweep = run(experiment, Path(folder) / "sweep", workers=2)
        table = sweep.table()
        print(table[["policy", "seed", "status", "mean_wait_s", "utilisation"]].to_string(index=False))
        waits = sweep.comparisons().query("metric == 'mean_wait_s'")
        print()
        for row in waits.itertuples():
            print(f"{row.policy}: {row.difference:+,.0f} s ({row.low:+,.0f} to {row.high:+,.0f}), {row.verdict}")
        longest = table.sort_values("mean_wait_s").iloc[-1]
        print(f"\nThe longest waits are those of {longest['policy']}, seed {longest['seed']}:")
        print(sweep.result(longest["cell"]).jobs["wait_s"].describe().round().to_string())


if __name__ == "__main__":  # workers import this file, and must not start sweeps of their own
    main()
