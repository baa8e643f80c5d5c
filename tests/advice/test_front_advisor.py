"""Advice by a surrogate in the loop: who is advised, on what evidence, and what never happens."""

from __future__ import annotations

import copy
import time
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hpcsim import Cluster, NodeGroup, Partition, registry, simulate
from hpcsim.advisor import Advice, Advisor
from hpcsim.errors import InvalidArgument, PolicyCheckFailed, UnknownName, Unsupported
from hpcsim.job import Job
from hpcsim.profile import Profile
from hpcsim.results.result import Result
from hpcsim.scaling import TRUTH
from hpcsim.surrogate import Prediction, Surrogate
from hpcsim.surrogates.advice.forecast import Forecast
from hpcsim.surrogates.advice.front_advisor import FrontAdvisor
from hpcsim.surrogates.advice.oracle import Oracle
from hpcsim.surrogates.advice.rule_advisor import RuleAdvisor
from hpcsim.surrogates.features import outcomes_table
from hpcsim.testing import check_advisor, verify
from hpcsim.testing.advisor_trials import machine, moldable_jobs
from hpcsim.workload import Workload

WHOLE = moldable_jobs(480, 4)
BEFORE = WHOLE.select(WHOLE.arrival_order()[:400], "the jobs to learn from")
JOBS = WHOLE.select(WHOLE.arrival_order()[400:], "the jobs to run")
ADVICE = ["nodes", "limit_s", "advice", "start_s", "end_s", "attempts"]


@cache
def learned() -> FrontAdvisor:
    """Return an advisor whose law was fitted to the jobs before."""
    advisor: FrontAdvisor = registry.make("advisors", "advisor", surrogate="scaling-law", history=BEFORE)
    return advisor.learn()


def advisor(**parameters: Any) -> FrontAdvisor:
    known = {"surrogate": learned().surrogate, "history": learned().history}
    made: FrontAdvisor = registry.make("advisors", "advisor", **(known | parameters))
    return made


def figure(result: Result, key: str) -> float:
    """Return a figure of the summary that is defined."""
    value = result.summary()[key]
    assert value is not None
    return float(value)


def run(by: Advisor, jobs: Workload = JOBS, **options: Any) -> Result:
    return simulate(jobs, machine(), "easy", advisor=by, check=True, **options)


def test_advice_changes_jobs_and_the_result_is_possible() -> None:
    result = run(advisor())
    assert figure(result, "advice_advised") > 5
    verify(result, JOBS, machine())
    assert {"advice_p50_s", "advice_p99_s"} <= set(result.timings)


def test_an_unfitted_surrogate_keeps_every_request() -> None:
    result = run(registry.make("advisors", "advisor", surrogate="scaling-law", least_jobs=10_000))
    assert set(result.jobs["advice"].astype(str)) == {"kept-no-support"}
    assert result.jobs["nodes"].equals(result.jobs["requested_nodes"])


def test_nobody_who_declines_is_advised_and_then_all_is_as_without_advice() -> None:
    without = simulate(JOBS, machine(), "easy")
    result = run(advisor(adoption=0.0))
    assert set(result.jobs["advice"].astype(str)) == {"kept-declined"}
    columns = ["start_s", "end_s", "nodes", "node_ids"]
    assert result.jobs[columns].equals(without.jobs[columns])
    half = run(advisor(adoption=0.5)).jobs
    declined = (half["advice"] == "kept-declined").groupby(half["user_id"].to_numpy())
    assert declined.nunique().max() == 1


def test_the_surrogate_cannot_see_the_truth() -> None:
    """Other laws and watts at other counts change what happens, and nothing of what was advised before it happened."""
    hidden = {name: JOBS.columns[name][::-1].copy() for name in TRUTH if name not in ("mean_power_w", "idle_w")}
    other = replace(JOBS, columns={**JOBS.columns, **hidden})
    first, second = run(advisor()).jobs, run(advisor(), other).jobs
    early = int((first["end_s"].min() > JOBS.columns["submit_s"]).sum())  # until then nothing has been seen
    assert early > 0
    assert [repr(job) for job in JOBS.jobs()] == [repr(job) for job in other.jobs()]  # all that an advisor gets
    assert first[["nodes", "limit_s", "advice"]].head(early).equals(second[["nodes", "limit_s", "advice"]].head(early))
    seen: list[Job] = []

    class Looks(FrontAdvisor):
        def advise(self, job: Job, system: Any) -> Advice:
            seen.append(job)
            return super().advise(job, system)

    run(Looks(surrogate=learned().surrogate, history=learned().history))
    assert not any(set(TRUTH) & set(dir(job)) for job in seen)


