"""What a person sees and does: no error, no request, charts, zoom, answers, text that stays text, a phone, the dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import SCRIPT, WINDOW, Page

CHARTS = ("utilisation", "queue", "gantt", "wait", "slowdown", "heat-0", "heat-1")
INK = "return document.getElementById(arguments[0]).querySelectorAll('path.js-line, .bars path, .hm image').length"


@pytest.fixture
def small(chromium: Any, small_page: Path) -> Page:
    return Page(chromium, small_page)


def test_page_opens_without_an_error_or_a_request(small: Page, small_page: Path) -> None:
    assert small.run("return document.documentElement.dataset.drawn") == "yes"
    assert small.complaints() == []
    foreign = [url for url in small.requests() if not url.startswith(("data:", "blob:"))]
    assert foreign == [small_page.as_uri()]


@pytest.mark.parametrize("chart", CHARTS)
def test_chart_is_drawn(small: Page, chart: str) -> None:
    assert small.run(INK, chart) >= 1
    size = small.run("const b = document.getElementById(arguments[0]).getBoundingClientRect(); return b.width", chart)
    assert size > 200


def test_heat_map_writes_the_waits_into_its_cells(small: Page) -> None:
    """Under FCFS the one job of 4 nodes waits 100 s, those of 1 node 140 s and 130 s."""
    cells = "return [...document.querySelectorAll('#heat-0 .annotation .line')].map((t) => t.textContent)"
    assert small.run(cells) == ["2 min 15 s", "2 jobs", "50 s", "2 jobs"]
    fill = "return getComputedStyle(document.querySelector('#heat-0 .annotation .line')).fill"
    assert small.run(fill) != "none"


def test_gantt_draws_a_bar_a_job_and_zooms_by_button(small: Page) -> None:
    bars = "return document.querySelectorAll('#gantt .bars .point path').length"
    span = "const [low, high] = document.getElementById('gantt').layout.xaxis.range; return high - low"
    assert small.run(bars) == 4
    whole = small.run(span)
    button = small.driver.find_element("css selector", "[data-zoom=in]")
    button.send_keys("\n")  # by keyboard
    assert small.run(span) == pytest.approx(whole / 2)
    small.driver.find_element("css selector", "[data-zoom=all]").click()
    assert small.run(span) == pytest.approx(whole)


def test_gantt_zooms_by_dragging(small: Page) -> None:
    from selenium.webdriver import ActionChains

    span = "const [low, high] = document.getElementById('gantt').layout.xaxis.range; return high - low"
    whole = small.run(span)
    area = small.driver.find_element("css selector", "#gantt .nsewdrag")
    small.run("document.getElementById('gantt').scrollIntoView({block: 'center'})")
    ActionChains(small.driver).move_to_element_with_offset(area, -100, 0).click_and_hold().move_by_offset(
        200, 0
    ).release().perform()
    assert small.run(span) < whole / 2


def test_panel_says_why_a_job_waited(small: Page) -> None:
    """The third job fits beside a until d starts at 20 and after it ends at 50, and would outlast b's reservation."""
    small.run("const s = document.getElementById('why-run'); s.value = arguments[0]", SCRIPT)
    answer = small.explain(SCRIPT)
    assert f"Job {SCRIPT} (1 wide) left the queue 2 min 20 s after its submit." in answer
    assert "broken a promise to another job; that is job b of user bob (1 min)" in answer
    assert small.run("return document.querySelectorAll('#why-answer .strip .k5').length") > 40
    assert "no job zz" in small.explain("zz")
    assert "Of all waiting" in small.explain("")


def test_names_from_outside_stay_text(small: Page) -> None:
    from selenium.common.exceptions import NoAlertPresentException

    with pytest.raises(NoAlertPresentException):
        _ = small.driver.switch_to.alert
    texts = small.run("return [document.title, document.querySelector('h1').textContent, document.body.innerText]")
    assert all(SCRIPT in text for text in texts)
    assert small.run("return [...document.scripts].filter((s) => s.textContent.trim() === 'alert(1)').length") == 0
    hovers = small.run("return document.getElementById('gantt').data[0].hovertext.join()")
    assert "&lt;script&gt;" in hovers
    assert "<script" not in hovers


@pytest.mark.parametrize("page", ["small_page", "large_page"])
def test_page_fits_a_phone(chromium: Any, page: str, request: pytest.FixtureRequest) -> None:
    phone = {"width": 375, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        shown = Page(chromium, request.getfixturevalue(page))
        assert shown.run("return document.documentElement.scrollWidth") <= 375
        assert shown.run("return document.getElementById('gantt').getBoundingClientRect().width") <= 375
        assert shown.complaints() == []
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        chromium.set_window_size(*WINDOW)


def test_page_follows_the_readers_dark_setting(chromium: Any, small_page: Path) -> None:
    paper = "return getComputedStyle(document.body).backgroundColor"
    line = "return document.getElementById('utilisation').data[0].line.color"
    shown = Page(chromium, small_page)
    light = shown.run(paper), shown.run(line)
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        assert shown.run(paper) == "rgb(20, 23, 26)"
        assert (shown.run(paper), shown.run(line)) != light
        assert shown.run(line) == "#56b4e9"
        shown.run("dispatchEvent(new Event('beforeprint'))")
        assert shown.run(line) == light[1]  # paper is white
        shown.run("dispatchEvent(new Event('afterprint'))")
        assert shown.run(line) == "#56b4e9"
    finally:
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_charts_fit_the_paper_and_grow_back(small: Page) -> None:
    width = "return document.querySelector('#wait .main-svg').getBoundingClientRect().width"
    before = small.run(width)
    small.run("dispatchEvent(new Event('beforeprint'))")
    assert small.run(width) == 660
    small.run("dispatchEvent(new Event('afterprint'))")
    assert small.run(width) == before


def test_page_prints(small: Page) -> None:
    import base64

    printed = base64.b64decode(small.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert printed.startswith(b"%PDF")
    assert len(printed) > 20_000
    assert small.complaints() == []


def test_large_gantt_is_summed_up_and_zooms(chromium: Any, large_page: Path) -> None:
    shown = Page(chromium, large_page)
    assert shown.run("return document.getElementById('gantt').data[0].type") == "heatmap"
    assert "Too many jobs to draw each" in shown.driver.find_element("id", "gantt-note").text
    shown.driver.find_element("css selector", "[data-zoom=in]").click()
    low, high = shown.run("return document.getElementById('gantt').layout.xaxis.range")
    assert high > low
    assert shown.complaints() == []
