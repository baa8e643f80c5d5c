"""A machine of unlike nodes: partitions that overlap, GPUs, memory, and jobs that share nodes."""

from __future__ import annotations

from hpcsim import Cluster, Workload, make_policy, simulate

MACHINE = """
name = "small"

[[groups]]
name = "thin"
nodes = 4
cores = 32
memory_bytes = 137438953472

[[groups]]
name = "gpu"      # the scarce nodes last: jobs take the lowest ids first
nodes = 2
cores = 32
gpus = 4
memory_bytes = 274877906944

[[partitions]]
name = "cpu"
groups = ["thin", "gpu"]
max_limit_s = 7200

[[partitions]]
name = "gpu"
groups = ["gpu"]
"""


def main() -> None:
    """Print who ran where and when."""
    workload = Workload.of(
        job_id=["wide", "train", "infer", "small-1", "small-2", "blocked"],
        submit_s=[0, 0, 10, 20, 20, 30],
        run_s=[3600, 5400, 600, 300, 300, 1200],
        limit_s=[7200, 7200, 900, 600, 600, 1800],
        nodes=[3, 2, 1, 1, 1, 4],
        gpus_per_node=[0, 4, 1, 0, 0, 0],
        cores_per_node=[32, 32, 8, 8, 8, 32],
        exclusive=[True, True, True, False, False, True],
        partitions=[("cpu",), ("gpu",), ("gpu",), ("cpu",), ("cpu",), ("cpu",)],
    )
    jobs = simulate(workload, Cluster.from_toml(MACHINE), make_policy("easy")).jobs
    print(f"{'job':<10}{'nodes':>8}{'start, s':>10}{'end, s':>8}")
    for job in jobs.itertuples():
        print(f"{job.job_id:<10}{job.node_ids:>8}{job.start_s:>10,.0f}{job.end_s:>8,.0f}")


if __name__ == "__main__":
    main()
