"""Logs that broke other readers: each case with the right value."""

from __future__ import annotations

import gzip
import time
import warnings

import numpy as np
import pytest

from hpcsim.errors import HpcsimError, SuspiciousWorkload, WorkloadError, WorkloadRepaired
from hpcsim.workloads.readers.swf import read_swf
from hpcsim.workloads.swf_fields import FIELDS
from hpcsim.workloads.swf_header import MOST_LINES

USUAL = {"job_id": 7, "submit_s": 100, "wait_s": 5, "run_s": 60, "allocated": 4, "requested": 4, "requested_s": 90}
USUAL |= {"status": 1, "user_id": 3, "group_id": 2, "app_id": 9}


def row(**changes) -> str:
    """Return one line, -1 in the fields not given."""
    fields = USUAL | changes
    return " ".join(str(fields.get(name, -1)) for name in FIELDS)


def rules(workload) -> dict[str, int]:
    return {rule.rule: rule.rows for rule in workload.ledger.rules}


def values(workload, *names) -> list:
    return [workload.columns[name].tolist() for name in names]


def test_usual_row(read_text):
    """Nothing to repair, so nothing in the ledger but the machine, which no header names."""
    w = read_text(row())
    assert values(w, "job_id", "submit_s", "run_s", "limit_s", "nodes") == [[7], [100], [60], [90], [4]]
    assert values(w, "user_id", "group_id", "app_id", "recorded_wait_s") == [[3], [2], [9], [5]]
    assert rules(w) == {"machine-from-widest-job": 0}
    assert (w.counted, w.machine_nodes, w.ledger.changed, w.ledger.refused) == ("processors", 4, 0, 0)


# --- the header


@pytest.mark.parametrize(
    ("header", "machine"),
    [
        ("; MaxProcs: 140\n; MaxNodes: 70\n", 140),
        ("; MaxNodes: 100\n", 100),
        ("; MaxNodes: 100 (64+36)\n", 100),
        ("; MaxNodes: 338 (batch partition; 512 total)\n", 338),
        (";        MaxProcs: 1664 (72, 1368, 224)\n", 1664),
        (";MaxProcs:8\n", 8),
        ("; MaxProcs: N/A\n; MaxNodes: 16\n", 16),
        ("; MaxProcs: -1\n; MaxNodes: 16\n", 16),
        ("; MaxProcs: 8\n; MaxProcs: 16\n", 8),
        (f"; MaxProcs: {10**30}\n; MaxNodes: 16\n", 16),
        (f"; MaxProcs: {2**31}\n; MaxNodes: 16\n", 16),
        (f"; MaxProcs: {10**12}\n; MaxNodes: {2**31}\n", 4),
        (f"; MaxProcs: {2**31 - 1}\n", 2**31 - 1),
        ("; MaxRuntime: N/A\n", 4),
        ("", 4),
    ],
)
def test_machine_of_header(read_text, header, machine):
    assert read_text(header + row()).machine_nodes == machine


def test_more_processors_than_any_machine_has(read_text):
    """The row is refused; the largest count that tables can hold is kept."""
    w = read_text(f"{row(requested=2**31)}\n{row(requested=2**31 - 1)}\n{row(requested=10**12)}\n")
    assert values(w, "nodes") == [[2**31 - 1]]
    assert (rules(w)["too-many-processors"], w.ledger.refused) == (2, 2)


def test_more_processors_by_the_caller_than_any_machine_has(read_text):
    with pytest.raises(WorkloadError, match=r"No machine has 2147483648 processors\. Give at most 2147483647\."):
        read_text(row(), processors=2**31)


def test_machine_given_by_the_caller_wins(read_text):
    assert read_text("; MaxProcs: 140\n" + row(), processors=70).machine_nodes == 70


def test_header_after_data_and_comment_in_mid_file(read_text):
    w = read_text(f"{row(job_id=1)}\n; a remark\n{row(job_id=2)}\n; MaxProcs: 12\n")
    assert values(w, "job_id") == [[1, 2]]
    assert w.machine_nodes == 12
    assert w.header == {"": ["a remark"], "MaxProcs": ["12"]}


