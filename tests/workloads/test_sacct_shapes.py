"""Dumps in every shape: columns, delimiters, texts that hold anything, records that repeat or belong together."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import pytest

from hpcsim.errors import HpcsimWarning, WorkloadError
from hpcsim.workload import Workload
from hpcsim.workloads.readers.sacct import read_sacct

FIELDS = ("JobID", "Submit", "Start", "End", "Timelimit", "State", "NNodes", "NCPUS", "JobName")
ROW = (
    "1",
    "2024-01-01T00:00:00",
    "2024-01-01T00:01:00",
    "2024-01-01T01:01:00",
    "02:00:00",
    "COMPLETED",
    "2",
    "64",
    "a",
)
NEW_YEAR_S = 1704067200


def row(**changes: str) -> dict[str, str]:
    return dict(zip(FIELDS, ROW, strict=True)) | changes


def dump(*rows: dict[str, str], delimiter: str = "|", closed: bool = False) -> str:
    lines = [list(rows[0]), *(list(each.values()) for each in rows)]
    return "".join(delimiter.join(line) + (delimiter if closed else "") + "\n" for line in lines)


@pytest.fixture
def read(tmp_path: Path):
    def read(text: str | bytes, **options) -> Workload:
        path = tmp_path / "dump.txt"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HpcsimWarning)
            return read_sacct(path, **options)

    return read


def rules(workload: Workload) -> set[str]:
    return {rule.rule for rule in workload.ledger.rules if rule.rule != "zone-assumed"}


def test_columns_in_any_order_and_case_and_unknown_ones(read):
    """Reversed columns, in capitals, with two of them made up."""
    first = {"Foo": "x", **dict(reversed(row(JobID="7").items())), "Bar": ""}
    workload = read(dump({name.upper(): value for name, value in first.items()}))
    assert workload.job_id.tolist() == [7]
    assert (workload.submit_s[0], workload.run_s[0], workload.limit_s[0]) == (NEW_YEAR_S, 3600, 7200)


@pytest.mark.parametrize("delimiter", ["|", "^|^", "\u2603", ",", ";", "\t", "~~"])
@pytest.mark.parametrize("closed", [False, True])
def test_any_delimiter(read, delimiter, closed):
    workload = read(dump(row(), row(JobID="2", State="FAILED"), delimiter=delimiter, closed=closed))
    assert workload.job_id.tolist() == [1, 2]
    assert workload.end_state.tolist() == [0, 1]


def test_columns_named_for_a_dump_without_a_header(read):
    text = dump(row(), row(JobID="2")).partition("\n")[2]
    assert read(text, columns=",".join(FIELDS)).job_id.tolist() == [1, 2]
    assert read(text, columns=[f"{name}%20" for name in FIELDS]).nodes.tolist() == [2, 2]
    with pytest.raises(WorkloadError, match="no header with JobID, and 9 columns do not tell"):
        read(text)
    with pytest.raises(WorkloadError, match="9 columns in its first line, and 2 are named"):
        read(text, columns="JobID,State")


def test_columns_named_beside_a_header_have_to_be_those_of_the_header(read):
    assert read(dump(row()), columns=",".join(FIELDS)).job_id.tolist() == [1]
    with pytest.raises(WorkloadError, match="has a header, and it names other columns"):
        read(dump(row()), columns="JobID,Submit,Start,End")


def test_output_for_people_is_refused_with_the_way_out(read):
    text = "JobID           JobName  Partition\n------------ ---------- ----------\n1 a b\n"
    with pytest.raises(WorkloadError, match=r"for people, in which long values are cut. Export it with -P"):
        read(text)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_gzip_crlf_and_no_last_newline(read, newline):
    text = dump(row(), row(JobID="2")).replace("\n", newline).removesuffix(newline)
    assert read(gzip.compress(text.encode())).job_id.tolist() == [1, 2]


@pytest.mark.parametrize("name", ["a|b", "|", "a\nb", "a\n2|3\nb", "\xe9", "x||y|"])
@pytest.mark.parametrize("place", [0, 4, 8])
def test_a_name_may_hold_anything(read, name, place):
    """The job name as first, middle and last column but the id: the rows around it stay whole."""
    columns = [key for key in FIELDS if key != "JobName"]
    columns.insert(max(place, 1), "JobName")
    rows = [row(JobID=str(number)) for number in (11, 12, 13)]
    rows[1]["JobName"] = name
    workload = read(dump(*({key: each[key] for key in columns} for each in rows)))
    assert workload.job_id.tolist() == [11, 12, 13]
    assert workload.nodes.tolist() == [2, 2, 2]
    if "\n" not in name or place < 8:
        assert workload.name.tolist() == ["a", name, "a"]


def test_a_row_cut_short_takes_nothing_from_the_next(read):
    lines = dump(row(), row(JobID="2"), row(JobID="3")).splitlines()
    lines[2] = lines[2][:30]
    workload = read("\n".join(lines))
    assert workload.job_id.tolist() == [1, 3]
    (rule,) = (rule for rule in workload.ledger.rules if rule.rule == "too-few-fields")
    assert (rule.effect, rule.rows, rule.examples[0].line) == ("refused", 1, 3)


def test_strict_names_line_and_field_of_a_row_that_is_too_long(read):
    lines = dump({key: value for key, value in row().items() if key != "JobName"}).splitlines()
    with pytest.raises(WorkloadError, match=r"dump.txt, line 3: line is '9 fields' \(too-many-fields") as caught:
        read("\n".join([*lines, lines[1] + "|x"]), mode="strict", zone="UTC")
    assert caught.value.line == 3


def test_bytes_that_are_no_utf8(read):
    text = dump(row(JobName="caf@"), row(JobID="2", JobName="\u00e9")).encode().replace(b"@", b"\xe9")
    assert read(text).name.tolist() == ["caf\xe9", "\u00e9"]


def test_a_user_called_midnight(read):
    assert read(dump(row(User="00:00:00"))).user_id.tolist() == ["00:00:00"]


def test_several_partitions(read):
    workload = read(dump(row(Partition="a,b"), row(JobID="2", Partition="")))
    assert workload.partitions.tolist() == [("a", "b"), ()]


def test_dumps_that_overlap_are_counted_once(read):
    """The same record twice, and the header of the second dump in the middle."""
    text = dump(row(), row(JobID="2")) + dump(row(JobID="2"), row(JobID="3"))
    workload = read(text)
    assert workload.job_id.tolist() == [1, 2, 3]
    assert rules(workload) == {"repeated-record"}


def test_a_requeued_job_is_a_job_for_each_run(read):
    again = row(Submit="2024-01-01T02:00:00", Start="2024-01-01T03:00:00", End="2024-01-01T03:30:00")
    workload = read(dump(row(State="NODE_FAIL"), again))
    assert workload.run_s.tolist() == [3600, 1800]
    assert rules(workload) == {"requeued-job"}


def test_components_of_a_heterogeneous_job_are_one_job(read):
    """Two runs of it, under -D, stay two jobs."""
    later = {"Submit": "2024-01-02T00:00:00", "Start": "2024-01-02T00:00:00", "End": "2024-01-02T00:10:00"}
    workload = read(
        dump(
            row(JobID="5+0"),
            row(JobID="5+1", NNodes="3", NCPUS="300"),
            row(JobID="5+0", **later),
            row(JobID="5+1", NNodes="1", **later),
        )
    )
    assert workload.job_id.tolist() == ["5+0", "5+0"]
    assert workload.nodes.tolist() == [5, 3]
    assert workload.cores_per_node.tolist() == [100, 64]
    assert workload.ledger.refused == 2


def test_array_tasks_keep_their_names_or_raw_numbers(read):
    assert read(dump(row(JobID="9_3"), row(JobID="9_4"))).job_id.tolist() == ["9_3", "9_4"]
    raw = dump(row(JobID="9_3") | {"JobIDRaw": "12"}, row(JobID="9_4") | {"JobIDRaw": "13"})
    assert read(raw).job_id.tolist() == [12, 13]


def test_steps_only(read):
    with pytest.raises(WorkloadError, match="holds steps only, and no row of a job") as caught:
        read(dump(row(JobID="1.batch"), row(JobID="1.0")))
    assert caught.value.line == 2


def test_no_rows_at_all(read):
    assert len(read(dump(row()).splitlines()[0])) == 0
    with pytest.raises(WorkloadError, match="is empty"):
        read("\n\n")


def test_rows_may_be_counted_in_processors(read):
    workload = read(dump(row(NCPUS="48")), count="processors", machine=96)
    assert (workload.nodes[0], workload.counted, workload.machine_nodes) == (48, "processors", 96)
    assert "cores_per_node" not in workload.columns


def test_limit_rows_counts_jobs(read):
    rows = [row(), row(JobID="1.batch"), row(JobID="2"), row(JobID="3")]
    workload = read(dump(*rows), limit_rows=2)
    assert workload.job_id.tolist() == [1, 2]


def test_refused_rows_go_to_the_quarantine(read, tmp_path):
    target = tmp_path / "refused.txt"
    bad = row(JobID="2", End="2023-01-01T00:00:00")
    workload = read(dump(row(), bad), mode="quarantine", quarantine_path=target)
    lines = target.read_text().splitlines()
    assert lines[1] == "; line 3: end-before-start, End: 1672531200"
    assert lines[2].startswith("2|2024-01-01T00:00:00")
    assert workload.ledger.refused == 1


@pytest.mark.parametrize("size", [100, 5_000, 70_000])
def test_blocks_meet_anywhere(read, size, monkeypatch):
    """A name of several lines across the end of a block of the file, whatever the block's size."""
    from hpcsim.workloads.readers import log_blocks

    monkeypatch.setattr(log_blocks.blocks, "__defaults__", (size,))
    rows = [row(JobID=str(number)) for number in range(300)]
    middle = [
        {"JobID": each["JobID"], "JobName": "x\ny|z\n" + "w" * (int(each["JobID"]) % 50), **each} for each in rows
    ]
    for each in middle:
        each["JobName"] = "x\ny|z\n" + "w" * (int(each["JobID"]) % 50)
    workload = read(dump(*middle))
    assert workload.job_id.tolist() == list(range(300))
    assert set(workload.nodes.tolist()) == {2}
