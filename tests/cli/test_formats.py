"""Logs of other formats at the command line: no conversion step, and sentences where it cannot be."""

from __future__ import annotations

import json

import pytest

CLUSTER = "[[groups]]\nnodes = 4\ncores = 64\n"
DUMP = """\
JobID|JobName|User|Submit|Start|End|Timelimit|State|NNodes|NCPUS
1|first|ann|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|02:00:00|COMPLETED|4|256
1.batch|batch||2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00||COMPLETED|1|64
2|second|ben|2024-01-01T00:10:00|2024-01-01T05:00:00|2024-01-01T05:30:00|01:00:00|FAILED|2|128
3|pending|ben|2024-01-01T00:20:00|Unknown|Unknown|01:00:00|PENDING|2|128
"""


def test_a_raw_dump_of_sacct_runs(cli, tmp_path):
    """Job 2 waits for job 1 to end, 50 minutes; the step and the pending job are no jobs."""
    (tmp_path / "dump.txt").write_text(DUMP)
    (tmp_path / "cluster.toml").write_text(CLUSTER)
    arguments = ("run", tmp_path / "dump.txt", "--cluster", tmp_path / "cluster.toml", "--policy", "easy", "--json")
    result = cli(*arguments)
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert (summary["jobs_submitted"], summary["jobs_failed"]) == (2, 1)
    assert (summary["mean_wait_s"], summary["max_wait_s"]) == (1500, 3000)


def test_a_machine_given_by_its_size_has_what_jobs_ask_of_a_node(cli, tmp_path):
    (tmp_path / "dump.txt").write_text(DUMP)
    result = cli("run", tmp_path / "dump.txt", "--nodes", 4)
    assert result.exit_code == 0
    assert "Each node is taken to have 64 cores, the most that a job asks of one." in result.stderr


def test_options_of_the_reader(cli, tmp_path):
    (tmp_path / "dump.txt").write_text(DUMP)
    info = cli("workload", "info", tmp_path / "dump.txt", "--read", "zone=Asia/Tokyo", "--json")
    assert json.loads(info.stdout)["first_submit_s"] == 1704067200 - 9 * 3600
    typo = cli("workload", "info", tmp_path / "dump.txt", "--read", "zoen=UTC")
    assert (typo.exit_code, "has no parameter 'zoen'. Did you mean 'zone'?" in typo.stderr) == (2, True)
    bare = cli("workload", "info", tmp_path / "dump.txt", "--read", "zone")
    assert "Write --read key=value." in bare.stderr


def test_a_format_may_be_forced(cli, tmp_path, trace):
    assert cli("workload", "info", trace, "--format", "swf").exit_code == 0
    wrong = cli("workload", "info", trace, "--format", "sacct")
    assert (wrong.exit_code, "has no header with JobID" in wrong.stderr) == (2, True)
    typo = cli("workload", "info", trace, "--format", "sact")
    assert "There is no reader called 'sact'. Did you mean 'sacct'?" in typo.stderr


def test_what_no_format_begins_with(cli, tmp_path):
    (tmp_path / "letter.txt").write_text("Dear Sir or Madam,\n")
    result = cli("workload", "info", tmp_path / "letter.txt")
    assert result.exit_code == 2
    assert "Cannot tell the format" in result.stderr
    assert "begins with 'Dear Sir or Madam,'. Name it (--format" in result.stderr


def test_a_machine_that_is_hardly_the_one_of_the_log(cli, tmp_path):
    """100 jobs of 4 nodes for an hour within 99 minutes: 60 times too much for four nodes, and little for 100,000."""
    head, line = DUMP.splitlines()[:2]
    lines = [line.replace("1|first", f"{n}|x").replace("|2024-01-01T00:00:00|", f"|{_at(n)}|", 1) for n in range(100)]
    times = "|2024-01-01T00:00:00|2024-01-01T01:00:00|"
    lines = [each.replace(times, f"|{_at(n)}|{_at(n + 60)}|") for n, each in enumerate(lines)]
    (tmp_path / "dump.txt").write_text("\n".join([head, *lines]))
    few = cli("run", tmp_path / "dump.txt", "--nodes", 4)
    assert "the jobs offer a load of 6060.6 % to 4 nodes; the widest takes 4 nodes." in few.stderr
    many = cli("run", tmp_path / "dump.txt", "--nodes", 100_000)
    assert "Warning: as logged, the jobs offer a load of 0.2 % to 100,000 nodes" in many.stderr
    assert "Warning: as logged" not in cli("run", tmp_path / "dump.txt", "--nodes", 400).stderr


def _at(minute: int) -> str:
    return f"2024-01-01T{minute // 60:02}:{minute % 60:02}:00"


@pytest.mark.parametrize("text", ['{"jobs": [{"job_id": 1}]}', '[{"job_id": 1}]'])
def test_json_is_refused_with_what_to_export_instead(cli, tmp_path, text):
    (tmp_path / "sacct.json").write_text(text)
    result = cli("workload", "info", tmp_path / "sacct.json")
    assert (result.exit_code, "export with sacct -P, not --json" in result.stderr) == (2, True)
