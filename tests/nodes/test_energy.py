"""Energy of hand-worked schedules, to the joule; caps; nodes that are switched off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hpcsim.cluster import Cluster, NodeGroup
from hpcsim.decision import Start
from hpcsim.engine.columns import RunColumns
from hpcsim.errors import ClusterError, InvalidDecision
from hpcsim.policies import EASY, Backfill, Conservative
from hpcsim.power import CapStep, NodePower, Tariff
from hpcsim.workload import Workload
from tests.schedules import gantt, jobs, outcomes, run, simulation, starts

NODE = NodePower(idle_w=100, busy_w=300, off_w=10, boot_w=200, boot_s=5, shutdown_s=3)


def machine(nodes: int, power: NodePower = NODE, **options: Any) -> Cluster:
    """Return a machine of one group with power."""
    cores = options.pop("cores", 1)
    return Cluster(groups=(NodeGroup(nodes=nodes, cores=cores, power=power),), **options)


def energy(columns: RunColumns) -> dict[str, float]:
    """Return joules by part from the log of the machine, and of jobs from their spans."""
    log = columns.energy
    assert log is not None
    lengths = np.diff([*log.time_s, log.end_s][: len(log.time_s) + 1])
    parts = {part: float(np.dot(lengths, getattr(log, f"{part}_w"))) for part in ("jobs", "idle", "boot", "off")}
    spans = np.array(log.job_to_s) - np.array(log.job_from_s)
    assert float(np.dot(spans, log.job_w)) == pytest.approx(parts["jobs"], abs=1e-6)
    return parts


def test_busy_and_idle_nodes() -> None:
    """Two of 4 nodes for 10 s, one from 5 to 20: jobs 2x300x10 + 300x15 = 10,500 J; idle 100 x (80 - 35) = 4,500 J."""
    columns = run(jobs("a 0 10 10 2\n b 5 15 20 1"), machine(4), "easy")
    assert energy(columns) == {"jobs": 10_500, "idle": 4_500, "boot": 0, "off": 0}


def test_idle_power_before_the_first_start_counts_from_the_first_submit() -> None:
    """The log begins at its first submit, here 100, and ends with the last job at 110."""
    assert energy(run(jobs("a 100 10 10 1"), machine(2), "fcfs")) == {"jobs": 3_000, "idle": 1_000, "boot": 0, "off": 0}


def test_a_killed_job_draws_until_its_limit() -> None:
    """3 nodes, killed at 7 of 100 s: 3 x 300 x 7."""
    assert energy(run(jobs("a 0 100 7 3"), machine(3), "fcfs"))["jobs"] == 6_300


def test_declared_mean_maximum_and_series() -> None:
    """a declares 250 W for all; b has a series of samples each 20 s, of which 50 s are drawn; c's mean is known."""
    workload = Workload.of(
        submit_s=[0, 0, 0],
        run_s=[10, 50, 10],
        nodes=[2, 1, 1],
        power_w=[250.0, -1, 280],
        mean_power_w=[-1.0, -1.0, 150.0],
        max_power_w=[-1.0, 400.0, 200.0],
        power_series_w=[(), (100, 300, 200), ()],
        job_id=[1, 2, 3],
    )
    expected = {"series": 2500 + 20 * 100 + 20 * 300 + 10 * 200 + 1500, "mean": 2500 + 50 * 200 + 1500,
                "max": 2500 + 50 * 400 + 2000}  # fmt: skip
    for trace, jobs_j in expected.items():
        columns = run(workload, machine(4), "fcfs", power_trace=trace)
        assert energy(columns)["jobs"] == jobs_j, trace


def test_the_model_of_waiting_cores() -> None:
    """Efficiency 0.5, beta 0.25: 100 + 200 (0.25 + 0.75 x 0.5) = 225 W a node."""
    workload = Workload.of(submit_s=[0], run_s=[10], nodes=[2], efficiency=[0.5])
    assert energy(run(workload, machine(2, replace(NODE, waiting_share=0.25)), "fcfs"))["jobs"] == 4_500


