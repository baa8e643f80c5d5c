"""The page of a sweep: the verdict in words, each interval drawn where it is, failures told, all text escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hpcsim.errors import ExperimentError
from hpcsim.experiments.experiment import Experiment
from hpcsim.experiments.interval_chart import EDGE, WIDTH, Bar, interval_chart
from hpcsim.experiments.sweep import Sweep
from hpcsim.experiments.sweep_page import render_sweep
from hpcsim.results.quantities import figure

RunHere = Callable[..., Sweep]
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def sweep(sweep_here: RunHere) -> Sweep:
    """FCFS, and EASY under a name that is a script, on six seeds."""
    return sweep_here(
        Experiment.of(
            {
                "name": f"mine {SCRIPT}",
                "seeds": [1, 2, 3, 4, 5, 6],
                "metrics": ["mean_wait_s", "utilisation"],
                "policies": [{"name": "fcfs"}, {"name": "easy", "label": SCRIPT}],
                "workloads": [{"model": "poisson", "parameters": {"jobs": 300, "nodes": 16, "load": 0.95}}],
            }
        )
    )


def text_of(page: str) -> str:
    return re.sub(r"<[^>]*>", " ", page)


def test_verdict_first_then_every_comparison_with_its_interval(sweep: Sweep) -> None:
    page, comparisons = render_sweep(sweep), sweep.comparisons()
    row = comparisons[comparisons["metric"] == "mean_wait_s"].iloc[0]
    assert row["verdict"] == "better"
    verdict = re.search(r'<p class="verdict">(.*?)</p>', page)
    assert verdict is not None
    assert verdict[1].startswith("mean_wait_s against fcfs: better for")
    ends = " to ".join(figure("mean_wait_s", row[key]) for key in ("low", "high"))
    assert f"<td>{ends}</td>" in page
    assert page.count("<svg") == 2
    assert "corrected for all 2 comparisons" in page
    assert page.count("finished</td>") == 12


def test_names_stay_text_and_nothing_is_fetched(sweep: Sweep) -> None:
    page = render_sweep(sweep, title="A & B")
    assert "<h1>A &amp; B</h1>" in page
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert not re.search(r"(?:src|href)=[\"']?http|url\(", page)


def test_failures_are_told_once_and_left_out(tmp_path: Path, sweep_here: RunHere) -> None:
    (tmp_path / "fails.py").write_text(
        "from hpcsim import Policy\n\nclass Fails(Policy):\n"
        "    def schedule(self, system):\n        raise ValueError('<b>oh</b>')\n"
    )
    described = Experiment.of(
        {
            "seeds": [1, 2],
            "policies": [{"name": "fcfs"}, {"name": f"{tmp_path / 'fails.py'}:Fails"}],
            "workloads": [{"model": "poisson", "parameters": {"jobs": 20, "nodes": 8}}],
        }
    )
    page = render_sweep(sweep_here(described))
    assert "2 of 4 cells have no result" in page
    assert page.count("&lt;b&gt;oh&lt;/b&gt;") == 1
    assert "Only fcfs has finished" in text_of(page)


def test_chart_draws_each_interval_where_it_is() -> None:
    """Axis from -10 to 30 and a margin of 4 % of 40: zero is at 11.6 / 43.2 of the width."""
    chart = interval_chart([Bar("a", 20, 10, 30, "worse"), Bar("b", -10, float("nan"), float("nan"), "better")], "x")

    def at(value: float) -> str:
        return f"{EDGE + (value + 11.6) / 43.2 * (WIDTH - 2 * EDGE):.1f}"

    assert f'cx="{at(20)}"' in chart
    assert f'd="M{at(10)} ' in chart
    assert f"H{at(30)}" in chart
    assert f'class="zero" d="M{at(0)} ' in chart
    assert chart.count('class="bar"') == 1


def test_command_writes_it_for_the_folder_of_a_sweep(sweep: Sweep, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from hpcsim.cli import app

    path = tmp_path / "new" / "page.html"
    done = CliRunner().invoke(app, ["report", str(sweep.folder), "--out", str(path)])
    assert (done.exit_code, done.stdout) == (0, f"{path}\n")
    assert path.read_text(encoding="utf-8") == render_sweep(sweep)
    two = CliRunner().invoke(app, ["report", str(sweep.folder), str(sweep.folder), "--out", str(path)])
    assert two.exit_code == 2
    assert "A sweep has a page of its own" in two.stderr


def test_sweep_without_a_finished_baseline_is_one_sentence(sweep: Sweep) -> None:
    for key, labels in sweep.cells:
        if labels["policy"] == "fcfs":
            (sweep.folder / "cells" / key / "jobs.parquet").unlink()
    with pytest.raises(ExperimentError, match="No run of the baseline has finished"):
        render_sweep(sweep)


def test_thousands_of_comparisons_make_a_page_of_bounded_size(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas as pd

    comparisons = sweep.comparisons()
    many = pd.concat([comparisons] * 2_000, ignore_index=True)
    monkeypatch.setattr(Sweep, "comparisons", lambda self: many)
    page = render_sweep(sweep)
    assert page.count("<circle") == 2 * 60
    assert "The chart draws 60 of 2,000. The table has 500 of them." in page
    assert len(page) < 1_000_000
