"""Results go to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any

import typer

from hpcsim.results.storage import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

LONGEST_WORD = 24
"""Of a text in a table that is too wide: longer words are broken."""

MOST_WIDTH = 10_000
"""Of a table in characters; a terminal that is narrower breaks its lines, and no figure is cut."""


def say(text: str) -> None:
    """Write a message for the person at the terminal: one line on standard error, never wrapped."""
    typer.echo(text, err=True)


def print_json(data: Any) -> None:
    """Write *data* as JSON on standard output; what is not a number becomes null."""
    typer.echo(json.dumps(plain(data), indent=2, ensure_ascii=False, allow_nan=False))


def print_table(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, last_is_text: bool = False
) -> None:
    """Write a table on standard output; text is left-aligned and wraps, the rest is right-aligned and never cut.

    Text are the first *left* columns and, if so said, the last one.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    is_headed = any(headings)
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
        show_header=is_headed,
        header_style="bold",
        padding=(0, 1, 0, 0),
    )
    for column, heading in enumerate(headings):
        is_text = column < left or (last_is_text and column == len(headings) - 1)
        figures = () if is_text else (*heading.split(), *(row[column] for row in rows))
        least = max(map(cell_len, figures), default=None)
        table.add_column(heading, justify="left" if is_text else "right", overflow="fold", min_width=least)
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False, emoji=False)
    endless = console.options.update(max_width=MOST_WIDTH)
    if console.measure(table, options=endless).maximum > console.width:
        _share_width(console, table, [headings, *rows])
    with console.capture() as text:  # rich would end the program by itself where the reader has gone
        console.print(table)
    typer.echo(typer.style(title, bold=True) + "\n")
    typer.echo(text.get())


def _share_width(console: Console, table: Table, lines: Sequence[Sequence[str]]) -> None:
    """Fix the widths of the columns of *table*: figures get all they need, text what is left, broken between words.

    The console is widened where that is too little for the longest words.
    """
    from rich.cells import cell_len

    wanted: list[tuple[Column, int]] = []
    for column, texts in zip(table.columns, zip(*lines, strict=True), strict=True):
        column.width = column.min_width
        if column.width is None:
            words = [cell_len(word) for text in texts for word in text.split()]
            column.width = min(max(words, default=1), LONGEST_WORD)
            wanted.append((column, max(map(cell_len, texts))))
    least = console.measure(table, options=console.options.update(max_width=MOST_WIDTH)).minimum
    console.width = max(console.width, least)
    for _ in range(console.width - least if wanted else 0):
        neediest, _ = max(wanted, key=lambda pair: pair[1] - (pair[0].width or 0))
        neediest.width = (neediest.width or 0) + 1


@contextmanager
def results_only() -> Iterator[None]:
    """Keep what a plug-in prints out of standard output, so that ``--json`` stays JSON."""
    with redirect_stdout(sys.stderr):
        yield
