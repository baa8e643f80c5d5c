"""Advice at submission: what the queue holds, what runs, what is drawn, and what nonsense does."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hpcsim import Cluster, NodeGroup, NodePower, make_policy, simulate
from hpcsim.advisor import Advice, Advisor
from hpcsim.engine.advice import fault_of
from hpcsim.errors import Clairvoyance, InvalidArgument, Unsupported, WorkloadError
from hpcsim.job import Job
from hpcsim.recorder import Recorder
from hpcsim.results.result import Result
from hpcsim.scaling import AMDAHL, RIGID
from hpcsim.speedup import Amdahl, PowerLaw, Table
from hpcsim.testing import verify
from hpcsim.workload import Workload
from tests.moldable.advisors import Answers, Raises, Says
from tests.schedules import simulation

IDEAL = PowerLaw(1.0)
NODE = NodePower(idle_w=100, busy_w=500, waiting_share=0.5)


def moldable(**columns: Any) -> Workload:
    """Return jobs 1 (4 nodes, 100 s), 2 (8 nodes, 50 s) and 3 (1 node, 10 s, rigid)."""
    given = {"submit_s": [0, 0, 0], "run_s": [100, 50, 10], "limit_s": [120, 60, 10], "nodes": [4, 8, 1]}
    return Workload.of(**given | {"allowed_nodes": [(1, 2, 4), (2, 8), ()]} | columns)


def with_truth(**columns: Any) -> Workload:
    """Return the same jobs with an Amdahl share of 0.1 and power at the counts asked for; job 3 is rigid."""
    truth = {
        "scaling_law": np.array([AMDAHL, AMDAHL, RIGID], dtype=np.int8),
        "scaling_a": [0.1, 0.1, 0.0],
        "scaling_b": [0.0, 0.0, 0.0],
        "mean_power_w": [1300.0, 2000.0, 400.0],
        "idle_w": [100.0] * 3,
        "peak_w": [500.0] * 3,
        "waiting_share": [0.5] * 3,
    }
    return moldable(**truth | columns)


def ran(result: Result, name: str) -> list[Any]:
    return result.jobs[name].tolist()


def test_queue_and_policy_get_the_effective_job_with_the_request_beside_it() -> None:
    seen: dict[Any, Job] = {}

    class Watch(Recorder):
        def on_submit(self, job: Job, system: Any) -> None:
            seen[job.job_id] = job
            assert job in system.queue

    simulate(
        moldable(), Cluster.of_nodes(8), "fcfs", advisor=Says(answers={1: (2, 300)}), scaling=IDEAL, recorders=[Watch()]
    )
    assert (seen[1].nodes, seen[1].limit_s) == (2, 300)
    assert seen[1].requested is not None
    assert (seen[1].requested.nodes, seen[1].requested.limit_s) == (4, 120)
    assert seen[2].requested is None


def test_hand_worked_schedule_of_advised_jobs() -> None:
    """Job 1 takes 2 of 8 nodes, ideal law: 200 s. Job 2 keeps its 8 nodes and waits for it; job 3 is backfilled."""
    advisor = Says(answers={1: (2, 300)})
    result = simulate(moldable(), Cluster.of_nodes(8), "easy", advisor=advisor, scaling=IDEAL, check=True)
    assert ran(result, "nodes") == [2, 8, 1]
    assert ran(result, "requested_nodes") == [4, 8, 1]
    assert ran(result, "requested_limit_s") == [120, 60, 10]
    assert ran(result, "limit_s") == [300, 60, 10]
    assert ran(result, "start_s") == [0, 200, 0]
    assert ran(result, "end_s") == [200, 250, 10]
    assert ran(result, "advice") == ["advised", "kept-declined", "kept-rigid"]
    summary = result.summary()
    assert [
        summary[f"advice_{key}"] for key in ("changed", "advised", "kept_declined", "kept_rigid", "kept_error")
    ] == [*(1, 1, 1, 1, 0)]
    verify(result, moldable(), Cluster.of_nodes(8), scaling=IDEAL)


def test_rejection_is_judged_after_advice() -> None:
    """On 4 nodes job 2 can run by advice only; job 1 is advised away from what could run."""
    jobs = moldable(allowed_nodes=[(1, 2, 16), (2, 8), ()])
    advisor = Says(answers={1: (16, 120), 2: (2, 240)})
    result = simulate(jobs, Cluster.of_nodes(4), "fcfs", advisor=advisor, scaling=IDEAL, check=True)
    assert ran(result, "state") == ["REJECTED", "COMPLETED", "COMPLETED"]
    assert "16" in ran(result, "state_reason")[0]
    assert ran(result, "end_s")[1] == 200
    verify(result, jobs, Cluster.of_nodes(4), scaling=IDEAL)


def test_hidden_truth_decides_over_a_declared_law() -> None:
    """f = 0.1: S(4) = 1/0.325, S(2) = 1/0.55, so 100 s on 4 nodes are 169.23 s on 2."""
    advisor = Says(answers={1: (2, 300)})
    result = simulate(with_truth(), Cluster.of_nodes(8), "fcfs", advisor=advisor, scaling=IDEAL)
    assert ran(result, "end_s")[0] == pytest.approx(100 * 0.55 / 0.325)
    verify(result, with_truth(), Cluster.of_nodes(8))


def test_energy_is_that_of_the_true_power_at_the_effective_count() -> None:
    """Efficiency 1/1.3 on 4 nodes, 1/1.1 on 2: a node draws 100 + 400 (0.5 + 0.5 eff) = 453.85 W and 481.82 W.

    The log says 1,300 W on 4 nodes, so on 2 it is 1,300 (2 x 481.82) / (4 x 453.85) = 690.06 W, for 169.23 s.
    """
    machine = Cluster(groups=(NodeGroup(nodes=8, power=NODE),))
    advisor = Says(answers={1: (2, 300)})
    jobs = with_truth()
    result = simulate(jobs, machine, "fcfs", advisor=advisor, check=True)
    watts = 1300 * (2 * (100 + 400 * (0.5 + 0.5 / 1.1))) / (4 * (100 + 400 * (0.5 + 0.5 / 1.3)))
    assert ran(result, "energy_j")[0] == pytest.approx(watts * 100 * 0.55 / 0.325)
    assert ran(result, "energy_j")[1] == pytest.approx(2000 * 50)
    verify(result, jobs, machine)


def test_energy_by_a_declared_law_is_that_of_the_machines_own_curve() -> None:
    """No power is known of the job: 2 nodes at efficiency 1/1.1 by the nodes' own 100 and 500 W."""
    machine = Cluster(groups=(NodeGroup(nodes=8, power=NODE),))
    result = simulate(moldable(), machine, "fcfs", advisor=Says(answers={1: (2, 300)}), scaling=Amdahl(0.1))
    seconds = 100 * 0.55 / 0.325
    assert ran(result, "energy_j")[0] == pytest.approx(2 * (100 + 400 * (0.5 + 0.5 / 1.1)) * seconds)


