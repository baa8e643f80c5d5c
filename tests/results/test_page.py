"""The interactive page as text: what it holds, how it sums up, and that nothing gets out of its place."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from hpcsim.cluster import Cluster
from hpcsim.errors import MissingExtra, ResultError
from hpcsim.node_ids import parse_intervals
from hpcsim.policies import EASY, FCFS
from hpcsim.registry import make
from hpcsim.results.metrics import utilisation
from hpcsim.results.page import document, gantt
from hpcsim.results.page.winners import changes
from hpcsim.results.run import simulate
from hpcsim.workload import Workload

pytest.importorskip("plotly", reason="needs the extra report")


def data_of(page):
    """Return the data that the page carries."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page).group(1))


@pytest.fixture
def page(fcfs, easy):
    return document.render_page({"fcfs": fcfs, "easy": easy}, title="A title")


def test_the_verdict_comes_first_and_every_part_is_there(page):
    body = page[page.index("<body>") :]
    assert body.index("Jobs wait least under easy") < body.index("<nav") < body.index("<table")
    for anchor, _ in document.SECTIONS:
        assert f'<section id="{anchor}"' in body
    assert "SHA-256 of the workload" in body
    assert "Won most" in body


def test_differences_stand_with_the_figures(fcfs, easy):
    page = document.render_page(
        {"fcfs": fcfs, "easy": easy}, title="t", headlines=["Shorter by 5 s <really>"], differences="<p>TABLE</p>"
    )
    assert "<p>Shorter by 5 s &lt;really&gt;</p>" in page
    assert page.index("</table>") < page.index("<p>TABLE</p>") < page.index('<section id="over-time"')


def test_data_are_the_results(page, easy):
    data = data_of(page)
    assert data["names"] == ["fcfs", "easy"]
    assert data["lines"]["utilisation"]["easy"]["y"] == [0.75, 0.75, 1, 0.75, 1, 0, 0.5, 0]
    bars = data["gantt"]["easy"]
    assert (bars["start"][0], bars["node"][0], bars["height"][0]) == (0, 1, 3)
    run = data["why"]["runs"]["easy"]
    assert dict(zip(run["ids"], run["waited"], strict=True)) == {"2": 90, "1": 0, "3": 0, "4": 0, "5": 0}


def test_no_tag_begins_in_data_and_no_text_ends_its_element():
    name = "</script><script>alert(1)</script>"
    workload = Workload.of(submit_s=[0, 1], run_s=[5, 5], nodes=[1, 1], job_id=[name, "b"], user_id=[name, "u"])
    result = simulate(workload, Cluster.of_nodes(1), FCFS())
    page = document.render_page({name: result}, title=name)
    plain = document.render_page(
        {"x": simulate(workload.select(np.array([1]), "b"), Cluster.of_nodes(1), FCFS())}, title=""
    )
    assert page.count("<script") == plain.count("<script")
    assert "alert(1)</script>" not in page
    assert data_of(page)["why"]["runs"][name]["ids"] == ["b", name]


def test_the_summed_up_gantt_holds_as_much_as_the_machine_did(monkeypatch):
    workload = make("models", "poisson", jobs=300, nodes=100, load=0.7, seed=3)
    result = simulate(workload, Cluster.of_nodes(100), EASY())
    low_s, high_s = float(result.timeline["time_s"].iloc[0]), float(result.timeline["time_s"].iloc[-1])
    assert gantt.gantt(result, (low_s, high_s, 60))["kind"] == "bars"
    monkeypatch.setattr(gantt, "MOST_BARS", 10)
    grid = gantt.gantt(result, (low_s, high_s, 60))
    share, heights = np.array(grid["z"]) / 100, np.diff(grid["y"])
    mean = (share * heights[:, None]).sum() / (share.shape[1] * heights.sum())
    assert mean == pytest.approx(utilisation(result.timeline, 100, (low_s, high_s)), abs=0.003)
    held = {n for text in result.attempts["node_ids"] for low, high in parse_intervals(text) for n in (low, high)}
    assert heights.sum() == 100 >= max(held)


def test_where_queues_are_too_deep_single_jobs_are_still_told(fcfs, easy, monkeypatch):
    from hpcsim.results.page import answers

    monkeypatch.setattr(answers, "MOST_PAIRS", 0)
    monkeypatch.setattr(answers, "STORIES", 1)
    run = answers.answers({"easy": easy})["runs"]["easy"]
    assert run["ids"] == list(run["stories"]) == ["2"]
    assert "hpcsim explain RUN --all" in run["words"]
    assert not run["complete"]


def test_winners_and_losers_are_the_changes_of_wait(fcfs, easy):
    """Under EASY job 3 starts at its submit (20) instead of 150; nobody waits longer."""
    both = changes(fcfs, easy)
    assert both.iloc[0][["job_id", "old_s", "new_s", "change_s"]].tolist() == [3, 130, 0, -130]
    assert (both["change_s"] <= 0).all()


def test_one_run_or_an_empty_one_makes_a_page(workload, cluster):
    for result in (simulate(workload, cluster, EASY()), simulate(workload.head(0), cluster, EASY())):
        assert "Longest waits" in document.render_page({"easy": result}, title="t")


def test_what_is_missing_is_said(easy, monkeypatch, tmp_path):
    with pytest.raises(ResultError, match="no result"):
        document.render_page({}, title="t")
    with pytest.raises(ResultError, match="Cannot write"):
        document.write_page({"easy": easy}, tmp_path, title="t")
    monkeypatch.setattr(document, "is_available", lambda: False)
    with pytest.raises(MissingExtra, match=r"hpcsim-des\[report\]"):
        document.render_page({"easy": easy}, title="t")


def test_page_is_the_same_for_the_same_results(fcfs, easy):
    first, second = (document.render_page({"fcfs": fcfs, "easy": easy}, title="t") for _ in range(2))
    assert first == second
