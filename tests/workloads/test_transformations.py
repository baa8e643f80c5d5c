"""Workloads cut, scaled, thinned, merged: by hand where that is possible, and always written down."""

from __future__ import annotations

import numpy as np
import pytest

from hpcsim import Cluster, Workload, make_policy, registry, simulate
from hpcsim.errors import WorkloadError
from hpcsim.workloads.models.lublin import lublin
from hpcsim.workloads.models.poisson import poisson
from hpcsim.workloads.models.synth import synth_pm100
from hpcsim.workloads.transformations.estimates import replace_estimates
from hpcsim.workloads.transformations.load import scale_load, thin_by_user
from hpcsim.workloads.transformations.merge import merge
from hpcsim.workloads.transformations.moldable import make_moldable, make_rigid
from hpcsim.workloads.transformations.people import anonymise
from hpcsim.workloads.transformations.sessions import resample_sessions
from hpcsim.workloads.transformations.window import busiest, part_by_time, split_by_time, window
from hpcsim.workloads.writers.swf import write_swf

DAY_S, WEEK_S = 86_400, 7 * 86_400


def notes(workload: Workload) -> list[str]:
    return workload.provenance["transformations"]


@pytest.fixture
def recorded() -> Workload:
    """Six jobs with waits; at 100 s job 2 runs, job 3 waits, job 1 has ended and job 4 ends at that instant."""
    return Workload.of(
        job_id=[1, 2, 3, 4, 5, 6],
        submit_s=[0, 10, 50, 60, 100, 180],
        run_s=[50, 200, 30, 20, 10, 10],
        limit_s=[60, 500, 60, 60, 60, 60],
        nodes=[1, 2, 3, 4, 5, 6],
        recorded_wait_s=[0, 20, 70, 20, 0, 0],
    )


def test_window_holds_its_start_and_not_its_end(recorded):
    part = window(recorded, start_s=50, end_s=100)
    assert part.job_id.tolist() == [3, 4]
    assert part.submit_s.tolist() == [50, 60]
    assert notes(part) == ["window(start_s=50, end_s=100, running=False)"]


def test_window_on_a_machine_that_is_not_empty(recorded):
    """Job 2 began at 30 s: at 100 s it has run 70 of 200 s and has 430 of its 500 s of limit left."""
    part = window(recorded, start_s=100, end_s=150, running=True)
    assert part.job_id.tolist() == [2, 3, 5]
    assert part.submit_s.tolist() == [100, 100, 100]
    assert part.run_s.tolist() == [130, 30, 10]
    assert part.limit_s.tolist() == [430, 60, 60]
    assert part.was_running.tolist() == [True, False, False]
    assert part.run_s.dtype == np.int64
    assert len(notes(part)) == 1


def test_jobs_that_ran_start_at_once(recorded):
    part = window(recorded, start_s=100, end_s=150, running=True)
    result = simulate(part, Cluster.of_nodes(6), make_policy("easy"))
    assert result.jobs.set_index("job_id")["start_s"][2] == 100


def test_job_that_overran_its_limit_keeps_what_it_had_left():
    log = Workload.of(submit_s=[0, 150], run_s=[300, 1], limit_s=[50, 1], nodes=[1, 1], recorded_wait_s=[0, 0])
    part = window(log, start_s=100, end_s=200, running=True)
    assert (part.run_s.tolist(), part.limit_s.tolist()) == ([200, 1], [200, 1])


def test_window_needs_waits_to_know_who_ran():
    with pytest.raises(WorkloadError, match="no column 'recorded_wait_s'"):
        window(poisson(), start_s=0, end_s=10, running=True)
    with pytest.raises(WorkloadError, match="is empty"):
        window(poisson(), start_s=10, end_s=10)


