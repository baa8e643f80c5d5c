"""Job for job the same start times as the reference scheduler, on whole real traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.oracle.cases import (
    DIGESTS,
    POLICIES,
    TRACES,
    Trace,
    digest,
    first_difference,
    our_starts,
    read_jobs,
    reference_starts,
)

CASES = [pytest.param(trace, case, id=f"{trace.name}-{case}") for trace in TRACES for case in POLICIES]
KTH = Trace("KTH-SP2-1996-2.1-cln", 100)


@pytest.mark.parametrize(("trace", "case"), CASES)
def test_whole_schedule_equals_the_reference(shared: Path, trace: Trace, case: str) -> None:
    """The digest of our starts is the reference's; where it is not, the first differing job is named."""
    expected = json.loads(DIGESTS.read_text(encoding="utf-8"))[trace.name]
    jobs = read_jobs(shared, trace)
    assert str(len(jobs)) == expected["jobs"], "the trace is another one: run python -m tests.oracle.make_digests"
    ours = our_starts(jobs, trace.processors, case)
    if digest(ours) != expected[case]:
        theirs = reference_starts(shared, read_jobs(shared, trace), trace.processors, case)
        pytest.fail(first_difference(jobs, ours, theirs) or "digests.json is stale: the reference agrees with us")


@pytest.mark.nightly
@pytest.mark.parametrize(("trace", "case"), CASES)
def test_whole_schedule_equals_the_reference_recomputed(shared: Path, trace: Trace, case: str) -> None:
    """As above, without trusting the stored digests."""
    jobs = read_jobs(shared, trace)
    theirs = reference_starts(shared, jobs, trace.processors, case)
    assert first_difference(jobs, our_starts(jobs, trace.processors, case), theirs) == ""


@pytest.mark.parametrize("case", ["fcfs", "easy", "conservative-early"])
def test_jobs_that_outlive_their_limits_as_the_reference(shared: Path, case: str) -> None:
    """Without killing, an estimate already passed counts as "ends one second later"."""
    trace = Trace(KTH.name, KTH.processors, 5000)
    jobs = read_jobs(shared, trace, kill=False)
    assert any(job.run > job.request for job in jobs), "no job outlives its limit: the test tests nothing"
    theirs = reference_starts(shared, jobs, trace.processors, case)
    ours = our_starts(jobs, trace.processors, case, kill_at_limit=False)
    assert first_difference(jobs, ours, theirs) == ""


@pytest.mark.nightly
@pytest.mark.parametrize(
    "trace", [Trace("RICC-2010-2", 8192), Trace("CEA-Curie-2011-2.1-cln", 93_312)], ids=lambda trace: trace.name
)
def test_the_largest_traces_run_to_the_end(shared: Path, trace: Trace) -> None:
    """Deep queues and wide machines under EASY with the checker on: every job starts, none is lost."""
    jobs = read_jobs(shared, trace)
    ours = our_starts(jobs, trace.processors, "easy")
    assert len(ours) == len(jobs)
    assert all(start >= job.submit for start, job in zip(ours, jobs, strict=True))
