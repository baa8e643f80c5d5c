"""What makes a job of a finished record, and what is done where the record does not say: rules of all formats.

Refused are records of jobs that never started, still ran when the log was cut, end before they
start, or name no nodes. A submit time after the start becomes the start; a limit that is not known
becomes the run time. Everything else stays as it is and is counted.
"""

from __future__ import annotations

import numpy as np

from hpcsim.node_ids import MOST_NODES
from hpcsim.workloads.readers.assessment import Assessment
from hpcsim.workloads.readers.records import Column, Ending, Mask, Records
from hpcsim.workloads.swf_fields import LARGEST


def assess(records: Records) -> Assessment:
    """Apply all rules to *records*; submit times and limits are mended in place."""
    with np.errstate(invalid="ignore", over="ignore"):
        run = np.nan_to_num(np.maximum(records.occupancy_s, 0.0), nan=0.0, posinf=0.0)
        assessment = Assessment(records.lines, np.maximum(records.nodes, 0).astype(float) * run, records.findings)
        for rule, count, line, example in records.totals:
            assessment.note(rule, example, "not a job", rows=count, line=line)
        _refuse(records, assessment)
        _mend(records, assessment)
        _note(records, assessment)
    return assessment


def _refuse(records: Records, assessment: Assessment) -> None:
    run, ending, nodes = records.occupancy_s, records.ending, records.nodes
    for rule, rows, before in records.refusals:
        assessment.apply(rule, rows, before, "no job")
    not_started = (ending == Ending.WAITING) | (np.isnan(records.start_s) & np.isnan(run))
    rules = (
        ("no-submit-time", "submit_s", ~_is_time(records.submit_s), records.submit_s, "no time that can be read"),
        (
            "cancelled-before-start",
            "start_s",
            not_started & (ending == Ending.CANCELLED),
            records.start_s,
            "cancelled in the queue: it never ran",
        ),
        ("never-started", "start_s", not_started, records.start_s, "it had not started when the log was written"),
        (
            "still-running",
            "end_s",
            (ending == Ending.RUNNING) | ~_is_time(run),
            records.end_s,
            "it had not ended when the log was written",
        ),
        ("end-before-start", "end_s", run < 0, records.end_s, "there is no telling how long it ran"),
        ("no-nodes", "nodes", nodes <= 0, nodes, "it holds no nodes"),
        ("too-many-nodes", "nodes", nodes > MOST_NODES, nodes, f"more than {MOST_NODES}: no machine has as many"),
    )
    for name, column, rows, before, remark in rules:
        assessment.apply(records.rule(name, "refused", column, remark), rows, before, "no job")


def _mend(records: Records, assessment: Assessment) -> None:
    for rule, rows, old, new in records.changes:
        assessment.apply(rule, rows, old, new)
    late = records.submit_s > records.start_s
    rule = records.rule("submit-after-start", "changed", "submit_s", "later than the start, which stands in for it")
    assessment.apply(rule, late, records.submit_s, records.start_s)
    records.submit_s = np.where(late, records.start_s, records.submit_s)
    unknown = limits_unknown(records)
    rule = records.rule("limit-from-run-time", "changed", "limit_s", "no limit known: the run time stands in for it")
    assessment.apply(rule, unknown, "not known", records.occupancy_s)
    records.limit_s = np.where(unknown, records.occupancy_s, records.limit_s)


def limits_unknown(records: Records) -> Mask:
    """Tell which records name no limit that can be one."""
    limit = records.limit_s
    return np.isnan(limit) | (limit <= 0) | (np.isfinite(limit) & (limit > LARGEST))


def _note(records: Records, assessment: Assessment) -> None:
    run, submit = records.occupancy_s, records.submit_s
    notes: tuple[tuple[str, str, Mask, Column, Column | str, str], ...] = (
        ("run-time-zero", "end_s", run == 0, run, run, "kept: it ran for less than a second"),
        (
            "run-over-limit",
            "limit_s",
            run > records.limit_s,
            run,
            records.limit_s,
            "it ran past its limit; a simulation ends it there",
        ),
        (
            "unsorted-submits",
            "submit_s",
            _is_unsorted(submit, ~assessment.refused),
            submit,
            "kept",
            "before that of the row above; simulated in order of submission",
        ),
    )
    for name, column, rows, before, after, remark in notes:
        assessment.apply(records.rule(name, "noted", column, remark), rows, before, after)


def _is_time(seconds: Column) -> Mask:
    """Tell which are numbers that a clock can show: not NaN, and not beyond what sums exactly."""
    return np.abs(seconds) <= LARGEST


def _is_unsorted(submit_s: Column, is_kept: Mask) -> Mask:
    """Tell which kept rows were submitted before the kept row above them."""
    rows = np.flatnonzero(is_kept)
    unsorted = np.zeros(len(submit_s), dtype=bool)
    unsorted[rows[1:][submit_s[rows[1:]] < submit_s[rows[:-1]]]] = True
    return unsorted
