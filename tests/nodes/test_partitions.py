"""Hand-worked schedules on machines whose nodes differ."""

from __future__ import annotations

from typing import Any

import pytest

from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.decision import Reserve, Start
from hpcsim.errors import InvalidDecision
from hpcsim.policies import EASY, FCFS, Backfill, Conservative
from hpcsim.workload import Workload
from tests.nodes.promises import Promises
from tests.schedules import gantt, outcomes, policy_of, run, simulation, starts

OVERLAP = Cluster(
    groups=(NodeGroup(name="old", nodes=2), NodeGroup(name="both", nodes=2), NodeGroup(name="new", nodes=2)),
    partitions=(
        Partition(name="left", groups=("old", "both"), max_limit_s=100),
        Partition(name="right", groups=("both", "new"), max_nodes=3),
    ),
)
"""Nodes 0-1 only left, 2-3 in both, 4-5 only right."""

GPUS = Cluster(
    groups=(
        NodeGroup(name="plain", nodes=3, cores=8, memory_bytes=64),
        NodeGroup(name="fat", nodes=1, cores=8, memory_bytes=256),
        NodeGroup(name="gpu", nodes=2, cores=8, gpus=4, memory_bytes=64, features=frozenset({"nvlink"})),
    )
)
"""Nodes 0-2 plain, 3 fat, 4-5 with GPUs."""


def workload(rows: list[tuple[Any, ...]], **columns: Any) -> Workload:
    """Return jobs of (id, submit, run time, limit, nodes) with further columns."""
    ids, submit, run_s, limit, nodes = zip(*rows, strict=True)
    return Workload.of(job_id=ids, submit_s=submit, run_s=run_s, limit_s=limit, nodes=nodes, **columns)


def partitioned(*rows: tuple[Any, ...]) -> Workload:
    """Return jobs of (id, submit, run time, limit, nodes, partitions)."""
    return workload([row[:5] for row in rows], partitions=[tuple(row[5].split()) for row in rows])


def test_a_blocked_job_stops_only_those_that_want_the_same_nodes() -> None:
    """a takes the left partition's four nodes; b waits for two of them; c wants right, of which 4-5 are free."""
    jobs = partitioned(("a", 0, 10, 10, 4, "left"), ("b", 1, 5, 5, 4, "left"), ("c", 2, 5, 5, 2, "right"))
    apart = Cluster(
        groups=OVERLAP.groups,
        partitions=(Partition(name="left", groups=("old", "both")), Partition(name="right", groups=("new",))),
    )
    for policy in ("fcfs", "sjf", "easy", "conservative"):
        assert starts(jobs, apart, policy) == {"a": 0, "b": 10, "c": 2}


def test_fcfs_stops_a_job_that_overlaps_a_stopped_one() -> None:
    """b waits for left. c could want b's nodes 2-3, so c waits although 4-5 are free, and so does d behind c."""
    jobs = partitioned(
        *(("a", 0, 10, 10, 4, "left"), ("b", 1, 5, 5, 4, "left")),
        *(("c", 2, 5, 5, 2, "right"), ("d", 3, 1, 1, 1, "right")),
    )
    assert starts(jobs, OVERLAP, "fcfs") == {"a": 0, "b": 10, "c": 10, "d": 15}


def test_easy_lets_a_job_use_nodes_that_the_reserved_one_cannot() -> None:
    """As above; b's reservation at 10 needs 0-3. c runs to 22 on 4-5, which b cannot use, so b is not later."""
    jobs = partitioned(("a", 0, 10, 10, 4, "left"), ("b", 1, 5, 5, 4, "left"), ("c", 2, 20, 20, 2, "right"))
    assert gantt(jobs, OVERLAP, "easy") == [("a", 0, "0-3"), ("c", 2, "4-5"), ("b", 10, "0-3")]


def test_a_job_of_two_partitions_takes_the_first_that_has_room() -> None:
    """Right's nodes are held or reserved; left has 0-1."""
    jobs = partitioned(
        *(("a", 0, 10, 10, 2, "right"), ("z", 0, 10, 10, 2, "right"), ("b", 1, 5, 5, 3, "right")),
        ("c", 2, 50, 50, 2, "left right"),
    )
    assert gantt(jobs, OVERLAP, "easy") == [("a", 0, "2-3"), ("z", 0, "4-5"), ("c", 2, "0-1"), ("b", 10, "2-4")]


def test_a_later_job_is_moved_off_contested_nodes() -> None:
    """h holds 0-1. b wants all of x (0-3) and is promised 10. c may use x or y and would by default take node 2
    until 51, which delays b; on node 4 it delays nobody. e ends at 10, when b starts: it may have node 2."""
    cluster = Cluster(
        groups=(NodeGroup(name="x", nodes=4, features=frozenset({"ib"})), NodeGroup(name="y", nodes=4)),
    )
    jobs = workload(
        [("h", 0, 10, 10, 2), ("b", 1, 5, 5, 4), ("c", 1, 50, 50, 1), ("e", 1, 9, 9, 1)],
        features=[frozenset({"ib"}), frozenset({"ib"}), frozenset(), frozenset()],
    )
    assert gantt(jobs, cluster, "easy") == [("h", 0, "0-1"), ("c", 1, "4"), ("e", 1, "2"), ("b", 10, "0-3")]


