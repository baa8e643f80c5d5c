"""`hpcsim demo --advice`: three policies without and with an advisor, on what a plain install has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hpcsim.experiments.advice_demo import ADVISED, EARLIER, POLICIES, run_advice_demo
from hpcsim.experiments.demo import Demo
from hpcsim.testing import verify

BARE = """
import sys
for name in ("torch", "lightgbm", "sklearn", "matplotlib", "botorch", "xgboost"):
    sys.modules[name] = None
from hpcsim.cli import main
sys.argv = ["hpcsim", "demo", "--advice", "--jobs", "40", "--out", sys.argv[1]]
main()
"""


@pytest.fixture(scope="module")
def shown() -> Demo:
    return run_advice_demo(jobs=150, seed=3)


def test_each_policy_runs_without_and_with_advice(shown: Demo) -> None:
    labels = [f"{name}{suffix}" for name in POLICIES for suffix in ("", ADVISED)]
    assert list(shown.results) == labels
    assert POLICIES[-1] == "ppo-gtrxl"
    assert EARLIER >= 100
    for label, result in shown.results.items():
        verify(result, shown.workload, shown.cluster)
        is_advised = label.endswith(ADVISED)
        assert ("advice" in result.jobs) == is_advised
        if is_advised:
            assert int(result.summary()["advice_changed"] or 0) > 10
            assert not result.provenance["advice"]["first_error"]


def test_policies_queue_the_job_as_it_was_advised(shown: Demo) -> None:
    """PPO-GTrXL starts jobs on the advised count, and its run is another one than without advice."""
    plain, advised = (shown.results[f"ppo-gtrxl{suffix}"].jobs for suffix in ("", ADVISED))
    moved = advised[(advised["nodes"] != advised["requested_nodes"]) & (advised["attempts"] == 1)]
    asked = plain.set_index("row").loc[moved["row"]]
    assert (moved["nodes"].to_numpy() != asked["nodes"].to_numpy()).all()
    assert (moved["run_s"].to_numpy() != asked["run_s"].to_numpy()).any()


def test_a_plain_install_shows_it(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", BARE, str(tmp_path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    for label in ("fcfs, advised", "easy, advised", "ppo-gtrxl, advised", "killed by"):
        assert label in ran.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Advice on node counts" in page
    assert "ppo-gtrxl, advised against ppo-gtrxl" in page  # advice is compared, and not the policy
    assert "against fcfs" in page
    assert "easy against fcfs" not in page