def test_header_keeps_repeated_keys_continuations_and_zone(read_text):
    w = read_text(
        "; TimeZone: 3600\t # DEPRECATED; use TimeZoneString + tzset()\n; TimeZoneString: Europe/Paris\n"
        "; Partition: 18  z+i5U=:\n; Partition: 19  `;\n; Note: of two\n;   lines, http://x.org\n;\n; alone\n" + row()
    )
    assert w.header == {
        "TimeZone": ["3600\t # DEPRECATED; use TimeZoneString + tzset()"],
        "TimeZoneString": ["Europe/Paris"],
        "Partition": ["18  z+i5U=:", "19  `;"],
        "Note": ["of two\nlines, http://x.org"],
        "": ["alone"],
    }


# --- the shape of lines


@pytest.mark.parametrize(
    "text",
    [
        row().replace(" ", "\t") + "\n",
        "   " + row().replace(" ", "    ") + "  \n",
        f"; MaxProcs: 8\r\n{row()}\r\n",
        f"; MaxProcs: 8\r{row()}\r",
        row(),
        f"\n\n  \t \n{row()}\n\n",
        f"\n{' ' * 80}\n{row()}\n",
        "\ufeff" + row(),
    ],
    ids=["tabs", "blanks", "crlf", "cr", "no final newline", "blank lines", "long blank line", "byte order mark"],
)
def test_layout_changes_nothing(read_text, text):
    w = read_text(text)
    assert values(w, "job_id", "submit_s", "nodes", "app_id") == [[7], [100], [4], [9]]
    assert w.ledger.rows == 1
    assert w.ledger.changed == 0


@pytest.mark.parametrize("count", [19, 21])
def test_more_than_18_fields(read_text, count):
    """The Alea dialect has 21, the last three words; the others are read as ever and the row is counted."""
    extra = ["{1241,1241}", "q_1d", "1:ppn=64:x86_64:cl_a#excl"][: count - 18]
    w = read_text(f"{row(job_id=1)}\n{row(job_id=2)} {' '.join(extra)}\n{row(job_id=3)} 1 2 3\n")
    assert values(w, "job_id", "limit_s") == [[1, 2, 3], [90, 90, 90]]
    assert rules(w)["extra-fields"] == 2
    assert w.ledger.changed == 0


def test_17_fields(read_text):
    w = read_text(f"{row(job_id=1)}\n{row(job_id=2).rsplit(' ', 1)[0]}\n")
    assert values(w, "job_id", "limit_s") == [[1, 2], [90, 90]]
    assert rules(w)["short-line"] == w.ledger.changed == 1


def test_cut_line_is_refused_with_its_number(read_text):
    w = read_text(f"; MaxProcs: 8\n{row()}\n8 100 5 60 4 -1 -1 4")
    assert len(w) == 1
    rule = w.ledger.rules[0]
    assert (rule.rule, rule.effect, rule.examples[0].line) == ("too-few-fields", "refused", 3)


def test_semicolon_within_a_line_makes_no_comment(read_text):
    w = read_text(f"{row(job_id=1)} ; remark\n{row(job_id=2)}\n  ; indented comment\n")
    assert values(w, "job_id") == [[1, 2]]
    assert w.header == {"": ["indented comment"]}
    assert rules(w)["extra-fields"] == 1


def test_decimals_in_any_field(read_text):
    exact = row(submit_s="100.00", run_s="6e1", allocated="4.", requested="+4", cpu_s="0.25", requested_s="90.5")
    w = read_text(exact)
    assert values(w, "submit_s", "run_s", "nodes", "cpu_s", "limit_s") == [[100], [60], [4], [0.25], [90.5]]
    assert w.submit_s.dtype == np.int64
    assert w.limit_s.dtype == np.float64
    assert w.ledger.changed == 0


def test_fractions_where_none_can_be(read_text):
    """Half a processor more is a processor more; half a user is nobody."""
    w = read_text(row(requested=4.5, user_id=2.5, job_id=1.5))
    assert values(w, "nodes", "user_id", "job_id") == [[5], [-1], [-1]]
    assert rules(w) | {"processors-rounded-up": 1, "fraction-dropped": 1} == rules(w)
    assert w.ledger.changed == 1


