"""Every reader has its page, and what the pages quote is what the code has."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from hpcsim import registry
from hpcsim.workloads.readers.sacct_layout import EXPORT

BUILT_IN = [name for name in registry.names("readers") if name != "auto"]


@pytest.fixture(scope="module")
def pages(root: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in (root / "docs/formats").glob("*.md")}


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_index_leads_to_a_page_of_each(pages, name):
    line = next(line for line in pages["README.md"].splitlines() if f"`{name}`" in line and line.startswith("|"))
    target = re.search(r"\((\w[\w-]*\.md)\)", line)
    assert target is not None
    assert f"`{name}`" in pages[target[1]]


def test_the_command_for_sacct_is_the_one_that_errors_name(pages):
    assert EXPORT.removeprefix("sacct -a -X -P ") in pages["sacct.md"]


def test_options_that_pages_show_exist(pages):
    """Each --read KEY of a page is a parameter of one of that page's readers."""
    for page, text in pages.items():
        if page in {"README.md", "slurm-conf.md"}:  # the index, and the page on machines
            continue
        readers = [name for name in BUILT_IN if f"`{name}`" in text.splitlines()[0]]
        known = {key for name in readers for key in inspect.signature(registry.find("readers", name)).parameters}
        assert readers, page
        assert set(re.findall(r"--read (\w+)=", text)) <= known, page


def test_rules_that_pages_name_exist(root, pages):
    """Words of the rule tables are rules that some reader applies."""
    sources = "".join(path.read_text(encoding="utf-8") for path in (root / "workloads/readers").glob("*.py"))
    for page, text in pages.items():
        for row in re.findall(r"^\| (`[a-z-]+`[^|]*)\| (?:changed|refused|noted)", text, re.MULTILINE):
            for rule in re.findall(r"`([a-z]+(?:-[a-z]+)+)`", row):
                assert f'"{rule}"' in sources, (page, rule)
