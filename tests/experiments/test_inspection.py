"""A record of decisions in words, numbers, a table and plots: worked by hand, and nobody's text becomes HTML."""

from __future__ import annotations

import base64
import csv
import io
import re
import struct
import zlib
from typing import Any

import numpy as np
import pytest

from hpcsim.commands.attention import busiest_day
from hpcsim.experiments.inspection_charts import MOST_COLUMNS, axis_of, heat_map
from hpcsim.experiments.inspection_page import render_inspection
from hpcsim.experiments.inspection_summary import by_age, if_uniform, on_the_past, sentences, verdict
from hpcsim.experiments.inspection_table import csv_of
from hpcsim.inspection import Inspection
from hpcsim.workload import Workload

NAN = float("nan")


def record(decisions: int = 4, **changes: Any) -> Inspection:
    """Four decisions of one head that sees two at most; the second and third differ from the rule's."""
    ones = np.ones(decisions)
    columns = {
        "time_s": 1000.5 + 86_400 * np.arange(decisions),
        "waiting": np.full(decisions, 3),
        "job_id": np.arange(decisions),
        "rule_job_id": np.array([0, 9, 9, *range(3, decisions)])[:decisions],
        "alone_job_id": np.arange(decisions),
        "moved": 0.1 * ones,
    }
    for prefix, size in (("", 2.0), ("rule_", 1.0)):
        for name in ("nodes", "limit_s", "area_node_s", "wait_s"):
            columns[f"{prefix}{name}"] = size * ones
    attention = np.tile([0.25, 0.75], (decisions, 1, 1))
    attention[:1, 0] = [1, NAN]
    values: dict[str, Any] = {
        "columns": columns,
        "attention": attention,
        "heads": ("block 1, head 1",),
        "gates": {"block 1, attention": np.linspace(0.1, 0.3, decisions)},
        "gates_at_first": 0.12,
        "factors": {"jobs": np.tile([1.5, NAN], (decisions, 1))},
        "features": {"jobs": ("log_area", "fits")},
        "rule": "saf",
        "is_prior": True,
    }
    return Inspection(**values | changes)


def test_attention_by_hand() -> None:
    np.testing.assert_allclose(by_age(record()), [[(1 + 3 * 0.25) / 4, 0.75]])
    np.testing.assert_allclose(if_uniform(record()), [(1 + 3 * 0.5) / 4, 0.5])
    np.testing.assert_allclose(on_the_past(record()), [0.75])


def test_memory_that_is_not_used_is_called_so() -> None:
    one = record()
    assert verdict(one).startswith("Memory decides nothing here: hiding the past from the network changes 0 of its 4")
    columns = dict(record(40).columns)
    columns["alone_job_id"] = np.where(np.arange(40) < 2, -1, columns["job_id"])
    assert verdict(record(40, columns=columns)).startswith("Memory hardly matters here")
    columns["alone_job_id"] = np.where(np.arange(40) < 3, -1, columns["job_id"])
    assert "3 of its 40 choices (7.5 %). That does not say that it helps." in verdict(record(40, columns=columns))


def test_what_it_chose_instead_of_the_rule() -> None:
    last = list(sentences(record()))[-1]
    assert "differs from its prior, saf, in 2 of 4 decisions (50.0 %)" in last
    assert "2 times the area, 2 times the nodes, 2 times the requested time" in last
    assert "has waited longer in 100.0 % of them. In 0 of them both jobs ask for the same" in last


def test_the_table_has_a_row_a_decision() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_of(record()))))
    assert [row["differs_from_rule"] for row in rows] == ["0", "1", "1", "0"]
    assert [row["attention block 1, head 1 age 1"] for row in rows] == ["", "0.75", "0.75", "0.75"]
    assert rows[3]["time_s"] == "260200.5"
    assert rows[0]["factor jobs log_area"] == "1.5"
    assert rows[0]["factor jobs fits"] == ""


def test_the_page_escapes_what_comes_from_outside() -> None:
    evil = "<img src=x onerror=alert(1)>"
    columns = dict(record().columns)
    columns["job_id"] = np.array([evil] * 4)
    page = render_inspection(record(columns=columns, rule=evil), title=evil, first_s=0)
    assert "<img" not in page
    assert "<script" not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") > 4


@pytest.mark.parametrize("changes", [{}, {"gates": {}}, {"factors": {}}, {"is_prior": False}], ids=str)
def test_a_page_of_whatever_there_is(changes: dict[str, Any]) -> None:
    page = render_inspection(record(**changes), title="t", first_s=0)
    assert ("<h2>Gates" in page) == ("gates" not in changes)
    assert ("<h2>Recalibration" in page) == ("factors" not in changes)
    assert page.count("<figure>") > 3


def test_no_decision_no_plot() -> None:
    none = record(0, attention=np.zeros((0, 1, 2)), factors={"jobs": np.zeros((0, 2))})
    page = render_inspection(none, title="t", first_s=0)
    assert "asked nothing" in page
    assert "<figure>" not in page
    assert csv_of(none).count("\n") == 1


def test_the_heat_map_shows_the_values() -> None:
    """Row 0 at the bottom, the largest value opaque, opacity by the square root; many decisions share a column."""
    values = np.array([[1.0, 0.25], [0.0, NAN]])
    pixels = image_of(heat_map(values, axis_of(np.zeros(2), 0), "t"))
    np.testing.assert_array_equal(pixels[..., 3], [[128, 0], [255, 0]])
    many = 3 * MOST_COLUMNS
    assert image_of(heat_map(np.ones((many, 2)), axis_of(np.zeros(many), 0), "t")).shape == (2, MOST_COLUMNS, 4)


def image_of(figure: str) -> np.ndarray[Any, Any]:
    found = re.search(r"base64,([^\"]+)", figure)
    assert found is not None
    data = base64.b64decode(found[1])
    columns, rows = struct.unpack(">II", data[16:24])
    at = data.index(b"IDAT")
    lines = np.frombuffer(zlib.decompress(data[at + 4 : -16]), dtype=np.uint8).reshape(rows, 1 + 4 * columns)
    return lines[:, 1:].reshape(rows, columns, 4)


def test_days_are_marked_where_they_begin() -> None:
    axis = axis_of(np.array([0.0, 10, 86_400, 3 * 86_400, 3 * 86_400 + 1]), 0)
    assert axis.days == [(0, "day 0"), (2, "day 1"), (3, "day 3")]


def test_the_busiest_days_have_the_most_work() -> None:
    day_s = 86_400
    log = Workload.of(
        submit_s=[5, day_s + 5, 3 * day_s + 5, 4 * day_s + 5, 6 * day_s + 5],
        run_s=[1, 10, 10, 10, 25],
        nodes=[9, 1, 1, 1, 1],
        limit_s=[30] * 5,
    )
    assert busiest_day(log, 1) == 6, "25 node-seconds in a day"
    assert busiest_day(log, 2) == 5, "days 5 and 6 have 25, 3 and 4 have 20"
    assert busiest_day(log, 4) == 3, "days 3 to 6 have 45"
    assert busiest_day(log, 100) == 0
