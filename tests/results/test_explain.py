"""Why did a job wait? Hand-worked cases, and on random runs a slow account of each second by the definition."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsim.cluster import Cluster
from hpcsim.decision import Reserve, Start, WakeAt
from hpcsim.errors import ResultError
from hpcsim.policies import EASY, FCFS, Conservative
from hpcsim.policy import Policy
from hpcsim.recorder import Recorder
from hpcsim.results.explain import CAUSE_COLUMNS, explain_all
from hpcsim.results.run import collect, simulate
from hpcsim.results.waiting_causes import CAUSES, Cause
from tests.properties.workloads import MACHINE, built_in_policies, workloads
from tests.schedules import jobs, policy_of, simulation


def seconds(explanation: Any) -> dict[str, float]:
    """Return the causes that hold for some time."""
    return {str(cause): value for cause, value in explanation.parts.items() if value}


def result_of(table: str, nodes: int, policy: Any, **options: Any) -> Any:
    return simulate(jobs(table), Cluster.of_nodes(nodes), policy, check=True, **options)


def test_too_few_free_nodes_are_shared_out_among_those_who_hold_them():
    """c wants 4 of 4 nodes: a holds 3 to 100, b holds 1 to 40. Until 40 a has 3/4 of the blame, then all of it."""
    result = result_of("a 0 100 100 3\nb 0 40 40 1\nc 0 10 10 4", 4, FCFS())
    why = result.explain("c")
    assert seconds(why) == {"too-few-free": 100}
    assert [(share.job_id, share.seconds) for share in why.holders] == [("a", 90), ("b", 10)]
    assert [tuple(stretch) for stretch in why.stretches] == [(0, 100, Cause.TOO_FEW_FREE, None)]


def test_a_reservation_holds_back_who_would_outlast_it():
    """EASY: b (4 nodes) is promised 100. c (1 node, limit 100) arrives at 10, fits beside a, and would end at 110."""
    result = result_of("a 0 100 100 3\nb 0 50 50 4\nc 10 100 100 1", 4, EASY())
    why = result.explain("c")
    assert seconds(why) == {"reservation": 90, "too-few-free": 50}
    assert [(share.job_id, share.seconds) for share in why.blockers] == [("b", 90)]
    assert [tuple(stretch) for stretch in why.stretches] == [
        (10, 100, Cause.RESERVATION, "b"),
        (100, 150, Cause.TOO_FEW_FREE, None),
    ]
    assert "a promise to another job; that is job b" in str(why)


def test_the_same_job_under_fcfs_is_held_back_by_choice():
    result = result_of("a 0 100 100 3\nb 0 50 50 4\nc 10 100 100 1", 4, FCFS())
    assert seconds(result.explain("c")) == {"policy": 90, "too-few-free": 50}


def test_choice_turns_into_reservation_when_the_time_left_gets_too_short():
    """Promise of b at 100; c (1 node, limit 30) would keep it until 70, and break it after. Nobody starts c."""

    def schedule(system):
        waiting = {job.job_id: job for job in system.queue}
        for name in ("a", "b", "c"):
            if name in waiting and system.fits(waiting[name]) and (name != "c" or system.now_s > 100):
                yield Start(waiting[name])
        if system.now_s == 0:
            yield Reserve(waiting["b"], 100)

    result = result_of("a 0 100 100 3\nb 0 50 50 4\nc 0 30 30 1", 4, policy_of(schedule))
    why = result.explain("c")
    assert seconds(why) == {"policy": 70, "reservation": 30, "too-few-free": 50}
    assert [stretch.from_s for stretch in why.stretches] == [0, 70, 100]


def test_extra_nodes_break_no_promise():
    """b (3 of 4) is promised 100, which leaves one node: c (1 node) may take it for ever, d (2 nodes) may not."""

    def schedule(system):
        for job in system.queue:
            if job.job_id == "a" or system.now_s >= 100:
                if system.fits(job):
                    yield Start(job)
            elif job.job_id == "b":
                yield Reserve(job, 100)

    result = result_of("a 0 100 100 2\nb 0 50 50 3\nc 0 500 500 1\nd 0 500 500 2", 4, policy_of(schedule))
    assert seconds(result.explain("c")) == {"policy": 100}
    assert seconds(result.explain("d"))["reservation"] == 100


def test_an_early_end_ends_the_blame_on_a_promise():
    """a ends at 50 instead of 100: b starts then, c waits for b."""
    result = result_of("a 0 50 100 3\nb 0 60 60 4\nc 0 200 200 1", 4, Conservative())
    assert seconds(result.explain("c")) == {"reservation": 50, "too-few-free": 60}


def test_a_withdrawn_promise_blocks_nobody():
    def schedule(system):
        waiting = {job.job_id: job for job in system.queue}
        if "a" in waiting:
            yield Start(waiting.pop("a"))
            yield Reserve(waiting["b"], 100)
        elif system.now_s == 40:
            yield Reserve(waiting["b"], math.inf)
        elif system.now_s >= 100:
            for job in waiting.values():
                if system.fits(job):
                    yield Start(job)

    result = result_of("a 0 100 100 3\nb 0 50 50 4\nc 0 200 200 1\nx 40 1 1 4", 4, policy_of(schedule))
    assert seconds(result.explain("c")) == {"reservation": 40, "policy": 60, "too-few-free": 50}


def test_jobs_that_never_started_are_explained_until_they_left():
    """Cut at 30: b still waits. z, too wide, is rejected at once."""
    result = result_of("a 0 100 100 3\nb 5 50 50 4\nz 6 1 1 9", 4, EASY(), until=30)
    why = result.explain("b")
    assert (why.waited_s, why.is_started, seconds(why)) == (25, False, {"too-few-free": 25})
    rejected = result.explain("z")
    assert (rejected.waited_s, seconds(rejected)) == (0, {})
    assert "left the queue (REJECTED)" in str(rejected)


def test_unlimited_jobs_break_every_promise_that_needs_their_nodes():
    result = result_of("a 0 100 100 3\nb 0 50 50 4\nc 0 10 inf 1", 4, EASY())
    assert seconds(result.explain("c")) == {"reservation": 100, "too-few-free": 50}


def test_a_job_is_found_by_its_id_or_its_row():
    result = result_of("7 0 10 10 1\n7 0 10 10 1\n8 0 10 10 1", 1, FCFS())
    assert result.explain(8).row == result.explain("8").row == 2
    assert result.explain(1, is_row=True).waited_s == 10
    with pytest.raises(ResultError, match="2 jobs are called 7: rows 0, 1"):
        result.explain(7)
    with pytest.raises(ResultError, match="no job 9"):
        result.explain(9)
    with pytest.raises(ResultError, match="no row 3"):
        result.explain(3, is_row=True)


def test_plain_data_is_json():
    result = result_of("a 0 100 100 3\nb 0 50 50 4\nc 10 100 100 1", 4, EASY())
    data = json.loads(json.dumps(result.explain("c").to_dict()))
    assert data["parts"]["reservation"] == 90
    assert data["stretches"][0] == {"from_s": 10, "to_s": 100, "cause": "reservation", "blocker": "b"}
    assert data["waited_s"] == 140


def test_a_saved_result_is_explained_as_well(tmp_path):
    from hpcsim.results.result import Result

    result = result_of("a 0 100 100 3\nb 0 50 50 4\nc 10 100 100 1", 4, EASY())
    result.save(tmp_path / "out")
    assert Result.load(tmp_path / "out").explain("c") == result.explain("c")


class Witness(Recorder):
    """Writes down, after each pass at which anything changed, free nodes, planned ends and promises."""

    def __init__(self) -> None:
        self.states: dict[float, tuple[int, list[tuple[float, int]], dict[int, float]]] = {}
        self._has_news = False

    def on_submit(self, job: Any, system: Any) -> None:
        self._has_news = True

    def on_end(self, job: Any, outcome: Any, system: Any) -> None:
        self._has_news = True

    def on_decision(self, decision: Any, system: Any) -> None:
        self._has_news |= not isinstance(decision, WakeAt)

    def on_pass(self, system: Any) -> None:
        if not self._has_news:
            return
        self._has_news = False
        ends = [(self._planned_end(run, system.now_s), run.job.nodes) for run in system.running]
        self.states[system.now_s] = (system.free, ends, dict(system.promised))

    @staticmethod
    def _planned_end(run: Any, now_s: float) -> float:
        is_overdue = run.limit_end_s <= now_s and run.start_s < now_s
        return now_s + 1 if is_overdue else run.limit_end_s


def cause_by_definition(witness: Witness, workload: Any, row: int, at_s: float) -> Cause:
    """Charge one instant by the words of the definition, looking at each moment at which a promise takes nodes."""
    now_s = max(time_s for time_s in witness.states if time_s <= at_s)
    free, ends, promised = witness.states[now_s]
    nodes, limit_s = workload.nodes, workload.limit_s
    if nodes[row] > free:
        return Cause.TOO_FEW_FREE
    claims = [
        (max(start_s, now_s), max(start_s, now_s) + max(limit_s[other], 1), nodes[other])
        for other, start_s in promised.items()
        if other != row and start_s < math.inf
    ]
    for moment_s, _, _ in claims:
        if moment_s < at_s + limit_s[row]:
            room = free + sum(n for end_s, n in ends if end_s <= moment_s)
            room -= sum(n for from_s, to_s, n in claims if from_s <= moment_s < to_s)
            if room < nodes[row]:
                return Cause.RESERVATION
    return Cause.POLICY


class Whim(Policy):
    """Promises and starts by the roll of a die: plans that cannot be kept, overdue promises, jobs left waiting."""

    def reset(self, cluster, rng):
        self._die = rng

    def schedule(self, system):
        for job in system.queue:
            roll = self._die.integers(6)
            if roll < 2:
                yield Reserve(job, math.inf if roll else system.now_s + int(self._die.integers(12)))
            elif roll < 4 and system.fits(job):
                yield Start(job)
        if len(system.queue):
            yield WakeAt(system.now_s + 1 + int(self._die.integers(8)))


@settings(max_examples=40)
@given(workloads(), st.one_of(built_in_policies(), st.builds(Whim)), st.booleans())
def test_every_second_is_charged_as_the_definition_says(workload, policy, is_strict):
    """Whole seconds: nothing changes inside one, so its middle stands for it."""
    witness = Witness()
    sim = simulation(workload, MACHINE, policy, recorders=[witness], **({} if is_strict else {"grace_s": 2}))
    sim.run()
    result = collect(sim)
    table = explain_all(result)
    for index, job in enumerate(result.jobs.itertuples()):
        wanted = dict.fromkeys(CAUSES, 0.0)
        for second in np.arange(job.submit_s, job.start_s):
            wanted[cause_by_definition(witness, workload, job.row, second + 0.5)] += 1
        assert {cause: table[CAUSE_COLUMNS[cause]].iloc[index] for cause in CAUSES} == wanted
        if job.wait_s == result.jobs["wait_s"].max():
            assert result.explain(job.row, is_row=True).parts == wanted


@given(workloads(is_fractional=True, has_unlimited=True), built_in_policies())
def test_parts_are_never_negative_and_sum_to_the_wait(workload, policy):
    result = simulate(workload, Cluster.of_nodes(MACHINE), policy)
    table = explain_all(result)
    parts = table[list(CAUSE_COLUMNS.values())]
    assert (parts >= 0).all(axis=None)
    assert parts.sum(axis=1).to_numpy() == pytest.approx(result.jobs["wait_s"].to_numpy(), abs=1e-6)
    job = result.jobs.iloc[int(np.argmax(table["waited_s"]))]
    why = result.explain(int(job["row"]), is_row=True)
    assert list(why.parts.values()) == pytest.approx(parts.iloc[int(np.argmax(table["waited_s"]))].tolist(), abs=1e-6)
    assert sum(s.to_s - s.from_s for s in why.stretches) == pytest.approx(why.waited_s, abs=1e-6)
    assert sum(share.seconds for share in why.holders) == pytest.approx(why.parts[Cause.TOO_FEW_FREE], abs=1e-6)


@given(workloads())
def test_easy_never_holds_a_job_back_by_mere_choice(workload):
    """With its one reservation and every limit kept, whoever waits lacks nodes or would break the promise."""
    table = explain_all(simulate(workload, Cluster.of_nodes(MACHINE), EASY()))
    assert table["policy_s"].sum() == 0
