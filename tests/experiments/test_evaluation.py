"""Contenders on suites: published figures, hand-worked standings, and what people read when a log is missing."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from hpcsim.errors import HpcsimError, InvalidArgument, UnknownName, WorkloadError
from hpcsim.experiments.evaluation import fresh, suites
from hpcsim.experiments.evaluation.contenders import RULES, Contender
from hpcsim.experiments.evaluation.logs import find_log
from hpcsim.experiments.evaluation.records import records, row
from hpcsim.experiments.evaluation.runner import Score, chosen, evaluate, score
from hpcsim.experiments.evaluation.sequences import (
    JOBS,
    Sequence,
    consecutive_starts,
    random_starts,
    rows_of,
)
from hpcsim.experiments.evaluation.standing import over_seeds, standings
from hpcsim.workload import Workload
from tests.schedules import jobs

PUBLISHED = {
    ("lublin-1", "backfill"): {"fcfs": 235.82, "saf": 54.00, "wfp3": 126.50},
    ("lublin-2", "none"): {"sjf": 787.89},
    ("hpc2n", "backfill"): {"f1": 71.95},
}
"""RLScheduler's tables, WFP3 by the true wait; tests/oracle has all of them."""


@pytest.mark.parametrize(("log", "mode"), PUBLISHED)
def test_the_ten_sequences_give_published_figures(shared: Path, log: str, mode: str) -> None:
    wanted = PUBLISHED[log, mode]
    found = evaluate(
        [Contender(name, name) for name in wanted],
        f"rls-{log}",
        mode,
        data=str(shared / "traces"),  # type: ignore[arg-type]
    )
    means = {name: np.mean([each.mean_bounded_slowdown for each in scores]) for name, scores in found.items()}
    assert {name: f"{mean:.2f}" for name, mean in means.items()} == {n: f"{v:.2f}" for n, v in wanted.items()}


def test_processes_and_fewer_sequences_change_nothing(shared: Path) -> None:
    def slowdowns(**options: int) -> list[float]:
        contenders = [Contender("saf", "saf"), Contender("easy", "easy")]
        found = evaluate(contenders, "rls-lublin-1", "backfill", data=str(shared / "traces"), **options)  # type: ignore[arg-type]
        return [each.mean_bounded_slowdown for scores in found.values() for each in scores]

    whole = slowdowns()
    assert slowdowns(workers=2) == whole
    assert slowdowns(sequences=2) == [whole[place] for place in (0, 9, 10, 19)]


def one(table: str, nodes: int = 4, source: str = "hand", condition: str = "") -> Sequence:
    return Sequence("hand", jobs(table), nodes, source, condition)


HAND = """
    1  0 100 100 3
    2  1 100 100 4
    3  2  50  50 1
    4  3 200 200 1
"""


def test_a_hand_worked_sequence_in_both_protocols_and_modes() -> None:
    """4 nodes: job 2 is blocked until 100; job 3 ends by then, job 4 does not."""
    sequence = one(HAND)
    waits = {
        ("published", "backfill"): [0, 99, 0, 197],
        ("published", "none"): [0, 99, 198, 197],
        ("full-easy", "backfill"): [0, 99, 0, 197],
        ("full-easy", "none"): [0, 99, 198, 197],
    }
    for (protocol, mode), expected in waits.items():
        found = score(Contender("fcfs", "fcfs").policy(protocol, mode), sequence, protocol)  # type: ignore[arg-type]
        assert found.mean_wait_s == np.mean(expected), (protocol, mode)
        assert found.max_wait_s == max(expected)
        slowdown = np.maximum(1, 1 + np.array(expected) / [100, 100, 50, 200])
        assert found.mean_bounded_slowdown == pytest.approx(slowdown.mean())
        span = 200 if protocol == "published" else 400
        assert found.utilisation == pytest.approx((300 + 400 + 50 + 200) / (4 * span))


def test_limits_do_not_kill_in_a_test() -> None:
    found = score(
        Contender("fcfs", "fcfs").policy("full-easy", "backfill"), one("1 0 100 10 4\n2 0 10 10 4"), "full-easy"
    )
    assert found.max_wait_s == 100


def test_what_stands_beside_whom() -> None:
    def made(name: str, **parameters: object) -> str:
        return repr(Contender(name, name, parameters).policy("full-easy", "backfill"))

    assert "backfill_order=SJF()" in made("saf")
    assert "order=SAF()" in made("saf")
    assert made("easy").startswith("EASY(order=FCFS(), backfill_order=None")
    assert "order=SAF()" in made("backfill", order="saf")
    assert "SJF" not in made("backfill", order="saf")
    assert "depth=0" in repr(Contender("saf", "saf").policy("published", "none"))
    assert {each.label for each in RULES} >= {"fcfs", "sjf", "f1", "saf", "wfp3", "unicep", "easy", "easy-sjbf"}


def scores(*costs: float) -> list[Score]:
    return [Score(cost, cost * 10, cost * 100, 0.5, 0.001) for cost in costs]


def sequences(*sources: str) -> list[Sequence]:
    return [one("1 0 1 1 1", source=source) for source in sources]


def test_standing_by_hand() -> None:
    costs = {"a": scores(2, 8, 4, 4), "b": scores(1, 2, 4, 8)}
    mine, base = standings(costs, sequences("x", "x", "x", "x"), reference="b")
    assert mine.ratio.estimate == pytest.approx((2 * 4 * 1 * 0.5) ** 0.25)
    assert mine.difference.estimate == pytest.approx((1 + 6 + 0 - 4) / 4)
    assert mine.won == (0 + 0 + 0.5 + 1) / 4
    assert (mine.mean, mine.max_wait_s, mine.cpu_us) == (4.5, 800, pytest.approx(1000))
    assert base.ratio.estimate == 1
    assert base.won == 0.5


