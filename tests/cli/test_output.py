"""Tables in terminals of any width: text gives way, figures never do."""

from __future__ import annotations

import pytest

from hpcsim.commands.output import print_table

HEADINGS = ("who takes advice", "mean turnaround", "total", "killed")
ROWS = [("a long name, of many words", "1.07 [0.76, 1.50]", "1.03 [1.00, 1.05]", "8.4 %"), ("b", "1", "1", "0.0 %")]


@pytest.mark.parametrize("width", [20, 50, 55, 60, 64, 70, 76, 200])
def test_no_figure_is_cut_or_broken(width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    print_table("Title", HEADINGS, ROWS)
    shown = capsys.readouterr().out
    lines = [line.split() for line in shown.splitlines()]
    assert all(figure in shown for row in ROWS for figure in row[1:])
    assert "killed" in shown
    words = [word for line in lines for word in line]
    assert all(word in words for word in ("a", "long", "name,", "of", "many", "words"))


@pytest.mark.parametrize("width", [30, 50, 80, 100])
def test_several_columns_of_text_lose_no_word_either(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """Their longest words differ: what rich takes from the widest may be less than its longest word."""
    monkeypatch.setenv("COLUMNS", str(width))
    headings = ("claim", "first", "against", "measure", "gain, 95 % interval", "shown")
    rows = [
        ("H1", "lightgbm, raw+embedding, same rows", "raw of a", "true hv_ratio", "-0.21 [-0.496, +0.0705]", "worse"),
        ("H2", "mobo-fixed", "sobo-runtime, sobo-power", "HV share at 12", "+0.03 [+0.0285, +0.0309]", "better"),
    ]
    print_table("Title", headings, rows, left=4)
    words = capsys.readouterr().out.split()
    for row in (headings, *rows):
        assert all(word in words for cell in row for word in cell.split())
