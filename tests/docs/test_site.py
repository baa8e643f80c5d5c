"""The documentation site: built strictly, without a network for whoever builds or reads it, and complete."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

import hpcsim

pytest.importorskip("mkdocstrings", reason="the extra docs is not installed")

FETCHED = re.compile(r"""<(?:script|img|iframe|source)[^>]+src=["']?(?:https?:)?//|<link(?![^>]+rel=["']?canonical)"""
                     r"""[^>]+href=["']?(?:https?:)?//|@import|url\(["']?(?:https?:)?//""")  # fmt: skip


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=root,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_nothing_is_fetched_by_a_page(site: Path) -> None:
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 30
    assert not {str(page.name): found[0] for page in pages if (found := FETCHED.search(page.read_text("utf-8")))}


def test_whatever_hpcsim_exports_is_described(site: Path) -> None:
    anchors = {
        anchor
        for page in (site / "reference").glob("*.html")
        for anchor in re.findall(r' id="(hpcsim[\w.]*)"', page.read_text("utf-8"))
    }
    homes = {name: getattr(hpcsim, name) for name in hpcsim.__all__ if name not in {"registry", "Decision"}}
    wanted = {f"{value.__module__}.{value.__name__}" for value in homes.values()}
    wanted |= {f"hpcsim.{name}" for name in ("make_policy", "read")}
    assert not {name for name in wanted if name not in anchors}
    plug_ins = distribution("hpcsim-des").entry_points
    groups = [group for group in plug_ins.groups if group.startswith("hpcsim.")]
    ours = {
        point.value.partition(" ")[0].replace(":", ".") for group in groups for point in plug_ins.select(group=group)
    }
    assert not {name for name in ours if name.startswith("hpcsim.") and name not in anchors}


def test_every_command_is_described(site: Path) -> None:
    page = (site / "reference" / "command-line.html").read_text("utf-8")
    for command in ("hpcsim run", "hpcsim sweep", "hpcsim workload fetch", "hpcsim cluster from-slurm"):
        assert f">{command}<" in re.sub(r"<a [^>]*>.*?</a>", "<", page)
    assert "<code>--resume</code>" in page


def test_start_page_is_the_readme_and_its_links_work(site: Path) -> None:
    page = (site / "index.html").read_text("utf-8")
    assert "Write a policy in 15" in page
    assert 'href="is-mine-better.html"' in page
    assert (site / "examples.html").read_text("utf-8").count('id="0') >= 5
