"""What makes a job of an SWF row, and what the reader does where the row does not say: its rules.

Processors are field 8 where positive, else field 5; the limit is field 9 where positive, else the
run time. A row without processors, with a negative run time (it never ran) or submit time is no
job. Everything else stays as it is and is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.node_ids import MOST_NODES
from hpcsim.workloads.readers.assessment import Assessment
from hpcsim.workloads.readers.findings import Rule
from hpcsim.workloads.readers.narrowing import narrow
from hpcsim.workloads.readers.swf_table import SwfTable
from hpcsim.workloads.swf_fields import CANCELLED, MISSING, PARTIAL, WHOLE, title

Column = NDArray[Any]
Mask = NDArray[np.bool_]

_SUBMIT, _RUN, _LIMIT = title("submit_s"), title("run_s"), title("requested_s")
_ALLOCATED, _REQUESTED, _STATUS = title("allocated"), title("requested"), title("status")

NEGATIVE_SUBMIT = Rule("negative-submit", "refused", _SUBMIT, "there is no telling when the job was submitted")
CANCELLED_BEFORE_START = Rule("cancelled-before-start", "refused", _RUN, "status 5 and no run time: it never ran")
NEVER_RAN = Rule("never-ran", "refused", _RUN, "a negative run time: it never ran")
NO_PROCESSORS = Rule("no-processors", "refused", _REQUESTED, "neither requested nor allocated processors")
TOO_MANY = Rule("too-many-processors", "refused", _REQUESTED, f"more than {MOST_NODES}: no machine has as many")
NO_LIMIT = Rule("limit-from-run-time", "changed", _LIMIT, "no requested time: the run time stands in for it")
PROCESSORS_ROUNDED = Rule("processors-rounded-up", "changed", _REQUESTED, "a job takes whole processors")
FROM_ALLOCATED = Rule("processors-from-allocated", "noted", _REQUESTED, "none requested: the allocated ones count")
FEWER_ALLOCATED = Rule("allocated-fewer", "noted", _ALLOCATED, "fewer than requested; the request counts")
MORE_ALLOCATED = Rule("allocated-more", "noted", _ALLOCATED, "more than requested; the request counts")
ZERO_RUN = Rule("run-time-zero", "noted", _RUN, "kept: it ran for less than a second")
OVER_LIMIT = Rule("run-over-limit", "noted", _RUN, "it ran past its requested time; a simulation ends it at its limit")
UNSORTED = Rule("unsorted-submits", "noted", _SUBMIT, "before that of the row above; simulated in order of submission")
PARTIAL_RECORD = Rule("partial-execution", "noted", _STATUS, "a record of one part of a job, kept as a job of its own")
DEPENDENT = Rule("dependency-ignored", "noted", title("preceding_job_id"), "fields 17 and 18 are not acted upon")
REPEATED_ID = Rule("repeated-job-number", "noted", title("job_id"), "not the first row with this number; all are kept")
TOO_WIDE = Rule("wider-than-machine", "noted", _REQUESTED, "no machine of this size can run it")

Change = tuple[Rule, Mask, Column, Column | str]
"""What a profile of the reader did: its rule, the rows it touched, values before and after."""


@dataclass(frozen=True, slots=True)
class JobColumns:
    """What the rules made of a table: processors and limits of all rows, and where they come from."""

    nodes: Column
    limit_s: Column
    is_from_allocated: Mask
    is_from_run: Mask


def job_columns(table: SwfTable) -> JobColumns:
    """Return processors and limits of all rows of *table*, before any is refused."""
    columns = table.columns
    is_from_allocated = columns["requested"] <= 0
    is_from_run = columns["requested_s"] <= 0
    nodes = np.where(is_from_allocated, columns["allocated"], columns["requested"])
    limit_s = np.where(is_from_run, columns["run_s"], columns["requested_s"])
    return JobColumns(
        narrow(np.ceil(nodes)) if nodes.dtype.kind == "f" else nodes, limit_s, is_from_allocated, is_from_run
    )


def assess(table: SwfTable, jobs: JobColumns, changes: Iterable[Change] = ()) -> Assessment:
    """Apply all rules but the machine's to *table*; columns that hold fractions where none can be are mended.

    *changes* were made to the table before, by a profile of the reader, and are counted first.
    """
    node_s = np.maximum(jobs.nodes, 0).astype(float) * np.maximum(table.columns["run_s"], 0)
    assessment = Assessment(table.lines, node_s, table.findings)
    for change in changes:
        assessment.apply(*change)
    _refuse(table.columns, jobs, assessment)
    _mend(table.columns, jobs, assessment)
    _note_sizes_and_times(table.columns, jobs, assessment)
    _note_records(table.columns, assessment)
    return assessment


def note_too_wide(assessment: Assessment, jobs: JobColumns, machine: int) -> None:
    """Note the jobs that ask for more than the *machine*'s processors."""
    assessment.apply(TOO_WIDE, jobs.nodes > machine, jobs.nodes, f"machine of {machine}")


