"""What pages and Markdown tables have in common: nothing from outside gets out of its place."""

from __future__ import annotations

from hpcsim.results.html_page import html_page
from hpcsim.results.markdown_table import markdown_table


def test_a_page_escapes_its_title_and_fetches_nothing() -> None:
    page = html_page("a <b> & c", ["<p>body</p>"], ".mine{color:red}")
    assert page.count("a &lt;b&gt; &amp; c") == 2
    assert "<b>" not in page
    assert "default-src 'none'" in page
    assert page.index(".mine{color:red}") < page.index("<h1>") < page.index("<p>body</p>") < page.index("</html>")


def test_a_markdown_table_aligns_figures_and_keeps_bars_in_their_cells() -> None:
    assert markdown_table(("name", "n"), [("a|b", "3")]) == "| name | n |\n| --- | ---: |\n| a\\|b | 3 |"
    assert "| --- | --- |" in markdown_table(("name", "n"), [], text=(0, 1))