@pytest.fixture
def days() -> Workload:
    """Day 0: two jobs of 10 node-seconds each; day 1: one of 1,000; day 8: three of 1."""
    submits = [0, 100, DAY_S, 8 * DAY_S, 8 * DAY_S + 1, 8 * DAY_S + 2]
    return Workload.of(submit_s=submits, run_s=[10, 10, 100, 1, 1, 1], nodes=[1, 1, 10, 1, 1, 1])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"span": "day"}, [3]),
        ({"span": "day", "by": "jobs"}, [4, 5, 6]),
        ({"span": "week"}, [1, 2, 3]),
        ({"span": "week", "midnight_s": DAY_S}, [3]),
        ({"span": "day", "by": "jobs", "midnight_s": 1}, [2, 3]),
    ],
)
def test_busiest(days, options, expected):
    """The last case: with midnight at 1 s jobs 2 and 3 share a day, as do jobs 5 and 6: of equals the first."""
    part = busiest(days, **options)
    assert part.job_id.tolist() == expected
    assert notes(part)[0].startswith("busiest(span=")


@pytest.mark.parametrize("load", [0.3, 0.95])
def test_scale_load(load):
    before = poisson(jobs=500, nodes=64, load=0.7)
    after = scale_load(before, load=load)
    assert after.offered_load(64) == pytest.approx(load, rel=0.001)
    assert after.submit_s.dtype == np.int64
    assert (after.run_s == before.run_s).all()
    assert notes(after) == [f"scale_load(load={load}, nodes=64)"]
    assert "transformations" not in before.provenance


def test_scale_load_needs_a_machine_and_a_span():
    with pytest.raises(WorkloadError, match="size of the machine"):
        scale_load(Workload.of(submit_s=[0, 1], run_s=[1, 1], nodes=[1, 1]), load=0.5)
    with pytest.raises(WorkloadError, match="offers no load"):
        scale_load(Workload.of(submit_s=[1, 1], run_s=[1, 1], nodes=[1, 1]), load=0.5, nodes=4)


def test_split_loses_and_repeats_no_job():
    log = poisson(jobs=1000)
    shuffled = log.select(np.random.default_rng(1).permutation(1000), "shuffled")
    parts = split_by_time(shuffled, shares=(0.7, 0.15, 0.15))
    assert [len(part) for part in parts] == [700, 150, 150]
    assert sorted(np.concatenate([part.job_id for part in parts])) == sorted(log.job_id)
    assert parts[0].submit_s.max() <= parts[1].submit_s.min()
    assert parts[1].submit_s.max() <= parts[2].submit_s.min()
    assert notes(part_by_time(log, part=2))[-1] == "split(shares=[0.7, 0.15, 0.15], part=2)"
    with pytest.raises(WorkloadError, match="There is no part 3"):
        part_by_time(log, part=3)
    with pytest.raises(WorkloadError, match="Got share = 0"):
        split_by_time(log, shares=(1, 0))


def test_thinning_keeps_users_whole():
    log = poisson(jobs=2000)
    part = thin_by_user(log, share=0.5, seed=1)
    kept = set(part.user_id.tolist())
    assert len(kept) == 6
    assert len(part) == np.isin(log.user_id, list(kept)).sum()
    assert len(set(thin_by_user(log, share=0.01).user_id.tolist())) == 1
    with pytest.raises(WorkloadError, match="no column 'user_id'"):
        thin_by_user(Workload.of(submit_s=[0], run_s=[1], nodes=[1]), share=0.5)


@pytest.mark.parametrize("kind", ["run-times", "factor", "tsafrir"])
def test_replaced_estimates_are_never_below_the_run_time(kind):
    after = replace_estimates(poisson(jobs=3000), kind=kind, factor=3)
    assert (after.limit_s >= after.run_s).all()
    assert after.limits_are_run_times == (kind == "run-times")
    ratio = after.limit_s / after.run_s
    if kind == "run-times":
        assert (ratio == 1).all()
    if kind == "factor":
        assert (ratio.mean(), ratio.max()) == (pytest.approx(2, abs=0.05), pytest.approx(3, abs=0.05))
    if kind == "tsafrir":
        assert len(np.unique(after.limit_s)) < 60