def test_limits_and_sizes_of_partitions_choose_the_partition() -> None:
    """Left takes limits up to 100 s, right widths up to three; the first that allows a job and has room takes it."""
    jobs = partitioned(
        *(("long", 0, 101, 101, 2, ""), ("wide", 0, 1, 1, 4, ""), ("both", 0, 1, 101, 4, "")),
        ("named", 0, 1, 101, 1, "left"),
    )
    found = outcomes(jobs, OVERLAP, "easy")
    assert (found["long"].start_s, found["long"].node_ids) == (0, "2-3")
    assert (found["wide"].start_s, found["wide"].node_ids) == (101, "0-3")
    assert found["both"].reason == (
        "limit 101 s exceeds the 100 s of partition left; wants 4 nodes, partition right allows 3"
    )
    assert found["named"].reason == "limit 101 s exceeds the 100 s of partition left"


def test_gpu_and_memory_requests_wait_for_their_nodes() -> None:
    """g2 waits for the GPU nodes that g1 holds, m2 for the fat one; plain jobs pass, since they want others too."""
    jobs = workload(
        [("g1", 0, 10, 10, 2), ("m1", 0, 20, 20, 1), ("g2", 1, 5, 5, 1), ("m2", 1, 5, 5, 1), ("p", 2, 5, 5, 3)],
        gpus_per_node=[4, 0, 1, 0, 0],
        memory_bytes_per_node=[0, 200, 0, 100, 0],
    )
    expected = [("g1", 0, "4-5"), ("m1", 0, "3"), ("p", 2, "0-2"), ("g2", 10, "4"), ("m2", 20, "3")]
    assert gantt(jobs, GPUS, "easy") == expected
    assert gantt(jobs, GPUS, Backfill(reservations=3)) == expected
    assert gantt(jobs, GPUS, "conservative") == expected


def test_a_wide_job_behind_a_blocked_one_is_not_starved_of_its_own_nodes() -> None:
    """h waits for a GPU until 10. w wants all six nodes. n would run to 103 on a plain node: EASY lets it pass, for
    w has no reservation beside h's; with two reservations w has one, at 15, and n waits for w."""
    rows = [("a", 0, 10, 10, 2), ("h", 1, 5, 5, 1), ("w", 2, 5, 5, 6), ("n", 3, 100, 100, 1)]
    jobs = workload(rows, gpus_per_node=[4, 1, 0, 0])
    assert starts(jobs, GPUS, EASY()) == {"a": 0, "h": 10, "w": 103, "n": 3}
    assert starts(jobs, GPUS, Backfill(reservations=2)) == {"a": 0, "h": 10, "w": 15, "n": 20}
    assert starts(jobs, GPUS, Conservative()) == {"a": 0, "h": 10, "w": 15, "n": 20}


def test_a_stopped_job_stops_others_in_turn() -> None:
    """x holds 0 and 1 of a, y both of b. h wants both of a: promised 10. j wants three of a and b: stopped by h.
    k wants both of b: j, which waits before it, could want them too, so k is promised nothing."""
    cluster = Cluster(
        groups=(NodeGroup(name="a", nodes=2, gpus=1), NodeGroup(name="b", nodes=2, features=frozenset({"ib"})))
    )
    rows = [("x", 0, 10, 10, 2), ("y", 0, 20, 20, 2), ("h", 1, 5, 5, 2), ("j", 2, 5, 5, 3), ("k", 3, 5, 5, 2)]
    ib = frozenset({"ib"})
    jobs = workload(rows, gpus_per_node=[1, 0, 1, 0, 0], features=[frozenset(), ib, frozenset(), frozenset(), ib])
    promises = Promises()
    assert starts(jobs, cluster, "easy", recorders=[promises]) == {"x": 0, "y": 0, "h": 10, "j": 20, "k": 25}
    assert promises.made == [(1, 2, 10), (10, 3, 20), (20, 4, 25)]


def test_features_are_asked_of_every_node() -> None:
    """Only two nodes have nvlink."""
    jobs = workload([("a", 0, 1, 1, 2), ("b", 0, 1, 1, 3)], features=[frozenset({"nvlink"})] * 2)
    found = outcomes(jobs, GPUS, "fcfs")
    assert found["a"].node_ids == "4-5"
    assert found["b"].reason == "wants 3 nodes, the most it can ever have is 2"