def test_a_source_is_one_observation() -> None:
    """Ten workloads, each with the same ratio on all of its windows: a window more of each tells nothing new."""
    rng = np.random.default_rng(3)
    ratios = np.exp(rng.normal(0, 0.2, 10))
    names = [f"workload {number}" for number in range(10)]

    def width(windows: int) -> float:
        mine = scores(*(ratio * 10 for ratio in ratios for _ in range(windows)))
        theirs = scores(*(10.0 for _ in range(10 * windows)))
        there = sequences(*(name for name in names for _ in range(windows)))
        interval = standings({"mine": mine, "saf": theirs}, there, reference="saf")[0].ratio
        return interval.high / interval.low

    assert width(6) == pytest.approx(width(1), rel=1e-9)
    assert math.log(width(1)) / 2 == pytest.approx(2.2622 * np.log(ratios).std(ddof=1) / np.sqrt(10), rel=1e-4)


def test_over_seeds_by_hand() -> None:
    base = np.array([10.0, 10.0, 10.0, 10.0])
    together = over_seeds("net", np.array([[9, 9, 9, 9], [9, 9, 20, 9.0]]), base)
    assert together.ratio == pytest.approx(0.9)
    assert together.improvement == 7 / 8
    assert together.profile == {0.9: 7 / 8, 1.0: 7 / 8, 1.1: 7 / 8, 1.5: 7 / 8, 2.0: 1}
    assert together.low <= together.ratio <= together.high


def test_unknown_reference_and_cost() -> None:
    with pytest.raises(InvalidArgument, match=r"'sfa' was not tested\. Did you mean 'saf'"):
        standings({"saf": scores(1)}, sequences("x"), reference="sfa")
    with pytest.raises(InvalidArgument, match="no cost 'wait'"):
        standings({"saf": scores(1)}, sequences("x"), reference="saf", cost="wait")


def test_cuts() -> None:
    assert consecutive_starts(59_715, 0.4) == list(range(35_829, 59_715 - JOBS + 1, JOBS))
    assert len(consecutive_starts(59_715, 0.4)) == 23
    starts = random_starts(10_000, 150, (1, 2))
    assert starts == random_starts(10_000, 150, (1, 2)) == sorted(set(starts))
    assert len(starts) == 150
    assert starts[0] >= 0
    assert starts[-1] <= 10_000 - JOBS
    assert chosen(10, None) == list(range(10))
    assert chosen(10, 3) == [0, 4, 9]
    log = Workload.of(submit_s=range(3000), run_s=[1] * 3000, nodes=[1] * 3000, limit_s=[1] * 3000)
    assert rows_of(log, 5).columns["submit_s"].tolist() == list(range(5, 5 + JOBS))


def test_fresh_workloads_are_independent_and_the_same_each_time() -> None:
    made = fresh.fresh(1)
    assert len({each.source for each in made}) == len(made) == fresh.WORKLOADS
    again = fresh.fresh(1)
    assert [each.workload.sha256() for each in made] == [each.workload.sha256() for each in again]
    others = fresh.fresh(1, fresh.CHOICE_SEED)
    assert len({each.workload.sha256() for each in [*made, *others]}) == 2 * len(made)


@pytest.mark.parametrize(
    ("make", "conditions"), [(fresh.loads, 7), (fresh.machines, 4), (fresh.estimates, 5)], ids=["load", "size", "limit"]
)
def test_conditions_vary_one_thing(make: object, conditions: int) -> None:
    made = make()  # type: ignore[operator]
    assert len({each.condition for each in made}) == conditions
    assert all(len(each.workload) == JOBS and each.workload.nodes.max() <= each.nodes for each in made)
    if make is fresh.estimates:
        assert all((each.workload.limit_s >= each.workload.run_s).all() for each in made)


def test_a_missing_log_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPCSIM_DATA", str(tmp_path / "cache"))
    monkeypatch.delenv("HPCSIM_SHARED", raising=False)
    with pytest.raises(WorkloadError, match="hpcsim workload fetch sdsc-sp2"):
        find_log("sdsc-sp2", str(tmp_path))
    with pytest.raises(WorkloadError, match="deep-batch-scheduler"):
        find_log("lublin-1", None)
    (tmp_path / "lublin_256.swf").write_text("")
    assert find_log("lublin-1", str(tmp_path)) == tmp_path / "lublin_256.swf"


def test_names_are_checked_before_anything_runs() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'rls-lublin-1'"):
        suites.find_suite("rls-lublin1")
    with pytest.raises(HpcsimError, match="eazy"):
        evaluate([Contender("eazy", "eazy")], "windows-fresh", "backfill")


def test_records_have_what_is_promised() -> None:
    there = [one("1 0 1 1 1", condition="load 0.9")]
    (record,) = records({Contender("saf", "saf"): None}, {"saf": scores(3)}, there, "rls-lublin-1", "none")
    assert {"policy", "suite", "mode", "training_seed", "per_sequence"} <= set(record)
    assert record["mean_bounded_slowdown"] == 3
    assert record["max_wait_s"] == 300
    assert record["training_seed"] is None
    assert record["per_sequence"][0]["condition"] == "load 0.9"
    assert row(standings({"saf": scores(3)}, there, reference="saf")[0])[:3] == ("saf", "3", "1.000")


def test_a_trained_policy_states_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    trained = SimpleNamespace(trained=SimpleNamespace(card={"seed": 7}))
    monkeypatch.setattr("hpcsim.experiments.evaluation.contenders.make", lambda *_: trained)
    assert Contender("net", "net").training_seed() == 7