def test_asking_for_the_truth_is_refused_unless_declared() -> None:
    class Peeks(FrontAdvisor):
        def advise(self, job: Job, system: Any) -> Advice:
            system.true_power_w(job)
            return super().advise(job, system)

    result = run(Peeks(surrogate=learned().surrogate))
    assert set(result.jobs["advice"].astype(str)) == {"kept-error"}
    assert "asked for the true power of job" in result.provenance["advice"]["first_error"]


class Hostile(FrontAdvisor):
    """Predicts whatever it is told to."""

    value: Any = None

    def forecast(self, job: Job, counts: Any, system: Any) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        found = super().forecast(job, counts, system)
        return None if found is None else replace(found, run_s=np.full(len(found.nodes), self.value))


@pytest.mark.parametrize("value", [float("nan"), 0.0, -1.0, float("inf"), 1e300, ValueError("no"), MemoryError()])
def test_hostile_predictions_never_break_a_run(value: Any) -> None:
    result = run(Hostile(surrogate=learned().surrogate, history=learned().history, value=value))
    assert len(result.jobs) == len(JOBS)
    assert result.is_complete
    verify(result, JOBS, machine())


class Throws(Advisor):
    """Raises whatever it is told to, from its answer and from what it hears."""

    error: Any

    def advise(self, job: Job, system: Any) -> Advice:
        raise self.error

    def on_end(self, job: Job, outcome: Any, system: Any) -> None:
        raise self.error


@pytest.mark.parametrize("error", [ValueError("no"), MemoryError(), RecursionError(), SystemExit(3), KeyError("x")])
def test_an_advisor_that_raises_leaves_every_request_and_is_counted(error: BaseException) -> None:
    jobs = JOBS.head(30)
    result = run(Throws(error=error), jobs)
    asked = result.jobs["advice"] != "kept-rigid"
    assert set(result.jobs["advice"][asked].astype(str)) == {"kept-error"}
    assert result.jobs["nodes"].equals(result.jobs["requested_nodes"])
    record = result.provenance["advice"]
    assert record["refused"] == int(asked.sum())
    assert record["errors_of_hooks"] == len(jobs)
    assert type(error).__name__ in record["first_error"]
    verify(result, jobs, machine())


class Answers(Advisor):
    """Advises any count."""

    nodes: Any

    def advise(self, job: Job, system: Any) -> Advice:
        return Advice(nodes=self.nodes, limit_s=job.limit_s, reason="advised")


@pytest.mark.parametrize("nodes", [0, 1.5, float("nan"), 10**9, -1, None, "4"])
def test_hostile_answers_are_kept_errors(nodes: Any) -> None:
    result = run(Answers(nodes=nodes))
    asked = result.jobs["advice"] != "kept-rigid"
    assert set(result.jobs["advice"][asked].astype(str)) == {"kept-error"}
    assert result.provenance["advice"]["refused"] == int(asked.sum())
    with pytest.raises(PolicyCheckFailed, match="answers were refused"):
        check_advisor(Answers(nodes=nodes), jobs=20)


def test_late_answers_are_discarded_counted_and_the_run_is_marked() -> None:
    class Slow(FrontAdvisor):
        def advise(self, job: Job, system: Any) -> Advice:
            time.sleep(0.002)
            return super().advise(job, system)

    slow = Slow(surrogate=learned().surrogate, history=learned().history)
    result = run(slow, advice_budget_s=0.001)
    record = result.provenance["advice"]
    assert (record["late"], record["reproducible"]) == (len(JOBS), False)
    assert set(result.jobs["advice"].astype(str)) == {"kept-error"}
    calm = run(advisor()).provenance["advice"]
    assert (calm["late"], calm["reproducible"]) == (0, True)
    with pytest.raises(InvalidArgument, match="time budget"):
        run(slow, advice_budget_s=0)