def test_a_power_series_is_stretched_and_scaled() -> None:
    """Ideal law: half the nodes draw half, for twice as long: 20 s at 800 W and 80 s at 400 W keep their energy."""
    machine = Cluster(groups=(NodeGroup(nodes=8, power=NODE),))
    series = np.empty(3, dtype=object)
    series[:] = [(800.0, 400.0), (), ()]
    jobs = moldable(power_series_w=series)
    found = simulate(jobs, machine, "fcfs", advisor=Says(answers={1: (2, 300)}), scaling=IDEAL)
    assert ran(found, "energy_j")[0] == pytest.approx(20 * 800 + 80 * 400)


def test_without_truth_or_law_a_job_keeps_its_count() -> None:
    result = simulate(moldable(), Cluster.of_nodes(8), "fcfs", advisor=Says(answers={1: (2, 300)}))
    assert ran(result, "nodes") == [4, 8, 1]
    assert ran(result, "advice") == ["kept-rigid"] * 3


def test_a_count_outside_the_measured_table_is_none_to_run_at() -> None:
    table = Table((2, 4, 8), (400, 200, 100))
    jobs = moldable(allowed_nodes=[(1, 2, 4), (2, 8), ()])
    result = simulate(
        jobs, Cluster.of_nodes(8), "fcfs", advisor=Says(answers={1: (1, 900), 2: (2, 900)}), scaling=table
    )
    assert ran(result, "advice") == ["kept-rigid", "advised", "kept-rigid"]
    assert ran(result, "run_s") == pytest.approx([100, 200, 10])


def test_without_an_advisor_moldable_jobs_run_as_they_ask() -> None:
    alike, plain = with_truth(), moldable(allowed_nodes=[(), (), ()])
    columns = ["start_s", "end_s", "node_ids", "state"]
    found = [simulate(jobs, Cluster.of_nodes(8), "easy").jobs for jobs in (alike, plain)]
    assert found[0][columns].equals(found[1][columns])
    assert "advice" not in found[0]


