"""Ten real logs against figures that were counted without this reader: `archive_figures.toml`."""

from __future__ import annotations

import datetime as dt
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from hpcsim.workloads.readers.log_blocks import blocks
from hpcsim.workloads.readers.swf_table import read_table
from hpcsim.workloads.swf_header import first_integer

FIGURES = tomllib.loads((Path(__file__).parent / "archive_figures.toml").read_text())


@pytest.fixture(scope="module", params=FIGURES)
def log(request, shared, read):
    path = shared / "traces" / f"{request.param}.swf.gz"
    table, workload = read_table(path), read(path)
    return SimpleNamespace(path=path, figures=FIGURES[request.param], table=table, f=table.columns, workload=workload)


def counted(log, **counts) -> None:
    """Compare counts by name, so that a failure shows all that differ."""
    assert {name: int(count) for name, count in counts.items()} == {name: log.figures.get(name, 0) for name in counts}


def test_rows_and_header(log):
    assert len(log.table) == log.figures["rows"] == log.workload.ledger.rows
    for key in ("MaxJobs", "MaxRecords", "MaxNodes", "MaxProcs", "UnixStartTime"):
        assert first_integer(log.table.header, key) == log.figures.get(key), key
    assert log.table.header.get("TimeZoneString", [None]) == [log.figures.get("TimeZoneString")]


def test_span(log):
    submit_s = log.f["submit_s"]
    assert [submit_s.min(), submit_s.max()] == log.figures["submit_s"]
    if "first_submit" in log.figures:
        start = first_integer(log.table.header, "UnixStartTime")
        first, last = (dt.datetime.fromtimestamp(start + int(s), dt.UTC) for s in (submit_s.min(), submit_s.max()))
        assert (first, last) == (log.figures["first_submit"], log.figures["last_submit"])


def test_missing_values(log):
    missing = {name: int(np.count_nonzero(column == -1)) for name, column in log.f.items()}
    assert {name: count for name, count in missing.items() if count} == dict(log.figures["missing"]) | (
        {"status": log.figures["status"]["-1"]} if "-1" in log.figures["status"] else {}
    )
    codes, counts = np.unique(log.f["status"], return_counts=True)
    assert dict(zip(map(str, codes.tolist()), counts.tolist(), strict=True)) == log.figures["status"]


def test_anomalies(log):
    f, machine = log.f, log.figures.get("MaxProcs", np.inf)
    run, asked, allocated, requested = f["run_s"], f["requested_s"], f["allocated"], f["requested"]
    job_id, submit_s = f["job_id"].astype(np.int64), f["submit_s"].astype(np.int64)
    over_s = np.where(asked > 0, run.astype(np.int64) - asked, 0)
    counted(
        log,
        run_zero=(run == 0).sum(),
        run_negative=(run < 0).sum(),
        allocated_none=(allocated <= 0).sum(),
        requested_none=(requested <= 0).sum(),
        allocated_differs=((allocated > 0) & (requested > 0) & (allocated != requested)).sum(),
        run_over_limit=(over_s > 0).sum(),
        run_over_limit_by_60_s=(over_s > 60).sum(),
        allocated_over_machine=(allocated > machine).sum(),
        requested_over_machine=(requested > machine).sum(),
        unsorted=(np.diff(submit_s) < 0).sum(),
        equal_submits=(np.diff(submit_s) == 0).sum(),
        id_gaps=(np.diff(job_id) != 1).sum(),
        repeated_ids=len(job_id) - len(np.unique(job_id)),
    )


def test_line_numbers_and_decimals(log):
    """Each row knows its line: the rows at lines with a decimal point are as many as counted."""
    text = b"".join(block.text for block in blocks(log.path)).split(b"\n")
    lines = [text[line - 1] for line in log.table.lines.tolist()]
    assert [int(line.split(None, 1)[0]) for line in lines] == log.f["job_id"].tolist()
    counted(log, rows_with_decimals=sum(b"." in line for line in lines))