def test_online_refits_use_finished_jobs_only_and_repeat_to_the_byte() -> None:
    fitted: list[tuple[float, float]] = []

    class Watch(FrontAdvisor):
        def _learn(self, now_s: float) -> None:
            super()._learn(now_s)
            known = self._experience.outcomes(10**6)
            fitted.append((now_s, float(known["end_s"].max()) if len(known) else -1.0))

    online = Watch(surrogate="scaling-law", refit_every_s=6 * 3600.0, least_jobs=10)
    first = run(online)
    times = list(fitted)
    assert len(times) > 1
    assert all(last_s <= now_s for now_s, last_s in times)
    assert figure(first, "advice_advised") > 0
    again = run(online)
    assert first.jobs[ADVICE].equals(again.jobs[ADVICE])


def test_the_latest_jobs_are_learned_from_with_all_that_was_known_when_they_came() -> None:
    """Contexts of a refit to the last 20 jobs are those of a refit to all: what came before is not forgotten."""
    by = FrontAdvisor(surrogate="scaling-law", least_jobs=10_000)
    run(by)
    whole, few = (by._experience.outcomes(most) for most in (10_000, 20))
    assert len(few) == 20 < len(whole)
    pd.testing.assert_frame_equal(few, whole.tail(20).reset_index(drop=True))


def test_exploration_logs_how_likely_each_answer_was() -> None:
    jobs = run(advisor(exploration=0.5, guard=False)).jobs
    explored = jobs[jobs["advice_propensity"] < 1]
    assert len(explored) > 30
    assert explored["advice_propensity"].between(0, 1).all()
    near = explored["nodes"] / explored["requested_nodes"]
    odd = explored[(explored["advice_propensity"] < 0.5)]
    assert near[odd.index].between(0.5, 2).all()
    assert (run(advisor()).jobs["advice_propensity"] == 1).all()


class Quiet:
    """A machine on which nothing runs and nobody waits, and that plans nothing."""

    now_s, ends_seen, power_w = 1e9, 0, 0.0
    queue: tuple[Job, ...] = ()

    def __init__(self, cluster: Cluster | None = None) -> None:
        self.cluster = Cluster.of_nodes(32) if cluster is None else cluster

    def profile(self) -> Any:
        raise Unsupported("This system plans nothing.", "Ask another.")


class Free(Quiet):
    """A machine on which all nodes are free for ever."""

    def profile(self) -> Profile:
        return Profile(self.now_s, self.cluster.nodes)


def with_most(nodes: int) -> Cluster:
    """Return a machine of 32 nodes with jobs of at most *nodes*."""
    part = Partition(name="all", groups=("nodes",), max_nodes=nodes)
    return Cluster(groups=(NodeGroup(nodes=32),), partitions=(part,))


def test_where_the_best_count_could_never_run_the_next_best_is_advised() -> None:
    job = next(job for job in JOBS.jobs() if job.nodes == 4 and len(job.allowed_nodes) > 9)
    by = advisor(rule="fastest", support=False, caution=0.0)
    free, held = (by.advise(job, Quiet(machine)).nodes for machine in (with_most(32), with_most(6)))  # type: ignore[arg-type]
    assert free > 6
    assert held == max(count for count in job.allowed_nodes if count <= 6)


def test_what_is_logged_is_how_often_each_answer_is_given() -> None:
    """Of 4,000 questions about one job each answer comes as often as it says, within four standard errors."""
    job, system = next(job for job in JOBS.jobs() if job.nodes == 8 and len(job.allowed_nodes) > 9), Quiet()
    by = advisor(rule="deadline(1.2)", exploration=0.3, support=False)
    answers = [by.advise(job, system) for _ in range(4_000)]  # type: ignore[arg-type]
    likely = {answer.nodes: answer.propensity for answer in answers}
    assert {answer.propensity for answer in answers} == set(likely.values())
    assert sum(likely.values()) == pytest.approx(1)
    assert len(likely) > 5
    for nodes, share in likely.items():
        found = sum(answer.nodes == nodes for answer in answers) / 4_000
        assert abs(found - share) < 4 * (share * (1 - share) / 4_000) ** 0.5


