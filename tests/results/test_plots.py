"""Plots as files, and one colour for each policy."""

from __future__ import annotations

import pytest

from hpcsim.errors import ResultError
from hpcsim.results.palette import colours
from hpcsim.results.report_style import COLOURS

pytest.importorskip("matplotlib", reason="needs the extra report")

STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("kind", ["gantt", "utilisation", "queue", "ecdf", "heatmap"])
@pytest.mark.parametrize("ending", STARTS)
def test_every_plot_in_every_format(easy, fcfs, tmp_path, kind, ending):
    from hpcsim.results.plots import KINDS, save

    path = tmp_path / f"plot{ending}"
    save(KINDS[kind]({"fcfs": fcfs, "easy": easy}), path)
    assert path.read_bytes().startswith(STARTS[ending])
    assert path.stat().st_size > 3_000


def test_lines_show_the_figures_in_the_colours_of_their_policies(easy, fcfs):
    from hpcsim.results.plots import utilisation

    (axes,) = utilisation({"fcfs": fcfs, "easy": easy}).axes
    first, second = axes.lines
    assert (first.get_label(), first.get_color()) == ("fcfs", COLOURS[0][0])
    assert (second.get_label(), second.get_color()) == ("easy", COLOURS[1][0])
    assert list(second.get_ydata()) == [0.75, 0.75, 1, 0.75, 1, 0, 0.5, 0]


def test_gantt_has_a_bar_a_job_where_and_when_it_ran(easy):
    """Job 1 holds nodes 0-2 from 0 to 100 s; the axis counts minutes."""
    (axes,) = easy.plot.gantt().axes
    bar = axes.patches[0]
    assert (bar.get_x(), bar.get_width(), bar.get_y(), bar.get_height()) == pytest.approx((0, 100 / 60, -0.5, 3))
    assert len(axes.patches) == 4


def test_no_power_and_no_format_are_said(easy, tmp_path):
    from hpcsim.results.plots import save

    with pytest.raises(ResultError, match="declare none"):
        easy.plot.power()
    with pytest.raises(ResultError, match="ends in none of"):
        save(easy.plot.queue(), tmp_path / "plot.doc")


def test_power_is_drawn_where_there_is_some(easy):
    import dataclasses

    powered = dataclasses.replace(easy, power=easy.timeline[["time_s"]].assign(power_w=100.0))
    (axes,) = powered.plot.power().axes
    assert set(axes.lines[0].get_ydata()) == {100.0}


def test_a_policy_has_one_colour_whoever_stands_beside_it():
    assert colours(["easy"])["easy"] == colours(["fcfs", "mine", "easy"])["easy"] == colours(["EASY"])["EASY"]
    assert colours(["mine"]) == colours(["mine"])


def test_names_get_different_colours_while_there_are_some():
    for names in (["fcfs", "easy", "mine", "yours", "ours", "theirs"], [f"policy {n}" for n in range(6)]):
        assert len(set(colours(names).values())) == 6
    assert len(colours([f"policy {n}" for n in range(20)])) == 20
