"""Passes in which somebody chooses: what a rule makes of them, against policies and a plain loop of its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsim import registry
from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.decision import Start
from hpcsim.errors import HpcsimError
from hpcsim.job import Job
from hpcsim.policies import F1, FCFS, SAF, SJF, WFP3, Backfill, EasySJBF
from hpcsim.policies.learning.heads import BACKFILLS, CommittedHead, OrderedHeads
from hpcsim.policy import Order
from hpcsim.registry import make
from hpcsim.system import System
from hpcsim.workload import Workload
from tests.properties.workloads import MACHINE, workloads
from tests.schedules import jobs, outcomes_of, run, simulation, starts

KEYS: dict[str, Any] = {
    "fcfs": lambda row, limit, nodes: row,
    "sjf": lambda row, limit, nodes: (limit, row),
    "saf": lambda row, limit, nodes: (limit * nodes, row),
}


class ByArrival(Order):
    """The queue's own order, or shortest first: ties by their place in the log, whatever the heads' order."""

    shortest: bool = False

    def key(self, job: Job, system: System) -> Any:
        """Return submit time and place, behind the request where that counts."""
        return (job.limit_s if self.shortest else 0, job.submit_s, job.row)


def start_times(workload: Workload, policy: Any, **options: Any) -> list[float]:
    columns = run(workload, MACHINE, policy, **options)
    return [columns.attempt_start_s[attempt] for attempt in columns.attempt_of()]


def plain_starts(workload: Workload, order: str, backfill: str) -> list[float]:
    """Return starts by a loop over instants that shares nothing with the product; row order is queue order."""
    names = ("submit_s", "run_s", "limit_s", "nodes")
    submit, length, limit, nodes = (workload.columns[name].tolist() for name in names)
    arrival = sorted(range(len(submit)), key=lambda row: (submit[row], row))
    place = {row: at for at, row in enumerate(arrival)}
    start: dict[int, float] = {}
    end = lambda row: start[row] + min(length[row], limit[row])  # noqa: E731
    head: int | None = None
    now = -math.inf
    while len(start) < len(submit):
        coming = [submit[row] for row in arrival if submit[row] > now] + [end(row) for row in start if end(row) > now]
        now = min(coming)
        while True:  # a job of no length ends at its start instant, which opens another round
            free = MACHINE - sum(nodes[row] for row in start if end(row) > now)
            waiting = [row for row in arrival if submit[row] <= now and row not in start]
            if head is None and waiting:
                head = min(waiting, key=lambda row: KEYS[order](place[row], limit[row], nodes[row]))
            if head is None:
                break
            if nodes[head] <= free:
                start[head], head = now, None
                continue
            running = [row for row in start if end(row) > now]
            shadow = min(
                t
                for t in (start[row] + limit[row] for row in running)
                if free + sum(nodes[r] for r in running if start[r] + limit[r] <= t) >= nodes[head]
            )
            extra = free + sum(nodes[r] for r in running if start[r] + limit[r] <= shadow) - nodes[head]
            behind = [row for row in waiting if row != head] if backfill != "none" else []
            if backfill == "easy-sjbf":
                behind.sort(key=lambda row: (limit[row], place[row]))
            for row in behind:
                if nodes[row] <= free and (now + limit[row] <= shadow or nodes[row] <= extra):
                    extra -= nodes[row] if now + limit[row] > shadow else 0
                    free -= nodes[row]
                    start[row] = now
            break
    return [start[row] for row in range(len(submit))]


@settings(max_examples=60)
@given(
    workload=workloads(),
    backfill=st.sampled_from(["none", "easy", "easy-sjbf"]),
    order=st.sampled_from(["fcfs", "sjf", "saf", "wfp3"]),
)
def test_heads_that_are_asked_for_anew_give_the_rule_itself(workload: Workload, backfill: str, order: str) -> None:
    """A rule in an agent's place, asked at each pass, is that rule with backfilling: other code, the same schedule."""
    rule = Backfill(
        order=make("orders", order),
        backfill_order=ByArrival(shortest=backfill == "easy-sjbf"),
        depth=0 if backfill == "none" else None,
    )
    anew = OrderedHeads(order=make("orders", order), backfill=backfill, keeps_heads=False)
    assert start_times(workload, anew) == start_times(workload, rule)