def test_exploration_opens_no_count_beyond_the_power_budget_or_the_machine() -> None:
    jobs = run(advisor(exploration=1.0, power_budget_w=1.0)).jobs
    assert jobs["nodes"].equals(jobs["requested_nodes"])
    job = next(job for job in JOBS.jobs() if job.nodes == 8 and len(job.allowed_nodes) > 9)
    by = advisor(rule="deadline(1.2)", exploration=1.0, support=False)
    wide, held = (
        {by.advise(job, Quiet(with_most(most))).nodes for _ in range(200)}  # type: ignore[arg-type]
        for most in (32, 8)
    )
    assert max(wide) > 8
    assert held == {nodes for nodes in wide if nodes < 8}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rule", ["qa(2, 1)", "qa(0, 0)", "qa(1e6, 1e6)", "edp", "weighted(0.5)", "slowdown(1e6)"])
@pytest.mark.parametrize("watts", [1e300, 1e-300, 0.0, -1.0, float("nan"), float("inf")])
def test_absurd_forecasts_give_a_sound_answer_and_no_warning(rule: str, watts: float) -> None:
    class Absurd(RuleAdvisor):
        def forecast(self, job: Job, counts: Any, system: Any) -> Forecast:
            times = np.geomspace(1e300, 1e-3, len(counts))
            everywhere = np.ones(len(counts), dtype=bool)
            asked = int(np.flatnonzero(counts == job.nodes)[0])
            return Forecast(counts, times, times * 10, np.full(len(counts), watts), everywhere, asked)

    job = replace(next(job for job in JOBS.jobs() if len(job.allowed_nodes) > 9), limit_s=1e308)
    answer = Absurd(rule=rule).advise(job, Free())  # type: ignore[arg-type]
    assert answer.nodes in {job.nodes, *job.allowed_nodes}
    assert answer.limit_s >= job.limit_s
    if (rule, watts) == ("qa(0, 0)", 1e300):  # an energy beyond all numbers, at no weight, hides no quick count
        assert answer.nodes == max(job.allowed_nodes)


def test_the_guard_holds_node_seconds_while_anybody_waits() -> None:
    crowd = copy.copy(JOBS)
    wide = run(advisor(rule="fastest", guard=False, allow_unsafe=True), crowd).jobs
    held = run(advisor(rule="fastest"), crowd).jobs
    spent = [float((jobs["nodes"] * jobs["run_s"]).sum()) for jobs in (wide, held)]
    assert spent[1] < 0.8 * spent[0]
    with pytest.raises(InvalidArgument, match="ruins the queue without the guard"):
        advisor(rule="fastest", guard=False)


def test_a_power_budget_keeps_jobs_narrow() -> None:
    free = figure(run(advisor(rule="qa(0, 1)")), "peak_power_w")
    tight = run(advisor(rule="qa(0, 1)", power_budget_w=free * 0.6)).jobs
    loose = run(advisor(rule="qa(0, 1)")).jobs
    assert (tight["nodes"] > tight["requested_nodes"]).sum() < (loose["nodes"] > loose["requested_nodes"]).sum()


@pytest.mark.parametrize(
    "engine",
    [
        "loggrid",
        "random",
        pytest.param("mobo", marks=pytest.mark.skipif(find_spec("botorch") is None, reason="needs [mobo]")),
    ],
)
def test_search_engines_choose_among_the_counts_that_they_found(engine: str) -> None:
    jobs = JOBS.head(3 if engine == "mobo" else 25)
    by = advisor(engine=engine, budget=6)
    result = run(by, jobs)
    assert figure(result, "advice_advised") > 0
    assert not result.provenance["advice"]["first_error"]
    verify(result, jobs, machine())
    assert run(by, jobs).jobs[ADVICE].equals(result.jobs[ADVICE])


