"""What the reader says it did: the ledger, strict and quarantine modes, warnings, provenance."""

from __future__ import annotations

import gzip
import hashlib
import re

import pytest

from hpcsim.errors import SuspiciousWorkload, WorkloadError, WorkloadRepaired
from hpcsim.workloads.readers.swf import read_swf

GOOD = "1 0 0 60 4 -1 -1 4 90 -1 1 1 1 1 -1 -1 -1 -1"
NO_LIMIT = "2 10 0 60 2 -1 -1 2 -1 -1 1 1 1 1 -1 -1 -1 -1"
NEVER_RAN = "3 20 0 -1 4 -1 -1 4 90 -1 5 1 1 1 -1 -1 -1 -1"
CUT = "4 30 0 60"
LOG = f"; MaxProcs: 8\n; Note: x\n\n{GOOD}\n{NO_LIMIT}\n; y\n{NEVER_RAN}\n{CUT}\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(LOG)
    return path


def test_ledger_counts_rows_and_node_seconds(log, read):
    """Four rows; node-seconds 4 x 60 and 2 x 60, the latter changed: a third is touched."""
    ledger = read(log).ledger
    assert (ledger.rows, ledger.kept, ledger.changed, ledger.refused) == (4, 2, 1, 2)
    assert ledger.node_s == 360
    assert ledger.touched_share == pytest.approx(120 / 360)
    by_name = {rule.rule: rule for rule in ledger.rules}
    assert list(by_name) == ["too-few-fields", "cancelled-before-start", "limit-from-run-time"]
    example = by_name["limit-from-run-time"].examples[0]
    assert (example.line, example.before, example.after) == (5, "-1", "60")
    assert by_name["cancelled-before-start"].field == "run time (field 4)"
    assert ledger.to_dict()["rules"][0]["examples"][0]["line"] == 8


def test_examples_are_few(read_text):
    ledger = read_text("\n".join([NO_LIMIT] * 100)).ledger
    assert [len(rule.examples) for rule in ledger.rules if rule.rule == "limit-from-run-time"] == [5]


def test_strict_raises_the_first_fault_of_the_file(log):
    with pytest.raises(WorkloadError, match=r"log\.swf, line 5: requested time \(field 9\) is '-1'") as caught:
        read_swf(log, mode="strict")
    assert (caught.value.path, caught.value.line) == (str(log), 5)
    assert caught.value.field == "requested time (field 9)"


@pytest.mark.parametrize(("fault", "field"), [(CUT, "line"), (NEVER_RAN, "run time"), (f"x{GOOD}", "job number")])
def test_strict_names_the_field(tmp_path, fault, field):
    path = tmp_path / "log.swf"
    path.write_text(f"{GOOD}\n{fault}\n{NO_LIMIT}\n")
    with pytest.raises(WorkloadError, match=f"line 2: {field}"):
        read_swf(path, mode="strict")


def test_strict_passes_a_log_without_faults(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(f"; MaxProcs: 8\n{GOOD}\n")
    assert len(read_swf(path, mode="strict")) == 1


@pytest.mark.parametrize("name", ["refused.swf", "refused.swf.gz"])
def test_quarantine_keeps_refused_lines_as_they_stood(log, read, tmp_path, name):
    path = tmp_path / name
    workload = read(log, mode="quarantine", quarantine_path=path)
    text = (gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()).decode()
    assert text.splitlines() == [
        "; Note: 2 lines of log.swf that became no job",
        "; line 7: cancelled-before-start, run time (field 4): -1",
        NEVER_RAN,
        "; line 8: too-few-fields: fewer than 9 fields: the line was cut, or is no SWF",
        CUT,
    ]
    assert len(workload) == 2
    assert workload.ledger.mode == "quarantine"


def test_quarantine_where_nothing_can_be_written(log, tmp_path):
    with pytest.raises(WorkloadError, match="Cannot write"):
        read_swf(log, mode="quarantine", quarantine_path=tmp_path / "no" / "such" / "folder.swf")


def test_repairs_are_announced_once_with_numbers(log):
    with pytest.warns(WorkloadRepaired, match="1 row changed and 2 refused, of 4") as caught:
        read_swf(log)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_provenance(log, read):
    provenance = read(log, processors=16).provenance
    assert provenance["sha256"] == hashlib.sha256(LOG.encode()).hexdigest()
    assert (provenance["source"], provenance["reader"]) == (str(log), "swf")
    assert provenance["options"] == {"mode": "repair", "processors": 16, "limit_rows": None}


# --- numbers that are legal and unlikely


def jobs(count: int, *, gap_s: int = 100, run_s: int = 300, width: int = 4) -> str:
    return "".join(
        f"{i} {i * gap_s} 0 {run_s} {width} -1 -1 {width} {run_s} -1 1 1 1 1 -1 -1 -1 -1\n" for i in range(count)
    )


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (jobs(200, gap_s=0), {"processors": 8}, "all 200 jobs are submitted at 0 s"),
        (jobs(200), {"processors": 4608}, r"load of 0.00262 to 4,608 processors, the widest asks for 4"),
        (jobs(200), {"processors": 4}, r"load of 3\.\d+ to 4 processors"),
        (jobs(200), {"processors": 3}, r"200 jobs ask for more than its 3 processors, up to 4"),
        (jobs(1), {"processors": 3}, r"1 job asks for more than its 3 processors, up to 4"),
        (jobs(200, gap_s=10**7), {"processors": 4}, "span 63 years"),
    ],
    ids=["one instant", "machine too large", "machine too small", "jobs too wide", "job too wide", "span"],
)
def test_suspicious_numbers_are_named(tmp_path, text, options, message):
    path = tmp_path / "log.swf"
    path.write_text(text)
    with pytest.warns(SuspiciousWorkload) as caught:
        read_swf(path, **options)
    assert any(re.search(message, str(warning.message)) for warning in caught)


def test_a_plain_log_raises_no_suspicion(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(jobs(200))
    assert len(read_swf(path, processors=16)) == 200
