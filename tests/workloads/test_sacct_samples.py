"""Real and constructed ``sacct`` dumps, against values written down by hand from the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from hpcsim.errors import WorkloadError
from hpcsim.workload import Workload
from hpcsim.workloads.readers.sacct import read_sacct
from hpcsim.workloads.readers.sacct_table import read_table

MIB, GIB = 2**20, 2**30


@pytest.fixture(scope="module")
def steps(shared: Path) -> Workload:
    return read_sacct(shared / "samples/sacct_parsable2_with_steps.txt")


@pytest.fixture(scope="module")
def allocations(shared: Path) -> Workload:
    return read_sacct(shared / "samples/sacct_26col_noheader_allocations.txt")


def rules(workload: Workload) -> dict[str, int]:
    return {rule.rule: rule.rows for rule in workload.ledger.rules}


def test_rows_of_steps_cancelled_pending_running_jobs_are_no_jobs(steps):
    """19 rows: 5 steps, and 14 jobs. Of these 2 cancelled in the queue, 2 pending, 1 running, and
    the second component of the heterogeneous job: 8 stay, two runs of job 8100001 among them."""
    assert steps.job_id.tolist() == [4822203, 4830973, 7000010, 8100001, 8100001, 8100050, 8100051, 9000100]
    assert (steps.ledger.rows, steps.ledger.kept, steps.ledger.refused) == (14, 8, 6)
    assert rules(steps) == {
        "step-rows": 5,
        "zone-assumed": 0,
        "het-component": 1,
        "cancelled-before-start": 2,
        "never-started": 2,
        "still-running": 1,
        "requeued-job": 1,
        "het-job-merged": 1,
        "run-over-limit": 2,
    }


def test_times_and_limits(steps):
    """2020-12-28T16:47:17 is 1609174037 in UTC. 1-11:48:50 is 86400 + 42530; 2400 minutes are 144000 s.
    Waits: 2020-12-28T16:47:17 to 12-30T18:31:11 is two days and 6,234 s; 06:27:40 to 06:47:22 is 1,182 s."""
    assert steps.submit_s[:2].tolist() == [1609174037, 1609223260]
    assert steps.run_s.tolist() == [128930, 259222, 14401, 11527, 52300, 1800, 150, 3600]
    assert steps.limit_s.tolist() == [144000, 259200, 14400, 86400, 86400, 43200, 1800, 7200]
    assert steps.recorded_wait_s.tolist() == [179034, 1182, 200, 3600, 2871, 60, 60, 600]


def test_sizes(steps):
    """The heterogeneous job has 4 + 1 nodes; of its components' 32 and 16 cores a node the larger counts.
    550000Mn is a node's, 4Gc on 32 CPUs 128 GiB, 16 nodes share 3840G: 240 GiB each."""
    assert steps.nodes.tolist() == [1, 1, 2, 16, 16, 1, 1, 5]
    assert steps.cores_per_node.tolist() == [25, 40, 32, 128, 128, 32, 1, 32]
    assert steps.gpus_per_node.tolist() == [0, 0, 4, 0, 0, 0, 0, 4]
    assert steps.memory_bytes_per_node.tolist() == [
        *(550000 * MIB, 180000 * MIB, 128 * GIB, 240 * GIB, 240 * GIB, 128 * GIB, 2000 * MIB, 64 * GIB)
    ]


def test_names_states_and_energy(steps):
    assert steps.user_id[[0, 7]].tolist() == ["user004", "user013"]
    assert steps.partitions.tolist()[:4] == [("general",), ("general",), ("gpu",), ("large",)]
    assert steps.qos[5] == "low"
    assert steps.recorded_state.tolist() == [
        *("COMPLETED", "TIMEOUT", "TIMEOUT", "NODE_FAIL", "COMPLETED", "PREEMPTED", "OUT_OF_MEMORY", "COMPLETED")
    ]
    assert steps.end_state.tolist() == [0, 1, 1, 1, 0, 2, 1, 0]
    assert steps.recorded_energy_j[2] == 38203311
    assert steps.recorded_energy_j[[0, 7]].tolist() != [0, 0]  # not measured is not 0


def test_allocations_without_a_header(allocations):
    """Of eight rows three are no jobs: no nodes, running, pending. 3000Mc x 256 CPUs on 32 nodes is
    24,000 MiB a node; ReqTRES of 4107219 says 144000M on 4 nodes."""
    assert allocations.job_id.tolist() == [4103947, 4103947, 4107166, 4107219, 3483277]
    assert rules(allocations) == {"zone-assumed": 0, "no-nodes": 1, "still-running": 1, "never-started": 1}
    assert allocations.submit_s.tolist() == [1435327020, 1435327020, 1435348285, 1435350142, 1593617297]
    assert allocations.run_s.tolist() == [259200, 259200, 252184, 50449, 600]
    assert allocations.limit_s.tolist() == [259200, 259200, 259200, 51600, 259200]
    assert allocations.nodes.tolist() == [32, 32, 3, 4, 1]
    assert allocations.cores_per_node.tolist() == [8, 8, 12, 12, 40]
    assert allocations.memory_bytes_per_node.tolist() == [
        *(24000 * MIB, 24000 * MIB, 48000 * MIB, 36000 * MIB, 187000 * MIB)
    ]
    assert allocations.group_id.tolist() == ["grpA", "grpA", "grpB", "grpC", "grpF"]
    assert allocations.name.tolist() == ["jobA", "jobA", "jobB", "jobC", "job_0||0002|"]


def test_a_delimiter_behind_the_last_field(shared):
    table = read_table(shared / "samples/sacct_p_trailing_bar.txt")
    assert table.lines.tolist() == [2, 3, 4]
    assert table.texts("jobid") == ["12441073", "12441073.batch", "12441073.extern"]
    assert table.texts("maxrss") == ["", "13104K", "0"]
    assert table.texts("consumedenergyraw") == ["2094", "2067", "2094"]
    assert table.layout.is_closed


def test_line_ends_and_delimiters_within_a_text(shared):
    """The second row spans lines 3 to 7; the last has two bars in its submit line, which is not the last column."""
    table = read_table(shared / "samples/sacct_embedded_newline.txt")
    assert table.lines.tolist() == [2, 3, 8]
    assert table.texts("elapsed") == ["02:40:00", "00:00:00", "00:00:01"]
    assert table.texts("submitline")[1].startswith('srun --nodes=16 --ntasks=16 bash -c if [ ! -d "/scratch/9067954" ]')
    assert table.texts("submitline")[1].endswith("fi")
    assert not list(table.findings)


@pytest.mark.parametrize(
    ("sample", "lacks"), [("sacct_p_trailing_bar", "Submit"), ("sacct_embedded_newline", "NNodes, NCPUS or AllocTRES")]
)
def test_what_a_dump_lacks_is_named_with_the_command_to_export_it(shared, sample, lacks):
    with pytest.raises(WorkloadError, match=f"has no {lacks}. Export it again: sacct -a -X -P --format=JobID"):
        read_sacct(shared / f"samples/{sample}.txt")
