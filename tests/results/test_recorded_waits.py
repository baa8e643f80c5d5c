"""Why did a job wait where nodes differ or have power? Hand-worked cases, and an account of another kind as witness."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from hpcsim import Cluster, NodeGroup, NodePower, Partition, Result, Simulation, Workload, simulate
from hpcsim.decision import Start, WakeAt
from hpcsim.errors import Unsupported
from hpcsim.policies import EASY, FCFS
from hpcsim.power import CapStep
from hpcsim.results.explain import CAUSE_COLUMNS, explain_all
from hpcsim.results.recorded_waits import split_recorded
from hpcsim.results.run import collect
from hpcsim.results.wait_recorder import WaitRecorder
from hpcsim.results.waiting_causes import Cause
from tests.nodes.test_any_machine import machines, mixed_workloads
from tests.properties.workloads import MACHINE, built_in_policies, workloads
from tests.schedules import jobs, policy_of

WATTS = NodePower(idle_w=100, busy_w=300)


def seconds(result: Result, job: Any) -> dict[str, float]:
    why = result.explain(job)
    assert sum(why.parts.values()) == pytest.approx(why.waited_s)
    return {str(cause): value for cause, value in why.parts.items() if value}


def powered(nodes: int = 2, **cap: Any) -> Cluster:
    return Cluster(groups=(NodeGroup(name="all", nodes=nodes, power=WATTS),), **cap)


@settings(max_examples=30)
@given(workloads(), built_in_policies())
def test_recorded_and_derived_accounts_are_the_same_where_both_can_be_had(workload, policy):
    """On identical nodes: one asks the plan after each pass, the other works on the finished tables."""
    recorder = WaitRecorder()
    sim = Simulation(workload, Cluster.of_nodes(MACHINE), policy, recorders=[recorder])
    sim.run()
    result = collect(sim)
    waits = recorder.table(result.jobs, result.provenance["clock_s"])
    derived = explain_all(result)[list(CAUSE_COLUMNS.values())].to_numpy()
    assert (split_recorded(result, waits, np.arange(len(result.jobs))) == derived).all()


@settings(max_examples=30)
@given(mixed_workloads(), machines(), built_in_policies())
def test_parts_sum_to_the_wait_on_any_machine(workload, cluster, policy):
    try:
        result = simulate(workload, cluster, policy, explain=True)
    except Unsupported as refusal:
        assert "counts nodes" in str(refusal)  # noqa: PT017 - only some policies refuse
        return
    table = explain_all(result)
    parts = table[list(CAUSE_COLUMNS.values())]
    assert (parts >= 0).all(axis=None)
    assert parts.sum(axis=1).to_numpy() == pytest.approx(table["waited_s"].to_numpy(), abs=1e-6)
    if len(table):
        longest = int(np.argmax(table["waited_s"]))
        why = result.explain(int(result.jobs["row"].iloc[longest]), is_row=True)
        assert list(why.parts.values()) == pytest.approx(parts.iloc[longest].tolist(), abs=1e-6)
        assert sum(s.to_s - s.from_s for s in why.stretches) == pytest.approx(why.waited_s, abs=1e-6)
        if result.waits is not None:
            assert sum(s.seconds for s in why.holders) <= why.parts[Cause.TOO_FEW_FREE] + 1e-6


def test_a_power_cap_holds_back_who_has_nodes():
    """Two nodes under 500 W: one busy and one idle draw 400 W, two busy ones 600 W. b waits for a to end."""
    result = simulate(jobs("a 0 100 100 1\nb 0 50 50 1"), powered(power_cap_w=500), EASY(), explain=True)
    assert seconds(result, "b") == {"power-cap": 100}
    assert "the power cap left no room" in str(result.explain("b"))


def test_choice_turns_into_power_cap_when_a_lower_step_comes_into_reach():
    """350 W from 50 to 60 s are too few for a busy and an idle node; x, 30 s long, would reach into it from 20 s on."""

    def schedule(system):
        for job in system.queue:
            if system.now_s >= 60:
                yield Start(job)

    cluster = powered(power_cap_steps=(CapStep(from_s=50, power_cap_w=350), CapStep(from_s=60, power_cap_w=math.inf)))
    result = simulate(jobs("x 0 30 30 1"), cluster, policy_of(schedule), explain=True)
    assert seconds(result, "x") == {"policy": 20, "power-cap": 40}
    assert [tuple(stretch)[:3] for stretch in result.explain("x").stretches] == [
        (0, 20, Cause.POLICY),
        (20, 60, Cause.POWER_CAP),
    ]


def test_nodes_that_have_to_boot_are_waited_for():
    """The node shuts down in 10 s as soon as it idles, at 5 s. b comes at 100 s, and the boot takes 20 s."""
    power = NodePower(idle_w=100, busy_w=300, off_w=5, boot_w=150, boot_s=20, shutdown_s=10, idle_timeout_s=0)
    cluster = Cluster(groups=(NodeGroup(name="all", nodes=1, power=power),))
    result = simulate(jobs("a 0 5 5 1\nb 100 5 5 1"), cluster, FCFS(), explain=True)
    assert result.jobs["start_s"].tolist()[1] == 120
    assert seconds(result, "b") == {"node-down": 20}


def partitioned(*rows: tuple[str, int, int, int, int, str]) -> Any:
    """Jobs (id, submit, run, limit, nodes, partition) on two partitions, left and right, of two nodes each."""
    names, submit, run, limit, nodes, where = zip(*rows, strict=True)
    partitions = np.empty(len(rows), dtype=object)
    partitions[:] = [(name,) for name in where]
    return Workload.of(
        job_id=np.array(names), submit_s=submit, run_s=run, limit_s=limit, nodes=nodes, partitions=partitions
    )


HALVES = Cluster(
    groups=(NodeGroup(name="old", nodes=2), NodeGroup(name="new", nodes=2)),
    partitions=(Partition(name="left", groups=("old",)), Partition(name="right", groups=("new",))),
)


def test_nodes_of_another_partition_help_nobody_and_a_reservation_there_stops_nobody():
    """a holds one left node until 100, b is promised both then. c would outlast that; d, on the right, starts."""
    log = partitioned(
        ("a", 0, 100, 100, 1, "left"),
        ("b", 0, 50, 50, 2, "left"),
        ("c", 10, 100, 100, 1, "left"),
        ("d", 20, 500, 500, 1, "right"),
    )
    result = simulate(log, HALVES, EASY(), explain=True)
    assert seconds(result, "b") == {"too-few-free": 100}
    assert seconds(result, "c") == {"reservation": 90, "too-few-free": 50}
    assert seconds(result, "d") == {}
    why = result.explain("c")
    assert [(share.job_id, share.seconds) for share in why.blockers] == [("b", 90)]


def test_fcfs_chooses_where_easy_is_bound():
    log = partitioned(("a", 0, 100, 100, 1, "left"), ("b", 0, 50, 50, 2, "left"), ("c", 10, 100, 100, 1, "left"))
    assert seconds(simulate(log, HALVES, FCFS(), explain=True), "c") == {"policy": 90, "too-few-free": 50}


def test_a_promise_that_cannot_be_kept_holds_nobody_back():
    """b is promised 10 s, when a still has both left nodes: that promise is void, and c is left waiting by choice."""

    def schedule(system):
        from hpcsim.decision import Reserve

        waiting = {job.job_id: job for job in system.queue}
        if "a" in waiting:
            yield Start(waiting["a"])
            yield Reserve(waiting["b"], 10)
            yield WakeAt(60)
        elif system.now_s >= 60:
            for job in waiting.values():
                if system.fits(job):
                    yield Start(job)

    log = partitioned(("a", 0, 100, 100, 2, "left"), ("b", 0, 50, 50, 2, "left"), ("c", 0, 9, 9, 1, "right"))
    result = simulate(log, HALVES, policy_of(schedule), explain=True)
    assert seconds(result, "c") == {"policy": 60}


def test_a_saved_result_keeps_the_record_and_one_without_says_what_to_do(tmp_path: Path):
    log = jobs("a 0 100 100 1\nb 0 50 50 1")
    simulate(log, powered(power_cap_w=500), EASY(), explain=True).save(tmp_path / "out")
    loaded = Result.load(tmp_path / "out")
    assert seconds(loaded, "b") == {"power-cap": 100}
    loaded.save(tmp_path / "out")
    plain = simulate(log, powered(power_cap_w=500), EASY())
    assert plain.waits is None
    with pytest.raises(Unsupported, match="hpcsim run --explain"):
        plain.explain("b")
    assert simulate(log, Cluster.of_nodes(2), EASY(), explain=True).waits is None


def test_command_line(tmp_path: Path):
    from typer.testing import CliRunner

    from hpcsim.cli import app

    log, machine = tmp_path / "log.csv", tmp_path / "machine.toml"
    log.write_text("submit_s,run_s,limit_s,nodes\n0,100,100,1\n0,50,50,1\n")
    machine.write_text(powered(power_cap_w=500).to_toml())
    arguments = ["run", str(log), "--cluster", str(machine), "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    refused = CliRunner().invoke(app, ["explain", str(tmp_path / "out"), "--all"])
    assert refused.exit_code == 2
    assert "were not recorded" in refused.stderr
    page = tmp_path / "page.html"
    assert CliRunner().invoke(app, [*arguments, "--explain", "--report", str(page)]).exit_code == 0
    told = CliRunner().invoke(app, ["explain", str(tmp_path / "out"), "2"])
    assert "1 min 40 s (100.0 %): the power cap left no room" in told.stdout
    assert "explained where they were recorded" not in page.read_text(encoding="utf-8")


def test_easy_leaves_nobody_waiting_by_choice_where_nodes_boot_under_a_cap():
    """A job that fits by the plan and not with its boot must not take the plan's watts from those behind it."""
    from hpcsim.registry import make

    node = {"idle_w": 100, "busy_w": 600, "off_w": 10, "boot_w": 300, "boot_s": 120, "shutdown_s": 60}
    cluster = Cluster(
        groups=(NodeGroup(name="all", nodes=32, power=NodePower(**node, idle_timeout_s=600)),), power_cap_w=12_000
    )
    log = make("models", "poisson", jobs=150, nodes=32, load=0.8)
    table = explain_all(simulate(log, cluster, EASY(), explain=True))
    assert table["power_cap_s"].sum() > 0
    assert table["policy_s"].sum() < 0.01 * table["waited_s"].sum()