def _refuse(columns: dict[str, Column], jobs: JobColumns, assessment: Assessment) -> None:
    submit, run = columns["submit_s"], columns["run_s"]
    never_ran = run < 0
    assessment.apply(NEGATIVE_SUBMIT, submit < 0, submit, "no job")
    assessment.apply(CANCELLED_BEFORE_START, never_ran & (columns["status"] == CANCELLED), run, "no job")
    assessment.apply(NEVER_RAN, never_ran, run, "no job")
    assessment.apply(NO_PROCESSORS, jobs.nodes <= 0, jobs.nodes, "no job")
    assessment.apply(TOO_MANY, jobs.nodes > MOST_NODES, jobs.nodes, "no job")


def _mend(columns: dict[str, Column], jobs: JobColumns, assessment: Assessment) -> None:
    assessment.apply(NO_LIMIT, jobs.is_from_run, columns["requested_s"], jobs.limit_s)
    asked = np.where(jobs.is_from_allocated, columns["allocated"], columns["requested"])
    assessment.apply(PROCESSORS_ROUNDED, asked != jobs.nodes, asked, jobs.nodes)
    for name in sorted(WHOLE & {name for name, column in columns.items() if column.dtype.kind == "f"}):
        column = columns[name]
        broken = column != np.floor(column)
        if name != "requested":
            rule = Rule("fraction-dropped", "changed", title(name), "a fraction means nothing here: taken as not known")
            assessment.apply(rule, broken, column, str(MISSING))
        columns[name] = narrow(np.where(broken, MISSING, column))


def _note_sizes_and_times(columns: dict[str, Column], jobs: JobColumns, assessment: Assessment) -> None:
    allocated, requested, run = columns["allocated"], columns["requested"], columns["run_s"]
    both = (allocated > 0) & (requested > 0)
    assessment.apply(FROM_ALLOCATED, jobs.is_from_allocated, requested, allocated)
    assessment.apply(FEWER_ALLOCATED, both & (allocated < requested), allocated, requested)
    assessment.apply(MORE_ALLOCATED, both & (allocated > requested), allocated, requested)
    assessment.apply(ZERO_RUN, run == 0, run, run)
    assessment.apply(OVER_LIMIT, run > jobs.limit_s, run, jobs.limit_s)


def _note_records(columns: dict[str, Column], assessment: Assessment) -> None:
    assessment.apply(UNSORTED, _is_unsorted(columns["submit_s"], ~assessment.refused), columns["submit_s"], "kept")
    status, preceding = columns["status"], columns["preceding_job_id"]
    assessment.apply(PARTIAL_RECORD, np.isin(status, PARTIAL), status, status)
    assessment.apply(DEPENDENT, preceding > 0, preceding, "ignored")
    assessment.apply(REPEATED_ID, _is_repeated(columns["job_id"]), columns["job_id"], "kept")


def _is_unsorted(submit_s: Column, is_kept: Mask) -> Mask:
    """Tell which kept rows were submitted before the kept row above them."""
    rows = np.flatnonzero(is_kept)
    unsorted = np.zeros(len(submit_s), dtype=bool)
    unsorted[rows[1:][submit_s[rows[1:]] < submit_s[rows[:-1]]]] = True
    return unsorted


def _is_repeated(job_id: Column) -> Mask:
    """Tell which rows have a job number that stands in a row above."""
    repeated = np.ones(len(job_id), dtype=bool)
    if bool((job_id[1:] > job_id[:-1]).all()):
        repeated[:] = False
    else:
        repeated[np.unique(job_id, return_index=True)[1]] = False
    return repeated
