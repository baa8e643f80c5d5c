"""Comparison and report: honest about unequal jobs, safe against what users write."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from hpcsim.cluster import Cluster
from hpcsim.errors import ResultError
from hpcsim.policies import EASY, FCFS
from hpcsim.results import charts
from hpcsim.results.comparison import HEADLINES, compare
from hpcsim.results.quantities import duration, number, percentage, time_axis_unit
from hpcsim.results.report import render, write_report
from hpcsim.results.run import simulate
from hpcsim.results.verdict import verdict
from hpcsim.workload import Workload

EVIL = "<script>alert(1)</script>"


def test_compare_has_a_row_a_policy(fcfs, easy):
    table = compare({"fcfs": fcfs, "easy": easy})
    assert table.index.tolist() == ["fcfs", "easy"]
    assert table.columns.tolist() == ["jobs_started", "jobs_finished", *HEADLINES]
    assert table.loc["easy", "mean_wait_s"] == 22.5


def test_compare_refuses_unequal_sets_of_finished_jobs(fcfs, workload, cluster):
    cut = simulate(workload, cluster, EASY(), until=120)
    with pytest.raises(ResultError, match="finished 4 jobs and 'cut' 2"):
        compare({"fcfs": fcfs, "cut": cut})
    table = compare({"fcfs": fcfs, "cut": cut}, allow_unequal=True)
    assert table["jobs_finished"].tolist() == [4, 2]


def test_compare_and_report_need_a_result(tmp_path):
    with pytest.raises(ResultError, match="no result"):
        compare({})
    with pytest.raises(ResultError, match="no result"):
        write_report({}, tmp_path / "x.html", title="nothing")


def test_the_verdict_names_the_shortest_mean_wait(fcfs, easy):
    """FCFS: waits 0, 90, 130, 0 -> 55 s on average; EASY 22.5 s, 59.1 % less."""
    assert verdict({"fcfs": fcfs, "easy": easy})[0].startswith(
        "Jobs wait least under easy: 22.5 s on average, 59.1 % less than under fcfs (55 s)"
    )
    assert verdict({"a": easy, "b": easy})[0].startswith("The mean wait is the same under all of a, b")


def test_the_verdict_admits_what_limits_it(workload, cluster, fcfs):
    cut = simulate(workload, cluster, EASY(), until=120)
    notes = " ".join(verdict({"fcfs": fcfs, "cut": cut})[1:])
    assert "Not simulated to the end: cut." in notes
    assert "Compare with care" in notes
    perfect = simulate(Workload.of(submit_s=[0], run_s=[1], nodes=[1]), cluster, FCFS())
    assert "no requested times" in " ".join(verdict({"fcfs": perfect}))


class Page(HTMLParser):
    """Collects tags and checks that each that opens is closed in order."""

    VOID = ("meta", "path")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_nothing_that_users_write_becomes_markup():
    workload = Workload.of(
        submit_s=[0, 1], run_s=[5, 5], limit_s=[5, 5], nodes=[1, 1], partitions=[(), (EVIL,)], name=[EVIL, EVIL]
    )
    workload.provenance["source"] = workload.ledger.source = EVIL
    cluster = Cluster.of_nodes(1, name=EVIL)
    text = render({EVIL: simulate(workload, cluster, FCFS())}, title=EVIL)
    assert "script" not in Page(text).tags
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 5


def test_the_page_is_whole_and_stands_alone(fcfs, easy, tmp_path):
    write_report({"fcfs": fcfs, "easy": easy}, tmp_path / "report.html", title="Two policies")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.tags.count("svg") == 3
    assert not re.search(r"https?://|src=|@import", text)
    assert "prefers-color-scheme" in text
    assert text.index("Jobs wait least under easy") < text.index("<table")


def test_a_result_without_any_start_is_reported(cluster):
    rejected = simulate(Workload.of(submit_s=[0], run_s=[5], nodes=[9]), cluster, FCFS())
    text = render({"fcfs": rejected}, title="nothing ran")
    assert "No job started." in text
    Page(text)


def test_long_series_are_drawn_with_600_points_at_most():
    count = 3000
    workload = Workload.of(submit_s=np.arange(count), run_s=np.ones(count, dtype=int), nodes=np.arange(count) % 3 + 1)
    timeline = simulate(workload, Cluster.of_nodes(3), FCFS()).timeline
    svg = charts.over_time({"fcfs": timeline}, "used_nodes", "used")
    line = re.search(r'class="line s0" d="([^"]*)"', svg)[1]
    assert 100 < line.count("H") <= 600


def test_an_unwritable_report_is_said(easy, tmp_path):
    with pytest.raises(ResultError, match="Cannot write the report"):
        write_report({"easy": easy}, tmp_path / "nowhere" / "x.html", title="x")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.25, "0.25 s"), (59.9, "59.9 s"), (60, "1 min"), (90, "1 min 30 s"), (3600, "1 h"),
     (5400, "1 h 30 min"),
     (86400 * 2 + 7200, "2 d 2 h"), (86399, "1 d"), (-90, "-1 min 30 s"), (None, "n/a"), (float("nan"), "n/a")],
)  # fmt: skip
def test_durations_read_as_people_say_them(seconds, text):
    assert duration(seconds) == text


def test_shares_numbers_and_axis_units():
    assert (percentage(0.7142), percentage(None)) == ("71.4 %", "n/a")
    assert (number(12345.6), number(12.345), number(7), number(None)) == ("12,346", "12.3", "7", "n/a")
    assert [time_axis_unit(span)[0] for span in (10, 600, 9000, 10**6)] == ["seconds", "minutes", "hours", "days"]


def test_axes_are_marked_in_units_people_use(easy, fcfs):
    """230 s in minutes: 0, 1, 2, 3; a wait of 130 s lies on an axis of 1 s, 10 s, 1 min, 10 min."""
    used = charts.over_time({"easy": easy.timeline}, "used_nodes", "used", y_high=4)
    waits = charts.distribution({"fcfs": fcfs.jobs["wait_s"].dropna().to_numpy()}, "waits")
    texts = [re.findall(r"<text[^>]*>([^<]*)</text>", svg) for svg in (used, waits)]
    assert texts[0] == ["0", "1", "2", "3", "4", "0", "1", "2", "3", "minutes since the first submit"]
    assert texts[1][5:] == ["1 s", "10 s", "1 min", "10 min", "waited at most"]


def test_each_line_is_a_share_of_its_own_machine(workload, easy):
    """Both machines reach 4 nodes in use: all of 4, half of 8; the axis ends at 100 %, the lines at 1 and 1/2."""
    larger = simulate(workload.head(3), Cluster.of_nodes(8), FCFS())
    text = render({"small": easy, "large": larger}, title="sizes")
    lines = re.findall(r'class="line s\d" d="([^"]*)"', text)[:2]
    highest = [min(float(y) for y in re.findall(r"V([\d.]+)", line)) for line in lines]
    floor, top = charts.HEIGHT - charts.BOTTOM, charts.TOP
    used = larger.timeline["used_nodes"].max() / 8
    assert highest == pytest.approx([top, floor - used * (floor - top)], abs=0.1)