@pytest.mark.parametrize(
    "word", ["abc", "nan", "NaN", "inf", "-Infinity", "1_000", "0x10", "1,5", "True", "1e400", "''"]
)
@pytest.mark.parametrize("name", ["submit_s", "requested_s", "user_id"])
def test_words_are_no_numbers(read_text, name, word):
    w = read_text(f"{row(job_id=1)}\n{row(job_id=2, **{name: word})}\n{row(job_id=3)}\n")
    assert rules(w)["not-a-number"] == 1
    if name == "submit_s":
        assert values(w, "job_id") == [[1, 3]]
    else:
        expected = {"requested_s": ("limit_s", [90, 60, 90]), "user_id": ("user_id", [3, -1, 3])}[name]
        assert values(w, "job_id", expected[0]) == [[1, 2, 3], expected[1]]
    example = next(rule for rule in w.ledger.rules if rule.rule == "not-a-number").examples[0]
    assert (example.line, example.before) == (2, word)


@pytest.mark.parametrize("digits", [10**15 + 1, 2**63, 2**64, 10**400])
def test_numbers_out_of_range(read_text, digits):
    w = read_text(f"{row(job_id=1)}\n{row(job_id=2, submit_s=digits)}\n{row(job_id=3, used_memory_kb=digits)}")
    assert values(w, "job_id") == [[1, 3]]
    assert "used_memory_bytes" not in w.columns


def test_times_up_to_the_largest_are_exact(read_text):
    w = read_text(row(submit_s=10**15, run_s=10**15 - 1, requested_s=10**15))
    assert values(w, "submit_s", "run_s", "limit_s") == [[10**15], [10**15 - 1], [10**15]]


def test_bytes_that_are_no_text(read_text):
    log = b"; Note: M\xfcnchen\n" + f"{row(job_id=1)}\n".encode() + b"2 \xff\xfe 1\n3\x004 1\n" + row(job_id=5).encode()
    w = read_text(log)
    assert w.header == {"Note": ["München"]}
    assert values(w, "job_id") == [[1, 5]]
    assert w.ledger.refused == 2


def test_zero_byte_within_a_number(read_text):
    """A parser of C strings would stop at the zero byte and read 10."""
    assert rules(read_text(row(requested_s="10\x005") + "\n" + row()))["not-a-number"] == 1


# --- what jobs say


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_not_known_in_turn(read_text, name):
    w = read_text(f"{row(job_id=1, submit_s=1)}\n{row(**{name: -1})}\n")
    if name in {"submit_s", "run_s"}:
        assert (len(w), w.ledger.refused) == (1, 1)
        return
    assert (len(w), w.ledger.refused) == (2, 0)
    assert w.nodes.tolist() == [4, 4]
    assert w.limit_s.tolist() == [90, 60 if name == "requested_s" else 90]
    job = w.job(1)
    who = {"user_id": 3, "group_id": 2, "app_id": 9} | (
        {name: None} if name in ("user_id", "group_id", "app_id") else {}
    )
    assert {key: getattr(job, key) for key in who} == who


def test_columns_without_values_are_not_stored(read_text):
    w = read_text(row(user_id=-1, group_id=-1, app_id=-1, wait_s=-1, status=-1))
    assert set(w.columns) == {"job_id", "submit_s", "run_s", "limit_s", "nodes", "recorded_nodes"}


def test_all_three_ids_are_stored_where_one_is_known(read_text):
    w = read_text(row(user_id=-1, app_id=-1))
    assert values(w, "user_id", "group_id", "app_id") == [[-1], [2], [-1]]


def test_run_time_zero_is_a_job(read_text):
    w = read_text(row(run_s=0))
    assert values(w, "run_s") == [[0]]
    assert rules(w)["run-time-zero"] == 1


@pytest.mark.parametrize(("status", "rule"), [(5, "cancelled-before-start"), (1, "never-ran")])
def test_negative_run_time_is_no_job(read_text, status, rule):
    w = read_text(f"{row()}\n{row(run_s=-1, status=status)}")
    assert len(w) == 1
    assert rules(w)[rule] == w.ledger.refused == 1


@pytest.mark.parametrize("run_s", [91, 900])
def test_run_over_limit_stays(read_text, run_s):
    """Neither number is touched: the engine ends the job at its limit."""
    w = read_text(row(run_s=run_s))
    assert values(w, "run_s", "limit_s") == [[run_s], [90]]
    assert rules(w)["run-over-limit"] == 1
    assert w.ledger.changed == 0


