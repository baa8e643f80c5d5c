"""PBS, LSF and Grid Engine accounting: the samples against values written down by hand, and odd lines."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import pytest

from hpcsim.errors import HpcsimWarning, WorkloadError
from hpcsim.workload import Workload
from hpcsim.workloads.readers.lsf import read_lsf
from hpcsim.workloads.readers.pbs import read_pbs
from hpcsim.workloads.readers.pbs_values import Allocation, allocation, attributes
from hpcsim.workloads.readers.sge import read_sge


def rules(workload: Workload) -> dict[str, int]:
    return {rule.rule: rule.rows for rule in workload.ledger.rules}


@pytest.fixture
def read(tmp_path: Path):
    def read(reader, text: str, **options) -> Workload:
        path = tmp_path / "log"
        path.write_text(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HpcsimWarning)
            return reader(path, **options)

    return read


def test_the_pbs_sample(shared):
    """Seven E records. 2994 has 5 hosts of 13 slots; 2995 slots 0-3 and 0-7; 7904 no hosts, but
    nodes=1:ppn=28:gpus=1; 3073070 hosts of no slots, but two virtual nodes of 24 CPUs. 185547mb are
    194,560,131,072 bytes. The deleted job is counted; three lines are other events."""
    workload = read_pbs(shared / "samples/pbs_accounting.log")
    assert workload.job_id.tolist() == ["6", "6464684", "2994", "2995", "7904", "10711[7]", "3073070"]
    assert workload.submit_s.tolist() == [
        *(1261424924, 1415579756, 1453756297, 1453756297, 1485451423, 1587912647, 1607291960)
    ]
    assert workload.run_s.tolist() == [2197, 9350, 156, 156, 8407, 100000, 36072]
    assert workload.recorded_wait_s.tolist() == [99, 10085, 9984, 9984, 1, 133706, 6]
    assert workload.limit_s.tolist() == [14400, 86400, 163, 163, 345600, 100000, 36000]
    assert workload.nodes.tolist() == [2, 1, 5, 2, 1, 1, 1]
    assert workload.cores_per_node.tolist() == [8, 4, 13, 6, 28, 28, 48]
    assert workload.gpus_per_node.tolist() == [0, 0, 0, 0, 1, 4, 4]
    assert workload.memory_bytes_per_node.tolist() == [0, 1993 * 2**20, 0, 0, 0, 0, 185547 * 2**20]
    assert workload.recorded_exit_status.tolist() == [0, 1, 0, 0, 1, 0, 271]
    assert workload.end_state.tolist() == [0, 1, 0, 0, 1, 0, 2]
    assert workload.account.tolist() == [None, "acctB", None, None, "acctD", "acctD", "projE"]
    assert workload.partitions[[0, 3]].tolist() == [("batch",), ("otherq",)]
    assert rules(workload) == {
        "other-records": 3,
        "cancelled-before-start": 1,
        "limit-from-run-time": 1,
        "run-over-limit": 1,
    }


@pytest.mark.parametrize(
    ("found", "sizes"),
    [
        ({"exec_host": "n1/7+n1/6+n2/0"}, Allocation(2, 3)),
        ({"exec_host": "n1/0-3,5+n2/1*4"}, Allocation(2, 9)),
        ({"exec_host": "n1/0*0", "exec_vnode": "(n1[0]:ncpus=24+n1[1]:ncpus=8:mem=1kb)"}, Allocation(1, 32)),
        ({"Resource_List.nodes": "2:ppn=8:gpus=2:feature+1:ppn=4"}, Allocation(3, 20, 4)),
        ({"Resource_List.select": "5:ncpus=13:ngpus=1"}, Allocation(5, 65, 5)),
        ({"Resource_List.nodes": "n404:ppn=2+n405"}, Allocation(2, 3)),
        ({"Resource_List.nodect": "3", "Resource_List.ncpus": "12"}, Allocation(3, 12)),
        ({"exec_host": "n1/9-3+/+n2/x"}, Allocation(2, 0)),
        ({}, Allocation()),
    ],
)
def test_what_a_pbs_job_held(found, sizes):
    assert allocation(found) == sizes


def test_pbs_values_may_hold_blanks():
    found = attributes('user=ann project="A B C" account=x y jobname=my job=1 start=5')
    assert found == {"user": "ann", "project": '"A B C"', "account": "x y", "jobname": "my", "job": "1", "start": "5"}


E_RECORD = (
    "01/02/2024 00:00:00;E;{id}.srv;user=a queue=q ctime=100 qtime=110 etime=130 start=200 end=300 "
    "exec_host=n1/0 Resource_List.walltime={walltime} Exit_status={status}"
)


def record(job_id: int = 7, walltime: str = "00:05:00", status: str = "0") -> str:
    return E_RECORD.format(id=job_id, walltime=walltime, status=status)


def test_pbs_submit_times(read):
    assert read(read_pbs, record()).submit_s.tolist() == [110]
    assert read(read_pbs, record(), submit="eligible").submit_s.tolist() == [130]
    assert read(read_pbs, record().replace(" qtime=110", "")).submit_s.tolist() == [100]


def test_pbs_jobs_that_the_log_leaves_open(read):
    """Waiting, running, deleted in the queue: counted, each by its own rule; a deleted job that ended is a job."""
    lines = [f"01/02/2024 00:00:00;{kind};{number}.srv;x=1" for number, kind in enumerate("QSDQ", start=1)]
    lines += ["01/02/2024 00:00:01;D;4.srv;", "01/02/2024 00:00:01;D;7.srv;", record()]
    workload = read(read_pbs, "\n".join(lines))
    assert workload.job_id.tolist() == [7]
    assert rules(workload) == {
        "other-records": 6,
        "cancelled-before-start": 2,
        "never-started": 1,
        "still-running": 1,
    }


def test_pbs_reruns_are_jobs(read):
    workload = read(read_pbs, f"{record()}\n{record()}\n{record(8)}")
    assert workload.job_id.tolist() == [7, 7, 8]
    assert rules(workload)["rerun-job"] == 1


@pytest.mark.parametrize(
    ("walltime", "limit"), [("100:00:00", 360000), ("01:40", 100), ("", 100), ("x", 100), ("1:00:00:00", 100)]
)
def test_pbs_limits(read, walltime, limit):
    """Hours may pass 24; what is no walltime is the run time."""
    assert read(read_pbs, record(walltime=walltime)).limit_s.tolist() == [limit]


def test_a_pbs_line_that_is_none(read):
    workload = read(read_pbs, f"hello\n{record()}\n# comment\n")
    assert rules(workload) == {"no-record": 1}
    with pytest.raises(WorkloadError, match="log, line 1: line is 'hello'") as caught:
        read(read_pbs, f"hello\n{record()}", mode="strict")
    assert caught.value.line == 1
    with pytest.raises(WorkloadError, match="holds no pbs record"):
        read(read_pbs, "hello")


def test_the_lsf_sample(shared):
    """8 hosts with 16 slots each; -W 12:00 stands in the command; submitted at 1389642318, started 453 s later,
    ended at 1389683139."""
    workload = read_lsf(shared / "samples/lsf_lsb.acct")
    assert workload.job_id.tolist() == [404717]
    assert (workload.submit_s[0], workload.recorded_wait_s[0], workload.run_s[0]) == (1389642318, 453, 40368)
    assert (workload.limit_s[0], workload.nodes[0], workload.cores_per_node[0]) == (43200, 8, 16)
    assert (workload.user_id[0], workload.account[0], workload.partitions[0]) == ("user01", "projA", ("regular",))
    assert (workload.name[0], workload.recorded_exit_status[0]) == ("run0040", 0)
    assert not workload.ledger.rules


def lsf_line(shared: Path) -> str:
    return (shared / "samples/lsf_lsb.acct").read_text().strip()


def test_lsf_events_of_other_kinds_and_broken_ones(read, shared):
    line = lsf_line(shared)
    workload = read(read_lsf, f'"JOB_NEW" "9.11" 1 2\n{line}\n{line[:200]}\nrubbish\n{line}')
    assert len(workload) == 2
    assert rules(workload) == {"no-record": 2, "other-records": 1}


def test_lsf_a_job_that_never_started(read, shared):
    workload = read(read_lsf, lsf_line(shared).replace(" 0 0 1389642771 ", " 0 0 0 "))
    assert rules(workload) == {"cancelled-before-start": 1}


def test_lsf_text_over_several_lines(read, shared):
    line = lsf_line(shared)
    workload = read(read_lsf, line.replace("mpirun.lsf", "\n\nmpirun.lsf") + "\n" + line)
    assert workload.limit_s.tolist() == [43200, 43200]


def test_lsf_array_elements_and_exits(read, shared):
    """Array index 3 stands behind the time event; status 32 is an exit."""
    line = (
        lsf_line(shared).replace('0 128 "" "" 0 10725376', '1 128 "" "" 3 10725376').replace(" 64 60.0 ", " 32 60.0 ")
    )
    workload = read(read_lsf, line)
    assert (workload.job_id[0], workload.end_state[0], workload.recorded_exit_status[0]) == ("404717[3]", 1, 1)


@pytest.mark.parametrize(("command", "limit"), [("-W 90", 5400), ("-W 2:30", 9000), ("-w done", 40368)])
def test_lsf_limits(read, shared, command, limit):
    assert read(read_lsf, lsf_line(shared).replace("-W 12:00", command)).limit_s.tolist() == [limit]


def test_the_sge_sample(shared):
    """Submitted at 1310761621, started 333,733 s later, ran for a minute in one slot; h_rt=36000."""
    workload = read_sge(shared / "samples/sge_accounting")
    assert (workload.job_id[0], workload.submit_s[0], workload.run_s[0]) == (22947, 1310761621, 60)
    assert (workload.recorded_wait_s[0], workload.limit_s[0], workload.nodes[0]) == (333733, 36000, 1)
    assert (workload.counted, workload.name[0], workload.partitions[0]) == ("processors", "mpi-mem-test", ("myqueue",))
    assert (workload.user_id[0], workload.group_id[0]) == ("user01", "grp01")


def sge_line(shared: Path, **changes: str) -> str:
    fields = (shared / "samples/sge_accounting").read_text().strip().split(":")
    places = {"host": 1, "name": 4, "submit": 8, "start": 9, "end": 10, "slots": 34, "task": 35, "category": 39}
    places |= {"pe_taskid": 41, "failed": 11, "exit": 12}
    for name, value in changes.items():
        fields[places[name]] = value
    return ":".join(fields)


def test_sge_milliseconds(read, shared):
    times = {"submit": "1310761621500", "start": "1310761622000", "end": "1310761632250"}
    workload = read(read_sge, sge_line(shared, **times))
    assert (workload.submit_s[0], workload.run_s[0], workload.recorded_wait_s[0]) == (1310761621.5, 10.25, 0.5)
    assert rules(workload) == {"milliseconds": 1}


def test_sge_lines_of_single_hosts_are_one_job(read, shared):
    """The master's line and two hosts' shares, by slots and by hosts; a share without a master is a job."""
    lines = [sge_line(shared, host=f"h{n}", pe_taskid=f"{n}.h", slots="16") for n in (1, 2)]
    lines.append(sge_line(shared, host="h1", slots="32"))
    text = "\n".join(["# a comment", *lines])
    assert read(read_sge, text).nodes.tolist() == [32]
    nodes = read(read_sge, text, count="nodes")
    assert (nodes.nodes.tolist(), nodes.cores_per_node.tolist(), nodes.counted) == ([2], [16], "nodes")
    assert rules(nodes) == {"parallel-tasks": 2}
    assert len(read(read_sge, lines[0])) == 1


def test_sge_array_tasks_failures_and_jobs_that_never_started(read, shared):
    lines = [sge_line(shared, task="3", exit="1"), sge_line(shared, start="0", end="0"), sge_line(shared, failed="100")]
    workload = read(read_sge, "\n".join(lines))
    assert workload.job_id.tolist() == ["22947.3", "22947"]
    assert workload.end_state.tolist() == [1, 1]
    assert rules(workload) == {"cancelled-before-start": 1}


@pytest.mark.parametrize(
    ("category", "limit"),
    [
        ("-l h_rt=7200,s_rt=100", 7200),
        ("-l s_rt=100,mem=1G", 100),
        ("-l h_rt=01.5", 1.5),
        ("-l h_rt=INFINITY", math.inf),
        ("-l other_h_rt=5", 60),
        ("NONE", 60),
    ],
)
def test_sge_limits(read, shared, category, limit):
    assert read(read_sge, sge_line(shared, category=category)).limit_s.tolist() == [limit]


def test_sge_colons_in_a_job_name(read, shared):
    assert read(read_sge, sge_line(shared, name="a:b:c")).name.tolist() == ["a:b:c"]


@pytest.mark.parametrize("line", ["a:b:c", ":" * 44, "x" * 50])
def test_an_sge_line_that_is_none(read, shared, line):
    workload = read(read_sge, f"{line}\n{sge_line(shared)}")
    assert rules(workload) == {"too-few-fields": 1}