def test_oracle_saves_energy_against_users_and_says_that_it_sees_the_truth() -> None:
    assert Oracle.clairvoyant
    own = simulate(JOBS, machine(), "easy")
    result = run(Oracle(rule="energy"))
    assert figure(result, "jobs_energy_j") < 0.95 * figure(own, "jobs_energy_j")
    verify(result, JOBS, machine())


def test_a_rule_that_needs_waits_falls_back_where_nobody_knows_them() -> None:
    job = next(iter(JOBS.jobs()))

    system: Any = Quiet()
    by_deadline = advisor(rule="deadline(1.2)").advise(job, system)
    by_queue = advisor().advise(job, system)
    assert (by_queue.nodes, by_queue.reason) == (by_deadline.nodes, by_deadline.reason)


def test_saved_surrogates_and_histories_are_taken_from_disk(tmp_path: Path) -> None:
    learned().surrogate.save(tmp_path / "model")  # type: ignore[union-attr]
    learned().history.to_parquet(tmp_path / "history.parquet")
    loaded = FrontAdvisor(surrogate=str(tmp_path / "model"), history=str(tmp_path / "history.parquet"))
    assert run(loaded).jobs[ADVICE].equals(run(advisor()).jobs[ADVICE])
    with pytest.raises(UnknownName, match="no surrogate called"):
        FrontAdvisor(surrogate="semi-parametrik")


def test_a_history_may_be_a_job_log(tmp_path: Path) -> None:
    log = registry.make("models", "synth-pm100", jobs=300, nodes=32, seed=4)
    registry.find("writers", "workload")(log, tmp_path / "log.parquet")
    registry.find("writers", "swf")(log, tmp_path / "log.swf")
    for name in ("log.parquet", "log.swf"):
        read = FrontAdvisor(surrogate="scaling-law", history=str(tmp_path / name))
        assert len(read.before) == len(outcomes_table(registry.make("readers", "auto", path=tmp_path / name)))


def test_a_history_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="There is no history"):
        FrontAdvisor(surrogate="scaling-law", history=str(tmp_path / "none.parquet"))
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InvalidArgument, match="Cannot read the history"):
        FrontAdvisor(surrogate="scaling-law", history=str(tmp_path / "cut.parquet"))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"adoption": 1.5}, "adoption"),
        ({"caution": -1}, "caution"),
        ({"most_counts": 1}, "most_counts"),
        ({"power_budget_w": 0}, "power_budget_w"),
        ({"adoption": "x"}, "adoption of the advisor is 'x'"),
        ({"adoption_seed": 1.5}, "adoption_seed"),
        ({"guard": "maybe"}, "true or false"),
        ({"depth": 1.5}, "whole number from 0"),
        ({"budget": 0}, "budget"),
        ({"refit_jobs": 0}, "refit_jobs"),
        ({"least_jobs": -1}, "least_jobs"),
        ({"history": 5}, "history of the advisor is 5"),
        ({"refit_every_s": 0}, "seconds above 0"),
        ({"refit_every_s": "x"}, "seconds above 0"),
        ({"rule": "best"}, "no rule 'best'"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        FrontAdvisor(surrogate="scaling-law", **parameters)


def test_a_strangers_surrogate_needs_no_more_than_the_contract() -> None:
    class Ideal(Surrogate):
        def fit(self, outcomes: Any) -> Any:
            return self

        def predict(self, contexts: Any, nodes: Any) -> Prediction:
            shape = (len(contexts), len(nodes))
            base_s = (
                np.exp(contexts["log_limit_s"].to_numpy())[:, None] / 2 * contexts["asked_nodes"].to_numpy()[:, None]
            )
            mean = np.stack([base_s / nodes, np.broadcast_to(500.0 * nodes, shape)], axis=2)
            return Prediction(mean, mean, mean, np.ones(shape, dtype=bool))

        def save(self, folder: Any) -> None: ...

        @classmethod
        def load(cls, folder: Any) -> Any:
            return cls()

    result = run(FrontAdvisor(surrogate=Ideal()))
    assert figure(result, "advice_advised") > 5
