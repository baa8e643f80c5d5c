"""Energy, cost and carbon in the tables, the summary, saved results and on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsim.cli import app
from hpcsim.cluster import Cluster, NodeGroup
from hpcsim.power import NodePower, Tariff
from hpcsim.results.energy import ENERGY_KEYS, JOB_ENERGY_COLUMNS
from hpcsim.results.result import Result
from hpcsim.results.run import simulate
from hpcsim.workload import Workload

POWER = NodePower(idle_w=1000, busy_w=3000)
TARIFF = Tariff(price_per_kwh=(0.1, 0.2), co2_kg_per_kwh=(0.5,))
CLUSTER = Cluster(groups=(NodeGroup(nodes=2, power=POWER),), tariff=TARIFF, power_cap_w=5000)
TOML = """
power_cap_w = 9000
[[groups]]
nodes = 2
power = {idle_w = 1000, busy_w = 3000}
[tariff]
price_per_kwh = [0.1, 0.2]
"""
LOG = """; MaxProcs: 2
1 0 -1 5400 1 -1 -1 1 5400 -1 1 1 1 1 1 1 -1 -1
2 0 -1 3600 1 -1 -1 1 3600 -1 1 1 1 1 1 1 -1 -1
"""


@pytest.fixture
def result() -> Result:
    """Two jobs of one node: a runs 0 to 5,400 s; b, held back by the cap, 5,400 to 9,000 s."""
    workload = Workload.of(submit_s=[0, 0], run_s=[5400, 3600], nodes=[1, 1])
    return simulate(workload, CLUSTER, "easy", check=True)


def test_cost_by_the_hour(result: Result) -> None:
    """a: 3 kWh at 0.1 in the first hour, 1.5 kWh at 0.2 in half of the second; b: 1.5 kWh at 0.2, 1.5 at 0.1 again.
    The other node idles at 1 kW all the time: 1 at 0.1, 1 at 0.2, 0.5 at 0.1."""
    assert result.jobs["energy_j"].tolist() == pytest.approx([4.5 * 3.6e6, 3 * 3.6e6])
    assert result.jobs["cost"].tolist() == pytest.approx([0.6, 0.45])
    assert result.jobs["co2_kg"].tolist() == pytest.approx([2.25, 1.5])
    summary = result.summary()
    assert summary["energy_j"] == pytest.approx(10 * 3.6e6)
    assert summary["jobs_energy_j"] == pytest.approx(7.5 * 3.6e6)
    assert summary["idle_energy_j"] == pytest.approx(2.5 * 3.6e6)
    assert (summary["mean_power_w"], summary["peak_power_w"]) == (4000, 4000)
    assert summary["cost"] == pytest.approx(0.6 + 0.45 + 0.35)
    assert summary["co2_kg"] == pytest.approx(5)
    assert summary["cap_overshoot_w_s"] == 0


def test_overshoot_in_watt_seconds() -> None:
    """2,000 W declared and 4,500 W drawn for 10 s beside an idle node, under 5,000 W: 500 W x 10 s."""
    workload = Workload.of(submit_s=[0], run_s=[10], nodes=[1], power_w=[2000.0], mean_power_w=[4500.0])
    assert simulate(workload, CLUSTER, "easy").summary()["cap_overshoot_w_s"] == 5000


def test_saved_and_loaded(result: Result, tmp_path: Path) -> None:
    """The same tables, also that of power; a result without power leaves none behind."""
    result.save(tmp_path / "out")
    loaded = Result.load(tmp_path / "out")
    assert loaded.power is not None
    assert loaded.power.equals(result.power)
    assert loaded.jobs.equals(result.jobs)
    assert set(ENERGY_KEYS) < set(loaded.summary())
    assert loaded.summary() == result.summary()
    plain = simulate(Workload.of(submit_s=[0], run_s=[1], nodes=[1]), Cluster.of_nodes(1), "easy")
    assert plain.power is None
    assert not set(JOB_ENERGY_COLUMNS) & set(plain.jobs.columns)
    plain.save(tmp_path / "out")
    assert Result.load(tmp_path / "out").power is None


def test_attempts_and_timeline_count_the_nodes_that_were_held() -> None:
    """Rounded up to blocks of 4; and one shared node is one node, however many jobs are on it."""
    blocks = Cluster(groups=(NodeGroup(nodes=8, allocation_sizes=(4, 8)),))
    found = simulate(Workload.of(submit_s=[0], run_s=[10], nodes=[3]), blocks, "easy")
    assert (found.jobs["nodes"].tolist(), found.attempts["nodes"].tolist()) == ([3], [4])
    assert found.timeline["used_nodes"].tolist() == [4, 0]
    shared = Workload.of(submit_s=[0, 0, 5], run_s=[10, 4, 10], nodes=[1, 1, 2], exclusive=[False] * 3)
    found = simulate(shared, Cluster.of_nodes(2, cores=4), "easy", check=True)
    assert found.timeline[["time_s", "used_nodes"]].values.tolist() == [[0, 1], [5, 2], [15, 0]]


def test_on_the_command_line(tmp_path: Path) -> None:
    """A cluster file, and a cap that replaces its own."""
    (tmp_path / "log.swf").write_text(LOG, encoding="utf-8")
    (tmp_path / "cluster.toml").write_text(TOML, encoding="utf-8")
    command = ["run", str(tmp_path / "log.swf"), "--cluster", str(tmp_path / "cluster.toml")]
    both = CliRunner().invoke(app, command)
    assert both.exit_code == 0
    for words in ("energy", "8 kWh", "peak power", "6,000 W", "cost"):
        assert words in both.stdout
    one_by_one = CliRunner().invoke(app, [*command, "--power-cap", "5000"])
    assert "4,000 W" in one_by_one.stdout
    for cap, words in (("1999", "idle nodes alone draw 2000 W"), ("3000", "power cap is 3000 W")):
        found = CliRunner().invoke(app, [*command, "--power-cap", cap])
        assert words in found.stdout + found.stderr + str(found.exception or "")
    bare = CliRunner().invoke(app, ["run", str(tmp_path / "log.swf"), "--power-cap", "100"])
    assert "no watts are known" in bare.stdout + bare.stderr + str(bare.exception or "")