@pytest.mark.parametrize("backfill", ["none", "easy", "easy-sjbf"])
def test_asked_anew_over_a_long_queue_they_are_the_rule_as_well(backfill: str) -> None:
    """500 jobs that come faster than the machine serves them, many passes of which see arrivals alone."""
    log = registry.make("models", "lublin", jobs=500, nodes=64, load=2, seed=4)
    rule = Backfill(
        order=SAF(),
        backfill_order=ByArrival(shortest=backfill == "easy-sjbf"),
        depth=0 if backfill == "none" else None,
    )
    ours = run(log, 64, OrderedHeads(order=SAF(), backfill=backfill, keeps_heads=False)).attempt_start_s
    assert ours == run(log, 64, rule).attempt_start_s


def test_a_head_gives_way_to_one_chosen_later_and_so_does_its_promise() -> None:
    """b, of all 4 nodes, leads from 1 on, until c, shorter, comes at 2: b stays the head, or c goes first."""
    table = jobs("a 0 10 10 2\nb 1 20 20 4\nc 2 9 9 3")
    assert starts(table, 4, OrderedHeads(order=SJF())) == {"a": 0, "b": 10, "c": 30}
    assert starts(table, 4, OrderedHeads(order=SJF(), keeps_heads=False)) == {"a": 0, "b": 19, "c": 10}


def test_what_is_backfilled_beside_a_new_head_goes_by_its_own_shadow() -> None:
    """b leads from 1 on and leaves nothing over; c, of 3 nodes, leads from 2 on and leaves one, which d takes at 3."""
    table = jobs("a 0 10 10 2\nb 1 20 20 4\nc 2 5 5 3\nd 3 100 100 1")
    assert starts(table, 4, OrderedHeads(order=SAF(), keeps_heads=False)) == {"a": 0, "b": 103, "c": 10, "d": 3}
    columns = run(table, 4, OrderedHeads(order=SAF(), keeps_heads=False))
    promised = list(zip(columns.promise_at_s, columns.promise_row, columns.promise_start_s, strict=True))
    assert promised[:3] == [(1, 1, 10), (2, 1, math.inf), (2, 2, 10)]  # that of b is taken back when c leads


def test_a_job_that_arrives_and_leads_at_once_is_not_backfilled_as_well() -> None:
    """c, smaller than the head b, comes at 2 and starts as the new head; b leads again, by a shadow of its own.

    d, of one node, could start beside it, had c not taken the one that b leaves over.
    """
    table = jobs("a 0 10 10 2\nb 1 20 20 3\nc 2 12 12 1\nd 3 25 25 1")
    assert starts(table, 4, OrderedHeads(order=SJF(), keeps_heads=False)) == {"a": 0, "b": 10, "c": 2, "d": 14}
    assert starts(table, 4, OrderedHeads(order=SJF(), keeps_heads=False)) == starts(table, 4, Backfill(order=SJF()))


def test_a_protocol_that_keeps_heads_is_not_told_otherwise() -> None:
    with pytest.raises(HpcsimError, match="keeps its heads"):
        OrderedHeads(backfill="rlscheduler", keeps_heads=False)
    with pytest.raises(HpcsimError, match="keeps_heads is 1"):
        OrderedHeads(keeps_heads=1)


@settings(max_examples=60)
@given(workload=workloads(), backfill=st.sampled_from(["none", "easy", "easy-sjbf"]), order=st.sampled_from(list(KEYS)))
def test_committed_heads_start_when_a_plain_loop_starts_them(workload: Workload, backfill: str, order: str) -> None:
    workload = workload.select(np.flatnonzero(workload.run_s > 0), "some length")
    if len(workload):
        ours = start_times(workload, OrderedHeads(order=make("orders", order), backfill=backfill))
        assert ours == plain_starts(workload, order, backfill)


@settings(max_examples=60)
@given(workload=workloads(has_unlimited=True), policy=st.sampled_from(["easy", "easy-sjbf"]))
def test_heads_by_arrival_are_those_of_easy(workload: Workload, policy: str) -> None:
    """Nobody who comes later is before a head by arrival, so that to commit to it changes nothing."""
    assert start_times(workload, OrderedHeads(order=FCFS(), backfill=policy)) == start_times(workload, policy)


@settings(max_examples=60)
@given(
    workload=workloads(has_unlimited=True),
    order=st.sampled_from([FCFS, SJF, SAF, F1, WFP3]),
    depth=st.sampled_from([0, None]),
)
def test_the_protocol_is_rlschedulers(workload: Workload, order: type[Order], depth: int | None) -> None:
    backfill = "rlscheduler" if depth is None else "rlscheduler-none"
    theirs = Backfill(order=order(), protocol="rlscheduler", depth=depth)
    ours = OrderedHeads(order=order(), backfill=backfill)
    assert start_times(workload, ours, kill_at_limit=False) == start_times(workload, theirs, kill_at_limit=False)