def test_shared_nodes_are_split_by_cores() -> None:
    """One node of 4 cores. a has 1 core for 10 s: a quarter of 300 W; b 2 cores for 20 s: half. Idle: the rest."""
    workload = Workload.of(
        submit_s=[0, 0], run_s=[10, 20], nodes=[1, 1], exclusive=[False, False], cores_per_node=[1, 2]
    )
    columns = run(workload, machine(1, cores=4), "fcfs")
    assert energy(columns) == {"jobs": 750 + 3000, "idle": 10 * 25 + 10 * 50, "boot": 0, "off": 0}
    assert columns.energy is not None
    assert dict(zip(columns.energy.job_row, columns.energy.job_w, strict=True)) == {0: 75, 1: 150}


def test_idle_nodes_shut_down_and_boot_before_a_start() -> None:
    """Two nodes, time-out 10. a holds node 0 in 0-10. Node 1 idles 0-10, shuts down till 13. Node 0 idles 10-20,
    shuts down till 23. b comes at 30, wants both: they boot 30-35, it runs 35-40.
    Jobs 300x10 + 600x5. Idle 100 x (13 + 13). Off 10 x ((30-13) + (30-23)). Boot 200 x 2 x 5."""
    columns = run(jobs("a 0 10 10 1\n b 30 5 5 2"), machine(2, replace(NODE, idle_timeout_s=10)), "easy")
    assert energy(columns) == {"jobs": 6_000, "idle": 2_600, "boot": 2_000, "off": 240}
    assert list(columns.attempt_start_s) == [0, 35]
    assert list(columns.ended_s) == [10, 40]


def test_nodes_that_are_on_are_given_first() -> None:
    """Node 0 goes off at 13, node 1 works until 20: c, which comes at 21, gets node 1 at once."""
    cluster = machine(2, replace(NODE, idle_timeout_s=10))
    table = "a 0 1 1 1\n b 0 20 20 1\n c 21 1 1 1"
    assert gantt(jobs(table), cluster, "fcfs") == [("a", 0, "0"), ("b", 0, "1"), ("c", 21, "1")]


def test_a_node_that_is_wanted_while_it_shuts_down_finishes_first() -> None:
    """Idle from 1, shuts down 11-14, wanted at 12: boots 14-19."""
    cluster = machine(1, replace(NODE, idle_timeout_s=10))
    assert starts(jobs("a 0 1 1 1\n b 12 1 1 1"), cluster, "fcfs") == {"a": 0, "b": 19}


def test_a_job_cancelled_while_its_nodes_boot_never_ran() -> None:
    """It was given nodes at 30, would have started at 35, and is cancelled at 32."""
    sim = simulation(jobs("a 0 1 1 1\n b 30 5 5 1"), machine(1, replace(NODE, idle_timeout_s=10)), EASY())

    def cancel(sim: Any) -> Any:
        yield sim.env.timeout(32)
        sim.cancel(next(iter(sim.system.running)).job)

    sim.env.process(cancel(sim))
    sim.run()
    columns = sim.finish()
    assert (columns.attempt_start_s[1], columns.ended_s[1]) == (32, 32)
    assert energy(columns)["jobs"] == 300


def test_the_cap_holds_jobs_back_at_admission() -> None:
    """4 nodes idle at 100 W each; a job adds 200 W a node. Under 850 W two nodes may work: b waits for a, c passes
    neither for it would add 200 W beside a, b's reservation at 10 needs them; d, of no width left, waits too."""
    cluster = machine(4, power_cap_w=850)
    table = "a 0 10 10 1\n b 0 10 10 2\n c 1 20 20 1\n d 1 5 5 1"
    assert starts(jobs(table), cluster, "fcfs") == {"a": 0, "b": 10, "c": 20, "d": 20}
    assert starts(jobs(table), cluster, "easy") == {"a": 0, "d": 1, "b": 10, "c": 20}
    assert starts(jobs(table), cluster, Conservative()) == {"a": 0, "d": 1, "b": 10, "c": 20}
    assert starts(jobs(table), cluster, Backfill(reservations=2)) == {"a": 0, "d": 1, "b": 10, "c": 20}


def test_announced_steps_are_known_in_advance() -> None:
    """From 20 on only 600 W: one node may work. a may run two nodes until 20; b, till 25, must wait until 40."""
    cluster = machine(4, power_cap_w=1000, power_cap_steps=(CapStep(from_s=20, power_cap_w=600),
                                                            CapStep(from_s=40, power_cap_w=1000)))  # fmt: skip
    table = "a 0 20 20 2\n b 1 24 24 2\n c 2 10 10 1"
    for policy in (EASY(), Conservative(), Backfill(reservations=2)):
        assert starts(jobs(table), cluster, policy) == {"a": 0, "b": 40, "c": 2}