NONSENSE: list[Any] = [
    *(None, 7, "two", (2, 3), Advice),
    *(
        Advice(nodes=n, limit_s=120, reason="advised")
        for n in (0, -1, 1.5, math.nan, 10**9, 10**400, 3, True, "2", None)
    ),  # type: ignore[arg-type]
    *(
        Advice(nodes=2, limit_s=limit, reason="advised")
        for limit in (0, -5, math.nan, "long", None, True, [9], -math.inf)
    ),  # type: ignore[arg-type]
    Advice(nodes=2, limit_s=10**400, reason="advised"),
    Advice(nodes=2, limit_s=300, reason="kept-no-gain"),
    Advice(nodes=2, limit_s=300, reason="because"),  # type: ignore[arg-type]
    Advice(nodes=2, limit_s=300, reason=["advised"]),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("answer", NONSENSE, ids=lambda answer: repr(answer)[:60])
def test_nonsense_leaves_the_request_and_is_counted(answer: Any) -> None:
    result = simulate(
        moldable(), Cluster.of_nodes(8), "easy", advisor=Answers(answer=answer), scaling=IDEAL, check=True
    )
    assert ran(result, "nodes") == [4, 8, 1]
    assert ran(result, "limit_s") == [120, 60, 10]
    assert ran(result, "advice") == ["kept-error", "kept-error", "kept-rigid"]
    assert result.summary()["advice_kept_error"] == 2
    assert result.provenance["advice"]["refused"] == 2
    assert result.provenance["advice"]["first_error"].startswith("About job 1 it ")


@pytest.mark.parametrize("error", [ValueError("no model"), SystemExit(3), RecursionError(), MemoryError()])
def test_an_advisor_that_raises_never_breaks_a_run(error: BaseException) -> None:
    result = simulate(moldable(), Cluster.of_nodes(8), "easy", advisor=Raises(error=error), scaling=IDEAL)
    assert ran(result, "state") == ["COMPLETED"] * 3
    assert ran(result, "advice") == ["kept-error", "kept-error", "kept-rigid"]
    assert result.provenance["advice"]["errors_of_hooks"] == 3


def test_a_user_who_interrupts_is_no_error_of_an_advisor() -> None:
    with pytest.raises(KeyboardInterrupt):
        simulate(moldable(), Cluster.of_nodes(8), "easy", advisor=Raises(error=KeyboardInterrupt()), scaling=IDEAL)


def test_numpy_answers_are_plain_numbers_in_the_queue() -> None:
    advice = Advice(nodes=np.int64(2), limit_s=np.float32(300), reason="advised")
    assert fault_of(advice, replace(moldable().job(0))) == ""
    result = simulate(moldable(), Cluster.of_nodes(8), "easy", advisor=Answers(answer=advice), scaling=IDEAL)
    assert ran(result, "nodes") == [2, 2, 1]


class Curious(Advisor):
    """Writes down all it can see, and tries to see the truth."""

    def reset(self, cluster: Any, rng: Any) -> None:
        self.seen: list[Any] = []

    def advise(self, job: Job, system: Any) -> Advice:
        with pytest.raises(Clairvoyance):
            system.true_run_time_s(job)
        self.seen.append((repr(job), system.now_s, repr(list(system.queue)), repr(list(system.running)), system.free))
        return Advice(nodes=job.nodes, limit_s=job.limit_s, reason="kept-declined")


@pytest.mark.parametrize("policy", ["easy", "shortest-true"])
def test_no_advisor_sees_the_truth_whatever_the_policy_may(policy: str) -> None:
    """Two workloads that differ in their truths alone look the same; the view of a clairvoyant policy is its own."""
    truths = {"scaling_a": [0.4, 0.01, 0.0], "mean_power_w": [900.0, 800.0, 100.0], "run_s": [99, 49, 9]}
    chosen = make_policy("easy") if policy == "easy" else make_policy("backfill", estimates=actual())
    looks = []
    for jobs in (with_truth(), with_truth(**truths)):
        advisor = Curious()
        simulate(jobs, Cluster.of_nodes(8), chosen, advisor=advisor)
        looks.append(advisor.seen)
    assert looks[0] == looks[1]
    assert len(looks[0]) == 2


def actual() -> Any:
    from hpcsim.registry import make

    return make("estimators", "actual")


def test_a_clairvoyant_advisor_sees_run_times_at_every_count() -> None:
    class Oracle(Advisor):
        clairvoyant = True

        def advise(self, job: Job, system: Any) -> Advice:
            times = {nodes: system.true_run_time_s(job.advised(nodes, 900)) for nodes in job.allowed_nodes}
            best = min(times, key=times.__getitem__)
            return Advice(nodes=best, limit_s=math.ceil(times[best]), reason="advised")

    result = simulate(with_truth(), Cluster.of_nodes(8), "fcfs", advisor=Oracle(), check=True)
    assert ran(result, "nodes") == [4, 8, 1]
    assert ran(result, "limit_s") == [100, 50, 10]
    assert ran(result, "state") == ["COMPLETED"] * 3


def test_declared_power_is_scaled_by_the_node() -> None:
    job = replace(moldable().job(0), power_w=1000.0)
    assert job.advised(2, 10).power_w == 500
    assert job.advised(2, 10).advised(1, 10).power_w == 250


def test_the_options_of_a_run_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="scaling is 3"):
        simulate(moldable(), Cluster.of_nodes(8), "easy", scaling=3)  # type: ignore[arg-type]
    run = simulation(moldable(), 8, "easy")
    with pytest.raises(Unsupported, match="has no advisor"):
        run.advise_again(moldable().job(0))
    run = simulation(moldable(), 8, "easy", advisor=Says(answers={}))
    with pytest.raises(WorkloadError, match="does not wait"):
        run.advise_again(moldable().job(0))


def test_a_job_that_allows_its_own_count_alone_is_rigid() -> None:
    result = simulate(
        moldable(allowed_nodes=[(4,), (2, 8), ()]),
        Cluster.of_nodes(8),
        "fcfs",
        advisor=Answers(answer=None),
        scaling=IDEAL,
    )
    assert ran(result, "advice") == ["kept-rigid", "kept-error", "kept-rigid"]