def test_anonymise_keeps_who_is_equal_and_hides_who_it_is():
    log = poisson(jobs=500)
    log.header = {"Acknowledge": ["A. Person"], "MaxProcs": ["64"]}
    log.provenance["source"] = "/somewhere/secret.swf"
    log.columns["submit_s"] += 1_000_000
    log.columns["name"] = np.array(["secret.sh"] * 500, dtype=object)
    log.columns["account"] = np.array([None if user == 1 else f"acc{user}" for user in log.user_id], dtype=object)
    after = anonymise(log, seed=3)
    pairs = set(zip(log.user_id.tolist(), after.user_id.tolist(), strict=True))
    assert len(pairs) == len(set(log.user_id.tolist())) == len({new for _, new in pairs})
    assert any(old != new for old, new in pairs)
    assert after.submit_s[0] == 0
    assert (after.account[log.user_id == 1] == -1).all()
    assert after.header == {"MaxProcs": ["64"]}
    assert "secret" not in repr((after.columns, after.provenance, after.header, after.ledger))


def test_merge_puts_logs_on_one_clock():
    one = Workload.of(submit_s=[100, 300], run_s=[1, 2], nodes=[1, 2], user_id=[7, -1])
    two = Workload.of(submit_s=[0, 100], run_s=[3, 4], nodes=[3, 4], user_id=[7, 0], queue_id=[1, 1])
    both = merge(one, two)
    assert both.submit_s.tolist() == [0, 0, 100, 200]
    assert both.run_s.tolist() == [1, 3, 4, 2]
    assert both.job_id.tolist() == [1, 2, 3, 4]
    assert both.user_id.tolist() == [7, 15, 8, -1]
    assert "queue_id" not in both.columns
    assert merge(poisson(nodes=8), poisson(nodes=32)).machine_nodes == 32
    with pytest.raises(WorkloadError, match="Some of the logs count nodes"):
        merge(poisson(), lublin(jobs=5))
    with pytest.raises(WorkloadError, match="two workloads or more"):
        merge(one)


@pytest.mark.parametrize("shares", [0.5, "0.5", (), None, (0.5, 0), ("a",)])
def test_shares_that_are_none_are_refused(recorded, shares):
    for split in (part_by_time, split_by_time):
        with pytest.raises(WorkloadError, match="Got share"):
            split(recorded, shares=shares)


def test_a_switch_that_is_neither_on_nor_off_is_refused(recorded):
    with pytest.raises(WorkloadError, match="Got running = 'maybe'"):
        window(recorded, start_s=0, end_s=100, running="maybe")


def test_moldable_and_rigid_again():
    log = poisson(jobs=300, nodes=64)
    moldable = make_moldable(log, seed=1)
    assert all(asked in counts for asked, counts in zip(log.nodes.tolist(), moldable.allowed_nodes, strict=True))
    assert (moldable.scaling_a >= log.nodes).all()
    assert (moldable.scaling_a <= np.minimum(4 * log.nodes, 64)).all()
    assert (moldable.run_s == log.run_s).all()
    rigid = make_rigid(moldable)
    assert "allowed_nodes" not in rigid.columns
    assert notes(rigid) == ["make_moldable(nodes=64, most_variation=2.0, seed=1)", "make_rigid()"]
    assert len(simulate(rigid, Cluster.of_nodes(64), make_policy("fcfs")).jobs) == 300


@pytest.fixture(scope="module")
def weeks() -> Workload:
    """Ten weeks with a working week, sessions and 200 users."""
    return synth_pm100(jobs=14_000, nodes=128, preset="habit-driven", load=0.9, seed=6)


@pytest.mark.parametrize(("load", "length"), [(0.5, 8), (0.9, 30), (1.2, 12)])
def test_resampled_load_is_met(weeks, load, length):
    after = resample_sessions(weeks, load=load, weeks=length, seed=1)
    assert after.offered_load(128) == pytest.approx(load, rel=0.02)
    assert after.submit_s.max() <= length * WEEK_S
    assert (np.diff(after.submit_s) >= 0).all()
    assert len(notes(after)) == 1