def test_shape(log):
    f, figures = log.f, log.figures
    assert {"allocated": f["allocated"].max(), "requested": f["requested"].max()} == figures["widest"]
    run = f["run_s"][f["run_s"] > 0]
    statistics = {"median": np.median(run), "mean": round(run.mean(), 1), "max": run.max()}
    assert statistics == pytest.approx(figures["run_s"], abs=0.051)
    assert {name: len(np.unique(f[name])) for name in figures["distinct"]} == figures["distinct"]
    for name, field in (("queues", "queue_id"), ("partitions", "partition_id")):
        values, expected = np.unique(f[field]).tolist(), figures[name]
        summary = {"count": len(values), "min": values[0], "max": values[-1]}
        assert (values if isinstance(expected, list) else summary) == expected


def test_load(log):
    """Area by allocated processors over machine times span from the first submit to the last recorded end."""
    f = {name: column.astype(float) for name, column in log.f.items()}
    ran = (f["run_s"] > 0) & (f["allocated"] > 0)
    area = np.dot(f["run_s"][ran], f["allocated"][ran])
    end_s = f["submit_s"] + np.maximum(f["wait_s"], 0) + np.maximum(f["run_s"], 0)
    if "load" in log.figures:
        machine_s = log.figures["MaxProcs"] * (end_s.max() - f["submit_s"].min())
        assert area / machine_s == pytest.approx(log.figures["load"], abs=6e-5)


def test_recorded_peak(log):
    f = log.f
    ran = (f["run_s"] > 0) & (f["allocated"] > 0) & (f["wait_s"] >= 0) & (f["submit_s"] >= 0)
    start_s = f["submit_s"][ran].astype(np.int64) + f["wait_s"][ran].astype(np.int64)
    end_s = start_s + f["run_s"][ran].astype(np.int64)
    allocated = f["allocated"][ran].astype(np.int64)
    at_s, change = np.concatenate([end_s, start_s]), np.concatenate([-allocated, allocated])
    in_use = np.cumsum(change[np.lexsort((change, at_s))])
    assert (int(in_use.max()) if len(in_use) else 0) == log.figures.get("peak", 0)


def test_usable_jobs(log):
    w, usable = log.workload, log.figures["usable"]
    ran = w.run_s > 0
    nodes = w.nodes[ran].astype(np.int64)
    parallel = nodes[nodes > 1]
    assert np.count_nonzero(ran) == usable["jobs"]
    assert np.mean(nodes == 1) == pytest.approx(usable["serial_share"], abs=6e-5)
    assert np.mean(parallel & (parallel - 1) == 0) == pytest.approx(usable["power_of_two_share"], abs=6e-5)
    asked = ran & ~w.columns.get("limit_is_run_time", np.zeros(len(w), dtype=bool))
    assert np.count_nonzero(asked) == usable.get("with_request", 0)
    if asked.any():
        share = np.median(w.run_s[asked] / w.limit_s[asked])
        assert share == pytest.approx(usable["run_over_requested_median"], abs=6e-4)
    assert w.limits_are_run_times == (not asked.any())


def test_recorded_waits(log):
    w, usable = log.workload, log.figures["usable"]
    waits = w.columns.get("recorded_wait_s")
    assert (waits is None) == ("wait_s" not in usable)
    if waits is None:
        return
    known = (w.run_s > 0) & (waits >= 0)
    wait_s, run_s = waits[known].astype(float), w.run_s[known].astype(float)
    assert wait_s.mean() == pytest.approx(usable["wait_s"]["mean"], abs=0.06)
    assert np.median(wait_s) == pytest.approx(usable["wait_s"]["median"], abs=0.06)
    slowdown = np.maximum(1, (wait_s + run_s) / np.maximum(run_s, 10))
    assert slowdown.mean() == pytest.approx(usable["mean_bounded_slowdown"], abs=0.06)


def test_ledger_accounts_for_every_row(log):
    ledger, figures = log.workload.ledger, log.figures
    rows = {rule.rule: rule.rows for rule in ledger.rules}
    refused = sum(rule.rows for rule in ledger.rules if rule.effect == "refused")
    assert ledger.kept == len(log.workload) == figures["rows"] - refused
    assert rows.get("run-over-limit", 0) == figures["run_over_limit"]
    never_ran = rows.get("never-ran", 0) + rows.get("cancelled-before-start", 0) + rows.get("negative-submit", 0)
    assert never_ran == figures["run_negative"]