def test_a_job_that_would_reach_into_a_lower_cap_waits_though_it_fits_now() -> None:
    """Two nodes may work until 20, one until 40: b, of two nodes and 24 s, at 1, would reach into that; s ends by 20.
    Planned by policies, and held to where the policy does not ask."""
    steps = (CapStep(from_s=20, power_cap_w=600), CapStep(from_s=40, power_cap_w=1000))
    cluster = machine(4, power_cap_w=1000, power_cap_steps=steps)
    for policy in ("fcfs", EASY(), Conservative(), Backfill(reservations=2)):
        assert starts(jobs("b 1 24 24 2"), cluster, policy) == {"b": 40}
        assert starts(jobs("s 1 19 19 2"), cluster, policy) == {"s": 1}
    sim = simulation(jobs("b 1 24 24 2"), cluster, None)
    view = sim.run_to_decision()
    assert view is not None
    (job,) = view.queue
    assert (view.fits(job), view.earliest_start_s(job)) == (False, 40)
    with pytest.raises(InvalidDecision, match="exceed the power cap"):
        sim.apply(Start(job, [0, 1]))


def test_waiting_jobs_that_a_lower_cap_shuts_out_are_rejected() -> None:
    """b needs 1,000 W, which it has until 5; a holds its nodes until 10."""
    cluster = machine(4, power_cap_w=1000, power_cap_steps=(CapStep(from_s=5, power_cap_w=900),))
    found = outcomes(jobs("a 0 4 4 1\n b 0 3 3 3\n c 6 1 1 1"), cluster, "easy")
    assert found["b"].reason == "needs 1000 W with all other nodes idle, the power cap is 900 W"
    assert (found["a"].start_s, found["c"].start_s) == (0, 6)


def test_booting_counts_against_the_cap() -> None:
    """Nodes off after 1 s draw 10 W and 700 W while they boot: at 20 two may boot under 1,500 W, not three."""
    power = replace(NODE, idle_timeout_s=1, boot_w=700)
    found = outcomes(
        jobs("a 0 1 1 1\n b 20 1 1 1\n c 20 1 1 1\n d 20 1 1 1"), machine(4, power, power_cap_w=1500), "fcfs"
    )
    assert [found[job].start_s for job in "abcd"] == [0, 25, 25, 30]


def test_a_job_above_the_cap_is_rejected_and_a_cap_below_idle_is_an_error() -> None:
    """On 4 idle nodes of 100 W three busy ones need 1,000 W."""
    found = outcomes(jobs("a 0 1 1 3\n b 0 1 1 2"), machine(4, power_cap_w=900), "easy")
    assert found["a"].reason == "needs 1000 W with all other nodes idle, the power cap is 900 W"
    assert found["b"].start_s == 0
    with pytest.raises(ClusterError, match=r"is 399 W at its lowest, its idle nodes alone draw 400 W\. Raise the cap"):
        simulation(jobs("a 0 1 1 1"), machine(4, power_cap_w=399), "easy")
    with pytest.raises(ClusterError, match="rise in this order"):
        simulation(jobs("a 0 1 1 1"), machine(4, NodePower(idle_w=5, busy_w=4)), "easy")


def test_descriptions_go_through_toml() -> None:
    """Power, steps and tariff as a file, and wrong ones by name."""
    tariff = Tariff(price_per_kwh=(0.1, 0.3), co2_kg_per_kwh=(0.4,), start_s=3600)
    cluster = machine(4, power_cap_w=900, power_cap_steps=(CapStep(from_s=5, power_cap_w=800),), tariff=tariff)
    assert Cluster.from_toml(cluster.to_toml()) == cluster
    with pytest.raises(ClusterError, match="out of order"):
        machine(4, power_cap_steps=(CapStep(from_s=5, power_cap_w=1), CapStep(from_s=4, power_cap_w=1)))
    with pytest.raises(ClusterError, match="each hour"):
        Tariff(price_per_kwh=())