def test_resampling_keeps_hours_and_days(weeks):
    """Each job comes at the second of the week at which it came."""
    after = resample_sessions(weeks, load=0.9, weeks=10, seed=2)
    key = ("user_id", "run_s", "nodes", "limit_s", "scaling_a")
    known = {
        (tuple(weeks.columns[name][row] for name in key), int(weeks.submit_s[row] % WEEK_S))
        for row in range(len(weeks))
    }
    for row in range(0, len(after), 13):
        assert (tuple(after.columns[name][row] for name in key), int(after.submit_s[row] % WEEK_S)) in known


def test_resampling_keeps_sessions_whole():
    """Two users: A always submits two jobs 10 s apart, B one at a time; sessions of A stay pairs."""
    submits = [day * DAY_S + extra for day in range(14) for extra in (0, 10, 40_000)]
    log = Workload.of(submit_s=submits, run_s=[100] * 42, nodes=[1] * 42, user_id=[1, 1, 2] * 14)
    after = resample_sessions(log, load=0.01, weeks=3, nodes=4, seed=1)
    mine = after.submit_s[after.user_id == 1]
    first, second = (np.sort(mine[mine % DAY_S == extra]) for extra in (0, 10))
    assert len(first) + len(second) == len(mine)
    assert (second == first + 10).all()


def test_resampling_is_seeded_and_needs_users(weeks):
    one, same, other = (resample_sessions(weeks, weeks=3, seed=seed).sha256() for seed in (1, 1, 2))
    assert one == same != other
    with pytest.raises(WorkloadError, match="no column 'user_id'"):
        resample_sessions(lublin(jobs=50))
    with pytest.raises(WorkloadError, match="There are no jobs to resample"):
        resample_sessions(weeks.head(0), load=1)


@pytest.mark.parametrize("name", registry.names("transformations"))
def test_every_transformation_is_registered_with_a_summary(name):
    assert registry.summary("transformations", name).endswith(".")


def test_swf_files_say_what_was_done(tmp_path, read):
    log = scale_load(poisson(jobs=50, nodes=64), load=0.5)
    write_swf(log, tmp_path / "x.swf")
    assert read(tmp_path / "x.swf").header["Note"] == ["changed by hpcsim: scale_load(load=0.5, nodes=64)"]


def test_transformations_leave_their_input_alone(weeks):
    before = weeks.sha256()
    for name, parameters in {"window": {"start_s": 0, "end_s": 1e9}, "anonymise": {}, "make-rigid": {}}.items():
        registry.make("transformations", name, workload=weeks, **parameters)
    assert weeks.sha256() == before


def test_what_was_recorded_of_a_running_job_is_that_of_its_rest():
    """At 100 s job 1 has run 50 of 200 s, two samples and a half; job 2 waits until 130 s; job 3 comes later."""
    series = np.empty(3, dtype=object)
    series[:] = [tuple(range(10)), (7.0,), ()]
    log = Workload.of(
        submit_s=[0, 90, 120],
        run_s=[200, 10, 10],
        limit_s=[400, 10, 10],
        nodes=[1, 1, 1],
        recorded_wait_s=[50, 40, -1],
        recorded_energy_j=[8000.0, 300.0, np.nan],
        cpu_s=[100, -1, 5],
        power_series_w=series,
    )
    part = window(log, start_s=100, end_s=200, running=True)
    assert part.run_s.tolist() == [150, 10, 10]
    assert part.columns["recorded_energy_j"].tolist()[:2] == [6000, 300]
    assert np.isnan(part.columns["recorded_energy_j"][2])
    assert part.columns["cpu_s"].tolist() == [75, -1, 5]
    assert part.columns["recorded_wait_s"].tolist() == [0, 30, -1]
    assert list(part.columns["power_series_w"]) == [tuple(range(2, 10)), (7.0,), ()]
    assert log.columns["power_series_w"][0] == tuple(range(10))