@pytest.mark.parametrize("limit", [0, -1])
def test_no_limit_is_the_run_time(read_text, limit):
    w = read_text(f"{row(job_id=1, requested_s=limit)}\n{row(job_id=2)}")
    assert values(w, "limit_s", "limit_is_run_time") == [[60, 90], [True, False]]
    assert rules(w)["limit-from-run-time"] == w.ledger.changed == 1
    assert not w.limits_are_run_times


def test_no_limits_at_all(read_text):
    assert read_text(f"{row(requested_s=-1)}\n{row(requested_s=0)}").limits_are_run_times


@pytest.mark.parametrize(
    ("allocated", "requested", "nodes", "rule"),
    [(2, 4, 4, "allocated-fewer"), (8, 4, 4, "allocated-more"), (8, -1, 8, "processors-from-allocated")],
)
def test_allocated_against_requested(read_text, allocated, requested, nodes, rule):
    w = read_text(row(allocated=allocated, requested=requested))
    assert values(w, "nodes", "recorded_nodes") == [[nodes], [allocated]]
    assert rules(w)[rule] == 1


def test_size_of_machine_one_more_and_none(read_text):
    lines = [row(job_id=1, requested=8), row(job_id=2, requested=9), row(job_id=3, requested=0, allocated=0)]
    w = read_text("; MaxProcs: 8\n" + "\n".join(lines))
    assert values(w, "job_id", "nodes") == [[1, 2], [8, 9]]
    assert rules(w)["wider-than-machine"] == rules(w)["no-processors"] == 1


def test_submits_unsorted_equal_and_negative(read_text):
    lines = [row(job_id=i, submit_s=s) for i, s in enumerate([50, 10, 10, -1, 60])]
    w = read_text("\n".join(lines))
    assert values(w, "submit_s", "job_id") == [[50, 10, 10, 60], [0, 1, 2, 4]]
    assert w.arrival_order().tolist() == [1, 2, 0, 3]
    assert (rules(w)["unsorted-submits"], rules(w)["negative-submit"]) == (1, 1)


def test_repeated_job_numbers_that_start_anywhere(read_text):
    w = read_text("\n".join(row(job_id=i) for i in [900, 5, 900, 5, 0]))
    assert values(w, "job_id") == [[900, 5, 900, 5, 0]]
    assert rules(w)["repeated-job-number"] == 2


def test_predecessors_are_kept_and_not_acted_upon(read_text):
    """Missing (99), later (3), cyclic (1 and 2 name each other), cancelled (4); think time -1."""
    names = {1: 2, 2: 1, 3: 99, 5: 4, 6: 7, 7: -1}
    lines = [row(job_id=i, preceding_job_id=p, think_s=-1) for i, p in names.items()]
    lines.insert(3, row(job_id=4, run_s=-1, status=5))
    w = read_text("\n".join(lines))
    assert values(w, "job_id", "preceding_job_id") == [list(names), list(names.values())]
    assert rules(w)["dependency-ignored"] == 5
    assert "think_s" not in w.columns
    assert w.job(0).after == ()


def test_statuses(read_text):
    """Cancelled while running is CANCELLED (2), failed is FAILED (1), all else ends by itself (0)."""
    statuses = {1: 0, 0: 1, 5: 2, 2: 0, 3: 0, 4: 0, -1: 0, 265: 0}
    w = read_text("\n".join(row(status=status) for status in statuses))
    assert values(w, "status", "end_state") == [list(statuses), list(statuses.values())]
    assert rules(w)["partial-execution"] == 3


def test_cancelled_within_its_first_second_is_no_cancelled_run(read_text):
    assert "end_state" not in read_text(row(status=5, run_s=0)).columns


def test_memory_is_in_bytes(read_text):
    w = read_text(row(used_memory_kb=2, requested_memory_kb="0.5"))
    assert values(w, "used_memory_bytes", "requested_memory_bytes") == [[2048], [512]]


# --- files


def test_gzip_is_told_by_content(read_text):
    w = read_text(gzip.compress(row().encode()), name="packed.swf")
    assert values(w, "job_id") == [[7]]
    assert values(read_text(row(), name="plain.swf.gz"), "job_id") == [[7]]


