"""`hpcsim workload generate`, `convert`, `transform`, and what `info` draws."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import Result

import hpcsim
from hpcsim.scaling import TRUTH

Cli = Callable[..., Result]


def job_rows(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith(";")]


@pytest.mark.parametrize("model", ["lublin", "downey", "intrepid", "poisson", "synth-pm100", "synth-adastra"])
@pytest.mark.parametrize("name", ["x.swf.gz", "x.parquet"])
def test_every_model_in_both_formats(cli: Cli, tmp_path: Path, model: str, name: str) -> None:
    path = tmp_path / name
    done = cli("workload", "generate", model, "--jobs", "200", "--seed", "3", "--out", path)
    assert done.exit_code == 0, done.stderr
    assert f"{path}: 200 jobs submitted over" in done.stderr
    facts = json.loads(cli("workload", "info", path, "--json").stdout)
    assert (facts["kept"], facts["refused"]) == (200, 0)
    assert facts["processors"] == hpcsim.registry.make("models", model, jobs=200).machine_nodes


def test_same_command_same_bytes(cli: Cli, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.swf.gz", "b.swf.gz")]
    for path in paths:
        cli("workload", "generate", "lublin", "--jobs", "100", "--load", "0.8", "--set", "classes=batch", "--out", path)
    one, two = (path.read_bytes() for path in paths)
    assert one == two


def test_load_and_settings_reach_the_model(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "x.swf"
    cli("workload", "generate", "lublin", "--jobs", "500", "--nodes", "64", "--load", "0.9", "--out", path)
    facts = json.loads(cli("workload", "info", path, "--json").stdout)
    assert facts["offered_load"] == pytest.approx(0.9, rel=0.01)
    assert facts["limits_are_run_times"]
    cli("workload", "generate", "lublin", "--set", "estimates=tsafrir", "--out", path)
    assert not json.loads(cli("workload", "info", path, "--json").stdout)["limits_are_run_times"]


def test_truth_goes_into_a_file_of_its_own(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    cli("workload", "generate", "synth-pm100", "--jobs", "100", "--out", path)
    assert not set(TRUTH) & set(pd.read_parquet(path).columns)
    assert set(TRUTH) <= set(pd.read_parquet(tmp_path / "s.truth.parquet").columns)


def test_job_table(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    assert cli("workload", "generate", "synth-pm100", "--jobs", "50", "--as", "job-table", "--out", path).exit_code == 0
    assert "node_power_consumption" in pd.read_parquet(path).columns


def test_convert_there_and_back(cli: Cli, tmp_path: Path, trace: Path) -> None:
    between, back = tmp_path / "x.parquet", tmp_path / "y.swf"
    assert cli("workload", "convert", trace, between).exit_code == 0
    assert cli("workload", "convert", between, back).exit_code == 0
    assert job_rows(back) == job_rows(trace)


def test_transformations_one_after_the_other(cli: Cli, tmp_path: Path, trace: Path) -> None:
    path = tmp_path / "x.parquet"
    steps = ["window:start_s=1,end_s=3", "replace-estimates:kind=factor,factor=3,seed=1"]
    done = cli("workload", "transform", trace, *steps, "--out", path)
    assert done.exit_code == 0, done.stderr
    workload = hpcsim.read(path, format="workload")
    assert workload.job_id.tolist() == [2, 3]
    assert workload.provenance["transformations"] == [
        "window(start_s=1, end_s=3, running=False)",
        "replace_estimates(kind='factor', factor=3, seed=1)",
    ]


def test_lists_within_a_step(cli: Cli, tmp_path: Path, trace: Path) -> None:
    path = tmp_path / "x.swf"
    assert cli("workload", "transform", trace, "split:shares=[0.5,0.5],part=1", "--out", path).exit_code == 0
    assert [row.split()[0] for row in job_rows(path)] == ["3", "4"]


def test_merge(cli: Cli, tmp_path: Path, trace: Path) -> None:
    path = tmp_path / "x.swf"
    assert cli("workload", "transform", trace, "--merge", trace, "--out", path).exit_code == 0
    rows = [row.split() for row in job_rows(path)]
    assert [row[1] for row in rows] == ["0", "0", "1", "1", "2", "2", "3", "3"]
    assert {row[11] for row in rows} == {"7", "15"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("generate", "lublinn", "--out", "x.swf"), "Did you mean 'lublin'?"),
        (("generate", "lublin", "--out", "x.txt"), "End it in .swf, .swf.gz, .parquet, or add --as NAME."),
        (("generate", "lublin", "--load", "0", "--out", "x.swf"), "Got load = 0.0. Give a number above 0."),
        (("generate", "intrepid", "--nodes", "5", "--out", "x.swf"), "has no parameter 'nodes'"),
        (("generate", "lublin", "--set", "jobs=many", "--out", "x.swf"), "Got jobs = 'many'."),
        (("generate", "lublin", "--as", "job-table", "--out", "x.parquet"), "Only what synth-pm100"),
        (("generate", "lublin", "--as", "swff", "--out", "x"), "There is no writer called 'swff'. Did you mean 'swf'?"),
        (("transform", "LOG", "window", "--out", "x.swf"), "window needs start_s and end_s."),
        (("transform", "LOG", "window:start_s=a,end_s=2", "--out", "x.swf"), "Got start_s = 'a'. Give a number."),
        (("transform", "LOG", "merge", "--out", "x.swf"), "Add --merge LOG."),
        (("transform", "LOG", "busyest", "--out", "x.swf"), "Did you mean 'busiest'?"),
        (("transform", "LOG", "busiest:spam=day", "--out", "x.swf"), "Did you mean 'span'?"),
        (("convert", "LOG", "missing/x.swf", "--as", "nope"), "There is no writer called 'nope'."),
        (("info", "LOG", "--against", "lublim"), "Did you mean 'lublin'?"),
    ],
)
def test_mistakes_end_with_one_sentence(
    cli: Cli, tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    done = cli("workload", *(trace if argument == "LOG" else argument for argument in arguments))
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert set(tmp_path.iterdir()) == before


def test_picture_and_moments(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "x.swf.gz"
    cli("workload", "generate", "lublin", "--jobs", "3000", "--set", "classes=batch", "--out", path)
    done = cli("workload", "info", path, "--against", "lublin:classes=batch,seed=1")
    assert max(map(len, done.stdout.splitlines())) <= 80
    picture = done.stdout.partition("Jobs by size and run time")[2].partition("Moments")[0]
    assert "█" in picture
    assert "100.0" in picture
    facts = json.loads(cli("workload", "info", path, "--against", "lublin:classes=batch,seed=1", "--json").stdout)
    assert facts["moments"]["serial_share"] == pytest.approx(0.2927, abs=0.03)
    assert facts["model_moments"]["mean_nodes"] == pytest.approx(facts["moments"]["mean_nodes"], rel=0.1)


def test_moments_by_hand(cli: Cli, write_log: Callable[..., Path]) -> None:
    """Sizes 1, 2, 4, 3 with runs 10, 20, 30, 40 s at 0, 10, 40, 60 s; limits are twice the run times."""
    path = write_log([(1, 0, 10, 1), (2, 10, 20, 2), (3, 40, 30, 4), (4, 60, 40, 3)])
    moments = json.loads(cli("workload", "info", path, "--json").stdout)["moments"]
    assert (moments["serial_share"], moments["power_of_two_share"]) == (0.25, 0.5)
    assert (moments["mean_nodes"], moments["mean_run_s"], moments["median_run_s"]) == (2.5, 25, 25)
    assert (moments["mean_gap_s"], moments["median_gap_s"], moments["median_overestimate"]) == (20, 20, 2)
    assert moments["size_run_correlation"] == pytest.approx(0.9, abs=0.05)


def test_info_of_a_log_without_jobs(cli: Cli, write_log: Callable[..., Path]) -> None:
    assert cli("workload", "info", write_log([])).exit_code == 0
