"""A table as Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]], text: Collection[int] = (0,)) -> str:
    """Return a table of *rows*; columns at *text* are left-aligned, the others right. Bars in cells are escaped."""
    rule = ["---" if at in text else "---:" for at in range(len(headings))]
    lines = ([cell.replace("|", r"\|") for cell in line] for line in (headings, rule, *rows))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
