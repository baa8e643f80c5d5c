"""The code blocks of the documentation: where they stand, in what language, and whether they are run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

LANGUAGES = {"console", "python", "toml", "json", "text"}
"""`text` is what a program prints or a folder holds; all else is run, or read by what it is meant for."""

FENCE = re.compile(
    r'(?:^<!-- not run: (?P<reason>[^\n]+) -->\n)?^```(?P<language>\w*)(?: title="(?P<title>[^"\n]+)")?\n'
    r"(?P<text>.*?)^```$",
    flags=re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A fenced block: *title* names the file that it is the text of, *reason* says why it is not run."""

    line: int
    language: str
    title: str
    reason: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of *page* in order."""
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        found = match.groupdict(default="")
        yield Block(text.count("\n", 0, match.start()) + 1, **{name: found[name] for name in Block._fields[1:]})


def name_of(page: Path) -> str:
    """Return how tests call *page*."""
    return str(page.relative_to(ROOT))
