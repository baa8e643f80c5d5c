"""`hpcsim advise`: what a person types, sees, and is told of mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from hpcsim.cli import app
from hpcsim.commands.advisor_specs import make_advisor
from hpcsim.commands.policy_specs import split_spec
from hpcsim.errors import HpcsimError
from hpcsim.registry import find, make
from tests.advice.test_front_advisor import BEFORE, learned


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a fitted law."""
    folder = tmp_path_factory.mktemp("advise") / "law"
    learned().surrogate.save(folder)  # type: ignore[union-attr]
    return folder


def advise(model: Path | str, *arguments: str) -> Any:
    return CliRunner().invoke(app, ["advise", "--surrogate", str(model), *arguments])


def told(model: Path | str, *arguments: str) -> str:
    ran = advise(model, *arguments)
    assert ran.exit_code != 0, ran.output
    assert isinstance(ran.exception, SystemExit | HpcsimError), repr(ran.exception)
    return f"{ran.output} {ran.exception}"


def test_answer_is_the_same_in_words_in_json_and_in_the_loop(model: Path, tmp_path: Path) -> None:
    find("writers", "workload")(BEFORE, tmp_path / "log.parquet")
    app_id = int(np.bincount(BEFORE.columns["app_id"]).argmax())
    about = ["--job", "nodes=8", "--job", "limit_s=36000", "--job", f"app_id={app_id}"]
    known = ["--history", str(tmp_path / "log.parquet")]
    found = json.loads(advise(model, *about, *known, "--json").output)
    shown = advise(model, *about, *known).output
    assert shown.startswith(found["why"])
    assert found["why"].split()[1] == str(found["nodes"])
    chosen = found["chosen"]
    assert chosen["nodes"] == found["nodes"] in [row["nodes"] for row in found["counts"]]
    assert chosen["run_s_low"] <= chosen["run_s"] <= chosen["run_s_high"]
    assert found["limit_s"] >= found["asked"]["limit_s"] == 36_000
    assert chosen["supported"]  # the history counts, though nobody said when the job is submitted
    early = json.loads(advise(model, *about, *known, "--job", "submit_s=0", "--json").output)
    assert early["reason"] == "kept-no-support"
    advisor = make("advisors", "advisor", surrogate=str(model), history=BEFORE)
    from hpcsim.commands.advise import ROOMY, Cluster

    job = {"nodes": 8, "limit_s": 36_000, "app_id": app_id}
    assert advisor.answer(job, Cluster(groups=(ROOMY,))).advice.nodes == found["nodes"]


def test_plot_is_drawn_and_a_place_that_cannot_be_written_is_named(model: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    ran = advise(model, "--job", "nodes=4", "--plot", str(tmp_path / "job.png"))
    assert ran.exit_code == 0
    assert (tmp_path / "job.png").read_bytes().startswith(b"\x89PNG")
    assert advise(model, "--job", "nodes=4", "--plot", str(tmp_path / "new" / "job.svg")).exit_code == 0
    assert "<svg" in (tmp_path / "new" / "job.svg").read_text(encoding="utf-8")
    for place, words in (("job.weird", "none of .png, .svg, .pdf"), ("job", "none of .png"), ("new", "is a folder")):
        found = told(model, "--job", "nodes=4", "--plot", str(tmp_path / place))
        assert words in found
        assert "Keep" not in found  # refused before anything is asked
    assert "is not a folder" in told(model, "--job", "nodes=4", "--plot", str(tmp_path / "job.png" / "x.png"))
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (["nodes"], "Write --job key=value"),
        (["limit_s=60"], "says nothing of its nodes"),
        (["nodes=0"], "whole number from 1"),
        (["nodes=1.5"], "whole number from 1"),
        (["nodes=nan"], "whole number from 1"),
        (["nodes=8", "nodes=9"], "'nodes' of the job is given twice"),
        (["nodes=1000000000"], "the machine has 1024"),
        (["nodes=8", "limit_s=abc"], "seconds above 0"),
        (["nodes=8", "limit_s=nan"], "seconds above 0"),
        (["nodes=8", "limit_s=-1"], "seconds above 0"),
        (["nodes=8", "submit_s=inf"], "'submit_s' of the job is inf"),
        (["nodes=8", "limit=60"], "Did you mean 'limit_s'"),
        (["nodes=8", "requested=3"], "no field 'requested'"),
        (["nodes=8", "app_id=[1, 2]"], "or a name"),
        (["nodes=8", "allowed_nodes=[]"], "list of whole numbers"),
        (["nodes=8", "allowed_nodes=[1, 'x']"], "list of whole numbers"),
        (["nodes=8", "cores_per_node=x"], "whole number from 1"),
        (["nodes=8", "partitions=x"], "list of names"),
    ],
)
def test_jobs_that_make_no_sense_are_one_sentence(model: Path, job: list[str], words: str) -> None:
    assert words in told(model, *(part for text in job for part in ("--job", text)))


def test_folders_and_files_that_are_none_are_named(model: Path, tmp_path: Path) -> None:
    assert "There is no folder" in told(tmp_path / "none", "--job", "nodes=2")
    assert "no saved surrogate" in told(tmp_path, "--job", "nodes=2")
    assert "path is empty" in told("", "--job", "nodes=2")
    assert "There is no history" in told(model, "--job", "nodes=2", "--history", str(tmp_path / "none.swf"))
    (tmp_path / "cut").mkdir()
    for file in model.iterdir():
        (tmp_path / "cut" / file.name).write_bytes(file.read_bytes()[:20])
    assert "Save the model again" in told(tmp_path / "cut", "--job", "nodes=2")


def test_a_rule_with_two_numbers_is_one_parameter_behind_a_name() -> None:
    assert split_spec("advisor:rule=qa(8, 1),guard=true") == ("advisor", ["rule=qa(8, 1)", "guard=true"])
    assert make_advisor("advisor:surrogate=scaling-law,rule=qa(8, 1)").rule == "qa(8, 1)"  # type: ignore[attr-defined]


def test_what_to_add_is_said_where_nothing_is_known(model: Path) -> None:
    about = ["--job", "nodes=4"]
    assert "add --anywhere" in advise(model, *about).stderr
    assert not advise(model, *about, "--json").stderr
    assert "--anywhere" not in advise(model, *about, "--anywhere").stderr


def test_a_rule_that_no_count_can_keep_is_not_blamed_on_a_limit(model: Path) -> None:
    shown = advise(model, "--job", "nodes=4", "--anywhere", "--rule", "cap(1)").output
    assert shown.startswith("Keep 4 nodes: every other count breaks a bound: that of the rule, or")


def test_wide_nodes_are_no_obstacle_where_no_machine_is_described(model: Path) -> None:
    assert advise(model, "--job", "nodes=8", "--job", "cores_per_node=48").exit_code == 0