@pytest.mark.parametrize(
    "text", ["", "; MaxProcs: 8\n", "\n\n", row(run_s=-1)], ids=["empty", "header", "blank", "refused"]
)
def test_no_jobs_is_a_workload_with_a_warning(tmp_path, text):
    path = tmp_path / "none.swf"
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WorkloadRepaired)
        with pytest.warns(SuspiciousWorkload, match="no jobs"):
            w = read_swf(path)
    assert len(w) == 0
    assert w.sha256()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: None, "There is no file"),
        (lambda p: p.mkdir(), "is a folder"),
        (lambda p: p.write_bytes(gzip.compress(row().encode() * 9999)[:-500]), "damaged"),
        (lambda p: p.write_bytes(gzip.compress(row().encode()) + b"rubbish"), "damaged"),
        (lambda p: p.write_bytes(b"\x89PNG\r\n\x1a\n" * 9), "no SWF file"),
        (lambda p: p.write_text("JobID|State|Elapsed\n1|COMPLETED|00:01:00\n"), "no SWF file"),
    ],
    ids=["missing", "folder", "cut gzip", "rubbish after gzip", "picture", "sacct"],
)
def test_what_cannot_be_read_is_one_error(tmp_path, make, message):
    path = tmp_path / "log.swf"
    make(path)
    with pytest.raises(WorkloadError, match=message) as caught:
        read_swf(path)
    assert caught.value.path == str(path)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "options",
    [{"mode": "repare"}, {"processors": 0}, {"limit_rows": -1}, {"mode": "quarantine"}, {"quarantine_path": "x"}],
)
def test_options_out_of_range(tmp_path, options):
    path = tmp_path / "log.swf"
    path.write_text(row())
    with pytest.raises(HpcsimError):
        read_swf(path, **options)


def test_limit_rows_counts_job_lines(read_text):
    lines = [row(job_id=i, run_s=-1 if i == 2 else 60) for i in range(1, 6)]
    w = read_text("; Note: x\n\n" + "\n; y\n\n".join(lines), limit_rows=3)
    assert values(w, "job_id") == [[1, 3]]
    assert (w.ledger.rows, w.ledger.refused) == (3, 1)
    assert len(read_text(row(), limit_rows=0)) == 0


def test_sample_of_quirks(shared, read):
    """Nine lines out of real logs; values by hand from the text."""
    w = read(shared / "samples" / "swf_quirks.swf")
    assert w.job_id.tolist() == [1, 11, 2, 22, 21, 1, 0, 12]
    assert w.submit_s.tolist() == [0, 566129, 0, 1163, 1163, 1641021254, 1356996147, 100]
    assert w.run_s.tolist() == [937, 28826, 11, 96, 3, 10849, 56011, 3600]
    assert w.limit_s.tolist() == [35100, 28800, 600, 3600, 3600, 10800, 86400, 7200]
    assert w.nodes.tolist() == [306, 1, 210, 30, 30, 128, 64, 280000]
    assert w.cpu_s.tolist() == [142, 27758, 9, -1, -1, -1, 1, -1]
    assert w.recorded_wait_s.tolist() == [588530, 5, 0, 3, 12, 52645, 0, 20]
    assert w.end_state.tolist() == [0, 2, 0, 0, 0, 1, 0, 0]
    assert w.machine_nodes == 140
    assert w.header["Partition"] == ["18  z+i5U=:", "19  `;"]
    assert [rule.examples[0].line for rule in w.ledger.rules if rule.effect == "refused"] == [14]
    assert rules(w)["extra-fields"] == 2


def test_a_file_of_comments_is_read_in_time_and_its_header_bounded(read_text):
    """A value that goes on over a quarter of a million lines; gathering it line by line took minutes."""
    began = time.process_time()
    w = read_text("; Note: first\n" + ("; " + "x" * 100 + "\n") * 250_000)
    assert time.process_time() - began < 20
    assert w.header["Note"][0].count("\n") == MOST_LINES - 1
    assert rules(w) == {"comments-passed-over": 250_001 - MOST_LINES}


def test_comments_that_are_passed_over_take_no_job_with_them(read_text):
    comments = [f"{' ' * (number % 2)}; Key: {number}" for number in range(MOST_LINES + 5)]
    w = read_text("\n".join([*comments, row(job_id=1), "; MaxProcs: 64", row(job_id=2), ""]))
    assert w.job_id.tolist() == [1, 2]
    assert len(w.header["Key"]) == MOST_LINES
    assert (rules(w)["comments-passed-over"], w.machine_nodes) == (6, 4)
