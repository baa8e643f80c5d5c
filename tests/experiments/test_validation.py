"""Validation against recorded waits: a log that was itself simulated must be met to the second."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsim import Cluster, Workload, make_policy, registry, simulate
from hpcsim.cli import app
from hpcsim.errors import WorkloadError
from hpcsim.experiments.validation import CAVEATS, validate

MACHINE = Cluster.of_nodes(32)


def recorded_by(policy: str, unknown: int = 0) -> Workload:
    """Return a workload whose recorded waits are those under *policy*, the first *unknown* ones lost."""
    plain = registry.make("models", "poisson", jobs=400, nodes=32, load=0.9, seed=3)
    waits_s = simulate(plain, MACHINE, policy).jobs["wait_s"].to_numpy().copy()
    waits_s[:unknown] = -1
    return Workload.of(
        **{name: plain.columns[name] for name in ("job_id", "submit_s", "run_s", "limit_s", "nodes")},
        recorded_wait_s=waits_s,
        user_id=[row % 7 for row in range(len(plain))],
    )


def test_the_policy_that_made_the_log_is_found_again() -> None:
    found = validate(recorded_by("easy"), MACHINE, {"fcfs": make_policy("fcfs"), "easy": make_policy("easy")})
    exact, other = found.overall["easy"], found.overall["fcfs"]
    assert found.nearest == "easy"
    assert (exact.jobs, exact.median_error_s, exact.bias_s, exact.within_factor_two) == (400, 0, 0, 1)
    assert exact.rank_correlation == pytest.approx(1)
    assert other.median_error_s > 0
    assert other.simulated_mean_s > other.recorded_mean_s
    assert found.compared == 400
    assert all(sum(each.jobs for each in kind.values()) == 400 for kind in found.classes["easy"].values())
    assert found.recorded_peak_nodes <= 32
    assert found.caveats() == list(CAVEATS)


def test_jobs_without_a_recorded_wait_are_left_out() -> None:
    found = validate(recorded_by("fcfs", unknown=10), MACHINE, {"fcfs": make_policy("fcfs")})
    assert (found.compared, found.not_compared) == (390, 10)


def test_a_record_that_holds_more_than_the_machine_is_named() -> None:
    """Two jobs of three nodes at once by the log, on four nodes."""
    workload = Workload.of(submit_s=[0, 0], run_s=[9, 9], nodes=[3, 3], recorded_wait_s=[0, 0])
    found = validate(workload, Cluster.of_nodes(4), {"fcfs": make_policy("fcfs")})
    assert found.recorded_peak_nodes == 6
    assert found.caveats()[0].startswith("By its own record the log held up to 6 of 4 at once")
    assert found.overall["fcfs"].simulated_mean_s == 4.5


def test_a_log_without_waits_is_refused() -> None:
    plain = Workload.of(submit_s=[0], run_s=[9], nodes=[3])
    with pytest.raises(WorkloadError, match="records no waits"):
        validate(plain, MACHINE, {"fcfs": make_policy("fcfs")})


def test_the_command(shared: Path) -> None:
    path = shared / "samples" / "head200-KTH-SP2-1996-2.1-cln.swf"
    call: Callable[..., str] = lambda *more: CliRunner().invoke(app, ["validate", str(path), *more]).stdout  # noqa: E731
    facts = json.loads(call("--json", "--policy", "easy"))
    shown = call("--policy", "easy", "--policy", "fcfs")
    assert list(facts["policies"]) == ["easy"]
    assert facts["compared"] == facts["policies"]["easy"]["jobs"] > 100
    assert "comes nearest: half of the simulated waits lie within" in shown
    assert all(caveat in shown for caveat in CAVEATS)