def test_a_head_stays_the_head_whoever_arrives() -> None:
    """b (wide) is chosen at 1 while a holds all; c, shorter, comes at 2: by SJF it would lead, but b is committed."""
    workload = jobs("a 0 10 10 4\n b 1 10 10 4\n c 2 5 5 4")
    assert starts(workload, 4, OrderedHeads(order=SJF(), backfill="none")) == {"a": 0, "b": 10, "c": 20}
    assert starts(workload, 4, SJF()) == {"a": 0, "c": 10, "b": 15}


def test_arrivals_share_what_is_left_beside_the_head() -> None:
    """a holds 2 of 5 nodes until 10, b heads for 4: one node is extra. c takes it at 2 for long; d, at 3, may not.

    So d waits for the head: at 10 b starts on 4, c holds the last.
    """
    workload = jobs("a 0 10 10 2\n b 1 10 10 4\n c 2 30 30 1\n d 3 30 30 1")
    found = starts(workload, 5, OrderedHeads(order=FCFS(), backfill="easy"))
    assert found == {"a": 0, "b": 10, "c": 2, "d": 20}


def test_a_cancelled_head_gives_way() -> None:
    workload = jobs("a 0 10 10 4\n b 1 10 10 4\n c 2 5 5 4")
    sim = simulation(workload, 4, OrderedHeads(order=SJF(), backfill="easy"))
    sim.run(until=3)
    head = next(job for job in sim.system.queue if job.job_id == "b")
    sim.cancel(head)
    sim.run()
    assert outcomes_of(sim.finish(), workload)["c"].start_s == 10


@pytest.mark.parametrize("backfill", ["none", "easy", "easy-sjbf"])
def test_heads_on_a_machine_of_unlike_nodes(backfill: str) -> None:
    """The head of one partition does not hold up the other where jobs are backfilled; invariants are watched."""
    machine = Cluster(
        groups=(NodeGroup(name="cpu", nodes=2), NodeGroup(name="gpu", nodes=2, gpus=1)),
        partitions=(Partition(name="c", groups=("cpu",)), Partition(name="g", groups=("gpu",))),
    )
    workload = jobs("a 0 10 10 2\n b 1 5 5 2\n x 2 5 5 2")
    workload.columns["partitions"] = np.fromiter([("c",), ("c",), ("g",)], dtype=object, count=3)
    found = starts(workload, machine, OrderedHeads(order=FCFS(), backfill=backfill))
    assert found == {"a": 0, "b": 10, "x": 10 if backfill == "none" else 2}


def test_a_typo_in_backfill_is_told() -> None:
    with pytest.raises(HpcsimError, match=r"backfill is 'easy-sjfb'\. Did you mean 'easy-sjbf'"):
        OrderedHeads(backfill="easy-sjfb")


def test_a_question_unanswered_by_force_is_put_on_demand() -> None:
    """With one job waiting nobody is asked, unless forced decisions are not to be skipped."""
    for skips, asked in ((True, 0), (False, 1)):
        sim = simulation(jobs("a 0 1 1 1"), 1, None)
        view = sim.run_to_decision()
        assert view is not None
        head = CommittedHead("easy", skip_forced=skips)
        head.reset(sim.cluster)
        said = head.schedule(view).send(None)
        assert isinstance(said, Start) is not bool(asked)


def test_every_backfilling_has_a_pass() -> None:
    workload = jobs("a 0 10 10 3\n b 1 10 10 4\n c 2 5 5 1")
    assert {name: len(starts(workload, 4, OrderedHeads(backfill=name))) for name in BACKFILLS} == (
        dict.fromkeys(BACKFILLS, 3)
    )


def test_sjbf_is_easy_sjbf(shared: Any) -> None:
    """On 2,000 jobs of a log, whose queues are deep enough for the columns."""
    from hpcsim.workloads.readers.swf import read_swf

    workload = read_swf(shared / "traces" / "SDSC-SP2-1998-4.2-cln.swf.gz").head(2000)
    theirs = run(workload, 128, EasySJBF())
    ours = run(workload, 128, OrderedHeads(order=FCFS(), backfill="easy-sjbf"))
    assert list(ours.attempt_start_s) == list(theirs.attempt_start_s)
