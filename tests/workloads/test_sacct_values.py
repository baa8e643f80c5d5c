"""What single fields of a dump mean: durations, memory, TRES, states, times with a zone; each value by hand."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from hpcsim.errors import HpcsimWarning, WorkloadError
from hpcsim.workloads.readers.quantities_text import duration_s, limit_s, memory_bytes
from hpcsim.workloads.readers.sacct import read_sacct
from hpcsim.workloads.readers.tres import Resources, parse_gres, parse_requested_memory, parse_tres

GIB, MIB = 2**30, 2**20


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("123", 123 * 60),
        ("132:45", 132 * 60 + 45),
        ("12:05:55", 43555),
        ("11-12", 11 * 86400 + 43200),
        ("11-12:05", 11 * 86400 + 43500),
        ("11-12:05:55", 11 * 86400 + 43555),
        ("0", 0),
        ("1-11:48:50", 128930),
        ("UNLIMITED", math.inf),
        ("INFINITE", math.inf),
        ("Partition_Limit", math.inf),
        ("partition_limit", math.inf),
        ("", None),
        ("INVALID", None),
        ("-5", None),
        ("1-", None),
        ("12:", None),
        ("9" * 30, None),
        ("999999999-0", 999999999 * 86400),
        ("\u0661\u0662", None),
    ],
)
def test_limits(text, seconds):
    assert limit_s(text) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("00:00", 0), ("04:00:01", 14401), ("02:20.113", 140), ("12-14:16:39", 1088199), ("33", None), ("", None)],
)
def test_durations(text, seconds):
    assert duration_s(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("4000M", 4000 * MIB), ("16G", 16 * GIB), ("1.5T", 1536 * GIB), ("12", 12 * MIB), ("15240kb", 15240 * 1024)),
        *(
            ("1E", 2**60),
            ("5b", 5),
            ("2GiB", 2 * GIB),
            ("", None),
            ("?", None),
            ("x", None),
            ("1Q", None),
            ("-1M", None),
        ),
    ],
)
def test_memory(text, size):
    assert memory_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        *(
            ("2800Mc", (2800 * MIB, 0)),
            ("550000Mn", (0, 550000 * MIB)),
            ("16G", (0, 16 * GIB)),
            ("4000M", (0, 4000 * MIB)),
        ),
        *(("0n", None), ("0", None), ("?", None), ("", None), ("c", None), ("512", (0, 512 * MIB))),
    ],
)
def test_requested_memory(text, sizes):
    assert parse_requested_memory(text) == sizes


@pytest.mark.parametrize(
    ("text", "resources"),
    [
        (
            "billing=64,cpu=64,energy=38203311,gres/gpu:a100=8,gres/gpu=8,mem=256G,node=2",
            Resources(64, 2, 8, 256 * GIB),
        ),
        ("cpu=4,gres/gpu:a100=2,gres/gpu:v100=3,mem=1T", Resources(4, None, 5, 1024 * GIB)),
        ("gres/gpu:a100=3,gres/gpu=8", Resources(None, None, 8)),
        ("license/x=2,cpu=1.5K", Resources(1500)),
        ("", Resources()),
        ("cpu,=,node=", Resources()),
    ],
)
def test_tres(text, resources):
    assert parse_tres(text) == resources


@pytest.mark.parametrize(
    ("text", "gpus"),
    [("gpu:2", 2), ("gpu", 1), ("gpu:a100:4(S:0-1)", 4), ("craynetwork:1,gpu:3", 3), ("", None), ("none", None)],
)
def test_gres_of_old_releases(text, gpus):
    assert parse_gres(text) == gpus


HEADER = "JobID|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|NNodes|NCPUS|AllocTRES|ConsumedEnergyRaw"
LINE = "1|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T01:01:00|3600|120|COMPLETED|2|64|cpu=64,mem=1G,node=2|"


@pytest.fixture
def read(tmp_path):
    def read(*lines: str, header: str = HEADER, **options):
        path = tmp_path / "dump.txt"
        path.write_text("\n".join([header, *lines]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HpcsimWarning)
            return read_sacct(path, **options)

    return read


def changed(before: str, after: str) -> str:
    assert before in LINE
    return LINE.replace(before, after)


def rules(workload):
    return [rule.rule for rule in workload.ledger.rules if rule.rule != "zone-assumed"]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (changed("2024-01-01T00:00:00", "Unknown"), "no-submit-time"),
        (changed("2024-01-01T00:01:00", "None"), "never-started"),
        (changed("2024-01-01T01:01:00", "Unknown"), "still-running"),
        (changed("COMPLETED", "RUNNING"), "still-running"),
        (changed("COMPLETED", "PENDING"), "never-started"),
        (changed("2024-01-01T01:01:00", "2023-12-31T00:00:00"), "end-before-start"),
        (changed("|2|64|cpu=64,mem=1G,node=2|", "|0|0||"), "no-nodes"),
        (changed("|2|64|", "|9999999999|64|"), "too-many-nodes"),
    ],
)
def test_records_that_are_no_jobs(read, line, rule):
    workload = read(line)
    assert len(workload) == 0
    assert rules(workload) == [rule]


def test_cancelled_in_the_queue_or_while_running(read):
    """Slurm writes Start = End for the former, and gives it nothing; the latter ran for an hour."""
    queued = changed("2024-01-01T00:01:00", "2024-01-01T01:01:00").replace("cpu=64,mem=1G,node=2", "")
    lines = [line.replace("COMPLETED", "CANCELLED by 32874") for line in (queued, changed("1|2024", "2|2024"))]
    workload = read(*lines)
    assert workload.job_id.tolist() == [2]
    assert (workload.end_state[0], workload.recorded_state[0]) == (2, "CANCELLED")
    assert rules(workload) == ["cancelled-before-start"]


def test_a_start_before_the_submit_becomes_the_submit(read):
    workload = read(changed("2024-01-01T00:00:00", "2024-01-01T00:02:00"))
    assert (workload.submit_s[0], workload.recorded_wait_s[0]) == (1704067260, 0)
    assert rules(workload) == ["submit-after-start"]


@pytest.mark.parametrize(("text", "limit"), [("UNLIMITED", math.inf), ("Partition_Limit", math.inf), ("", 3600)])
def test_limits_that_are_none_and_that_are_not_known(read, text, limit):
    workload = read(changed("|120|", f"|{text}|"))
    assert workload.limit_s[0] == limit
    assert rules(workload) == (["limit-from-run-time"] if limit == 3600 else [])
    assert workload.limits_are_run_times == (limit == 3600)


def test_a_state_cut_short_an_abbreviated_and_an_unknown_one(read):
    lines = [changed("COMPLETED", state) for state in ("CANCELLED+", "TO", "WHATEVER")]
    workload = read(*(f"{number}{line}" for number, line in enumerate(lines)))
    assert workload.recorded_state.tolist() == ["CANCELLED", "TIMEOUT", "WHATEVER"]
    assert workload.end_state.tolist() == [2, 1, 0]
    assert rules(workload) == ["unknown-state"]


@pytest.mark.parametrize(("text", "nodes"), [("1.5K", 1536), ("2", 2), ("", 2)])
def test_node_counts(read, text, nodes):
    """Where NNodes is blank, node= of AllocTRES counts."""
    assert read(changed("|2|64|", f"|{text}|64|")).nodes[0] == nodes


@pytest.mark.parametrize(
    ("text", "joules"), [("", None), ("0", None), ("7200000", 7200000), ("18446744073709551614", None)]
)
def test_energy_that_is_none(read, text, joules):
    """Blank and 0 are not measured; 1.8e19 J in an hour would be 5e15 W."""
    workload = read(LINE + text, changed("1|2024", "2|2024") + "5")
    assert workload.recorded_energy_j[1] == 5
    first = workload.recorded_energy_j[0]
    assert np.isnan(first) if joules is None else first == joules
    assert rules(workload) == (["energy-absurd"] if len(text) > 10 else [])


def test_energy_from_tres(read):
    header = "JobID|Submit|Start|End|NNodes|AllocTRES"
    line = "1|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T01:01:00|2|cpu=64,energy=1.5M,node=2"
    assert read(line, header=header).recorded_energy_j.tolist() == [1_500_000]


@pytest.mark.parametrize(
    ("header", "line", "wait"),
    [
        ("JobID|Submit|Start|Elapsed|NNodes", "1|2024-01-01T00:00:00|2024-01-01T00:01:00|01:00:00|2", 60),
        ("JobID|Submit|End|ElapsedRaw|NNodes", "1|2024-01-01T00:00:00|2024-01-01T01:01:00|3600|2", 60),
        ("JobID|Submit|ElapsedRaw|NNodes", "1|2024-01-01T00:00:00|3600|2", None),
    ],
)
def test_two_of_start_end_and_elapsed_are_enough(read, header, line, wait):
    workload = read(line, header=header)
    assert workload.run_s.tolist() == [3600]
    assert workload.columns.get("recorded_wait_s", [None])[0] == wait


def test_eligible_may_be_the_submit_time(read):
    header, line = HEADER + "|Eligible", LINE + "|2024-01-01T00:00:30"
    assert read(line, header=header).submit_s[0] == 1704067200
    assert read(line, header=header, submit="eligible").submit_s[0] == 1704067230
    assert read(LINE + "|Unknown", header=header, submit="eligible").submit_s[0] == 1704067200


def test_times_as_epoch_seconds_have_no_zone(read):
    line = "1|1704067200|1704067260|1704070860|3600|120|COMPLETED|2|64|cpu=64|"
    assert read(line, zone="Asia/Tokyo").submit_s[0] == 1704067200
    mixed = read(line, changed("1|2024", "2|2024"), zone="Asia/Tokyo")
    assert mixed.submit_s.tolist() == [1704067200, 1704067200 - 9 * 3600]


def paris(read, submit: str, start: str, end: str, elapsed: str):
    line = f"1|{submit}|{start}|{end}|{elapsed}|600|COMPLETED|2|64|cpu=64|"
    workload = read(line, zone="Europe/Paris")
    return workload, workload.submit_s[0], workload.run_s[0], workload.recorded_wait_s[0]


def test_the_hour_that_repeats(read):
    """On 27 October 2024 Paris put its clocks back at 3:00, so that 2:30 was at 0:30 and at 1:30 UTC.

    From 2:30 to 2:10 in 40 minutes: the end is in the second pass. From 2:30 to 3:10 in 40 minutes:
    so is the start, an hour later than the first reading. Without proof the first pass counts.
    """
    midnight_utc = 1729987200
    for start, end, elapsed, run, wait in (
        ("02:30:00", "02:10:00", "2400", 2400, 3600 + 1800),
        ("02:30:00", "03:10:00", "2400", 2400, 2 * 3600 + 1800),
        ("02:30:00", "03:10:00", "6000", 6000, 3600 + 1800),
        ("02:10:00", "02:30:00", "", 1200, 3600 + 600),
    ):
        workload, submit_s, run_s, wait_s = paris(
            read, "2024-10-27T01:00:00", f"2024-10-27T{start}", f"2024-10-27T{end}", elapsed
        )
        assert submit_s == midnight_utc - 3600
        assert (run_s, wait_s) == (run, wait)
        assert rules(workload) == ["repeated-hour"]


def test_the_hour_that_is_missing(read):
    """On 31 March 2024 Paris put its clocks forward from 2:00 to 3:00; 2:30, which never was, is read as 3:30,
    1:30 UTC."""
    workload, submit_s, run_s, wait_s = paris(
        read, "2024-03-31T01:00:00", "2024-03-31T02:30:00", "2024-03-31T04:30:00", "3600"
    )
    assert submit_s == 1711843200
    assert (run_s, wait_s) == (3600, 5400)
    assert rules(workload) == ["missing-hour"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"zone": "Mars/Olympus"}, "no time zone 'Mars/Olympus'. Give an Olson name"),
        ({"zone": 5}, "option zone is 5"),
        ({"zone": "../../etc/passwd"}, "no time zone"),
        ({"count": "cores"}, "no count 'cores'"),
        ({"submit": "start"}, "no submit 'start'"),
        ({"mode": "repare"}, "no mode 'repare'. Did you mean 'repair'"),
        ({"machine": 0}, "A machine of 0 nodes runs nothing"),
        ({"machine": "big"}, "A machine of 'big' nodes is none"),
        ({"limit_rows": -1}, "Cannot read -1 rows"),
        ({"columns": 5}, "The columns are 5"),
        ({"delimiter": ""}, "option delimiter is ''"),
        ({"delimiter": "\n"}, "line end cannot delimit"),
    ],
)
def test_options_that_cannot_be(read, options, message):
    with pytest.raises(WorkloadError, match=message):
        read(LINE, **options)
