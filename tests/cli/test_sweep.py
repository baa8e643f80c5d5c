"""`hpcsim sweep` as people meet it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from hpcsim.commands.sweep_progress import sentence
from hpcsim.experiments.progress import Progress

Cli = Callable[..., Result]


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\nseeds = [1, 2, 3]\nmetrics = ["mean_wait_s", "utilisation"]\n'
        '[[policies]]\nname = "fcfs"\n[[policies]]\nname = "easy"\n'
        '[[workloads]]\nmodel = "poisson"\nparameters = { jobs = 60, nodes = 16, load = 0.9 }\n'
    )
    return path


def test_table_on_stdout_and_the_rest_on_stderr(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    outcome = cli("sweep", experiment, "--out", tmp_path / "out", "--workers", 2)
    assert outcome.exit_code == 0, outcome.output
    assert "mine: mean_wait_s, changes from fcfs" in outcome.stdout
    assert "mine: utilisation, changes from fcfs" in outcome.stdout
    assert "all 2 comparisons" in outcome.stdout
    assert "6 of 6 cells" in outcome.stderr
    assert (tmp_path / "out" / "table.csv").read_text().count("finished") == 6

    again = cli("sweep", experiment, "--out", tmp_path / "out")
    assert again.exit_code == 2
    assert (
        again.stderr
        == f"Error: {tmp_path / 'out'} holds a sweep already. Add --resume to go on with it, or name another.\n"
    )

    resumed = cli("sweep", experiment, "--out", tmp_path / "out", "--resume", "--json")
    assert "6 cells had finished before." in resumed.stderr
    found = json.loads(resumed.stdout)
    assert len(found["cells"]) == 6
    assert {row["metric"] for row in found["comparisons"]} == {"mean_wait_s", "utilisation"}


def test_dry_run_says_what_it_would_cost_and_writes_nothing(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    outcome = cli("sweep", experiment, "--dry-run", "--out", tmp_path / "out")
    assert outcome.exit_code == 0
    assert outcome.stdout.startswith("6 cells of 3 workloads, 360 jobs in all: about ")
    assert "MB of disk" in outcome.stdout
    assert not (tmp_path / "out").exists()
    cost = json.loads(cli("sweep", experiment, "--dry-run", "--json", "--workers", 4).stdout)
    assert (cost["cells"], cost["workloads"], cost["jobs"], cost["workers"]) == (6, 3, 360, 4)
    assert 0 < cost["estimated_s"] < 60
    assert 6 * 5_000 < cost["estimated_bytes"] < 1_000_000


def test_failed_cells_are_an_error_after_the_table(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text(
        "from hpcsim import Policy\n\nclass Fails(Policy):\n"
        "    def schedule(self, system):\n        raise ValueError('oh')\n"
    )
    experiment.write_text(experiment.read_text() + '[[policies]]\nname = "fails.py:Fails"\n')
    outcome = cli("sweep", experiment, "--out", tmp_path / "out")
    assert outcome.exit_code == 2
    assert "changes from fcfs" in outcome.stdout
    last = outcome.stderr.splitlines()[-1]
    assert last.startswith("Error: 3 of 9 cells failed; the first (Fails, poisson): ")
    assert "oh" in last
    assert "--resume tries those cells again" in last


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "A sweep needs a folder for its results. Add --out DIR."),
        (["--out", "{}/x", "--dask", "local", "--slurm", "queue=short"], "given more than once"),
        (["--out", "{}/mine.toml"], "is a file"),
    ],
)
def test_what_was_typed_wrongly(arguments: list[str], words: str, cli: Cli, experiment: Path, tmp_path: Path) -> None:
    outcome = cli("sweep", experiment, *(argument.format(tmp_path) for argument in arguments))
    assert outcome.exit_code == 2
    assert words in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_unknown_key_is_named_with_the_nearest(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    experiment.write_text("sedes = [1]\n" + experiment.read_text())
    outcome = cli("sweep", experiment, "--out", tmp_path / "out")
    assert outcome.exit_code == 2
    assert "unknown key 'sedes'. Did you mean 'seeds'?" in outcome.stderr


def test_progress_counts_and_guesses_the_time_left() -> None:
    """300 of 1,200 jobs in 60 s leave 180 s."""
    progress = Progress(cells=20, found=5, done=3, failed=1, jobs=1_200, jobs_done=300)
    assert sentence(progress, 60.0) == "8 of 20 cells, 1 failed, 3 min left"
    assert sentence(Progress(20, 5, 0, 0, 1_200, 0), 60.0) == "5 of 20 cells"
    assert sentence(Progress(20, 5, 15, 0, 1_200, 1_200), 60.0) == "20 of 20 cells"