def test_allocation_sizes_round_up() -> None:
    """On 8 nodes in blocks of 2, 4, 8: a job of 3 holds 4, so one of 5, which takes 8, waits for it."""
    cluster = Cluster(groups=(NodeGroup(nodes=8, allocation_sizes=(2, 4, 8)),))
    jobs = workload([("a", 0, 10, 10, 3), ("b", 1, 5, 5, 5), ("c", 2, 3, 3, 1), ("d", 2, 9, 9, 3), ("e", 3, 1, 1, 9)])
    assert gantt(jobs, cluster, "easy") == [("a", 0, "0-3"), ("c", 2, "4-5"), ("b", 10, "0-7"), ("d", 15, "0-3")]
    assert outcomes(jobs, cluster, "easy")["e"].reason == "wants 9 nodes, the most it can ever have is 8"


def test_a_policy_may_name_nodes_and_only_right_ones() -> None:
    """Of another partition, too few, taken, or no nodes of the machine: refused, and nothing changes."""
    jobs = partitioned(("a", 0, 10, 10, 2, "left"), ("b", 0, 10, 10, 2, "left"))
    sim = simulation(jobs, OVERLAP, None)
    view = sim.run_to_decision()
    assert view is not None
    first, second = view.queue
    for nodes, words in (([3, 4], "one partition"), ([1], "not so many"), ([5, 6], "nodes of this machine")):
        with pytest.raises(InvalidDecision, match=words):
            sim.apply(Start(first, nodes))
    sim.apply(Start(first, [1, 3]))
    with pytest.raises(InvalidDecision, match="not all of them free"):
        sim.apply(Start(second, [0, 1]))
    sim.apply(Reserve(second, 10, [0, 1]))
    sim.apply(Start(second, [0, 2]))
    with pytest.raises(InvalidDecision, match="is already running"):
        sim.apply(Start(second))
    assert view.free == 2
    assert [entry.node_ids for entry in view.running] == ["1,3", "0,2"]


def test_what_the_view_says() -> None:
    """Eligible groups, earliest starts by kind of node, counts over all nodes."""
    jobs = workload([("a", 0, 10, 10, 2), ("b", 1, 5, 5, 1), ("p", 1, 5, 5, 1)], gpus_per_node=[4, 1, 0])
    sim = simulation(jobs, GPUS, None)
    view = sim.run_to_decision()
    assert view is not None
    assert not view.nodes_are_alike
    sim.apply(Start(view.queue[0]))
    view = sim.run_to_decision()
    assert view is not None
    gpu, plain = view.queue
    assert view.competes_for(gpu) == {"gpu"}
    assert view.competes_for(plain) == {"plain", "fat", "gpu"}
    assert (view.fits(gpu), view.fits(plain)) == (False, True)
    assert (view.earliest_start_s(gpu), view.earliest_start_s(plain)) == (10, 1)
    assert (view.free, view.shadow(6), view.profile().free) == (4, (10, 0), [4, 6])


def test_a_policy_that_counts_nodes_still_runs() -> None:
    """One that knows nothing of kinds of nodes: it stops at the first job that does not fit."""

    def schedule(system: Any) -> Any:
        for job in system.queue:
            if not system.fits(job):
                return
            yield Start(job)

    jobs = workload([("g1", 0, 10, 10, 2), ("g2", 1, 5, 5, 1), ("p", 2, 5, 5, 3)], gpus_per_node=[4, 1, 0])
    assert starts(jobs, GPUS, policy_of(schedule)) == {"g1": 0, "g2": 10, "p": 10}
    assert starts(jobs, GPUS, FCFS()) == {"g1": 0, "g2": 10, "p": 10}


def test_jobs_share_nodes() -> None:
    """Two nodes of 4 cores and 8 bytes. Two jobs of 2 cores share node 0; x is alone on node 1; c's memory goes
    beside neither until a ends; y waits for a whole node."""
    cluster = Cluster.of_nodes(2, cores=4, memory_bytes=8)
    jobs = workload(
        [("a", 0, 10, 10, 1), ("b", 0, 30, 30, 1), ("x", 0, 20, 20, 1), ("c", 1, 5, 5, 1), ("y", 2, 5, 5, 1)],
        exclusive=[False, False, True, False, True],
        cores_per_node=[2, 2, 1, 1, 1],
        memory_bytes_per_node=[4, 4, 0, 4, 0],
    )
    assert gantt(jobs, cluster, "easy") == [
        *(("a", 0, "0"), ("b", 0, "0"), ("x", 0, "1"), ("c", 10, "0"), ("y", 20, "1")),
    ]


def test_shared_jobs_of_several_nodes_and_the_checker() -> None:
    """Three jobs of two nodes and one core each, on two nodes of two cores: the third waits, for every policy."""
    jobs = workload([("a", 0, 4, 4, 2), ("b", 0, 4, 4, 2), ("c", 0, 4, 4, 2)], exclusive=[False] * 3)
    cluster = Cluster.of_nodes(2, cores=2)
    for policy in ("fcfs", "easy", "conservative", Backfill(reservations=2)):
        assert starts(jobs, cluster, policy) == {"a": 0, "b": 0, "c": 4}
    columns = run(jobs, cluster, "easy")
    assert list(columns.node_ids()) == ["0-1"] * 3
