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
    from rich.console import Console, JustifyMethod
    from rich.table import Column, Table

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
    for place, heading in enumerate(headings):
        is_text = place < left or (last_is_text and place == len(headings) - 1)
        cells = [row[place] for row in rows]
        words = " ".join((heading, *cells)).split() if is_text else (*heading.split(), *cells)
        least, most = (max(map(cell_len, texts), default=0) for texts in (words, (*heading.splitlines(), *cells)))
        justify: JustifyMethod = "left" if is_text else "right"
        table.add_column(
            heading, justify=justify, overflow="fold", min_width=least, max_width=None if is_text else most
        )
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False, emoji=False)
    _fit(table, console)
    with console.capture() as text:  # rich would end the program by itself where the reader has gone
        console.print(table)
    typer.echo(typer.style(title, bold=True) + "\n")
    typer.echo(text.get())


def _fit(table: Table, console: Console) -> None:
    """Let text give way where *table* is too wide, then headings; where that is not enough, lines are broken.

    Left to itself rich would take from every column alike, the longest words of text included, and cut what is last.
    """
    endless = console.options.update(max_width=MOST_WIDTH)
    needs = console.measure(table, options=endless)
    if needs.maximum > console.width:
        figures = [column for column in table.columns if column.max_width is not None]
        more = sum((column.max_width or 0) - (column.min_width or 0) for column in figures)
        for column in table.columns:
            has_room = column.max_width is not None and needs.minimum + more <= console.width
            column.width = column.max_width if has_room else column.min_width
        fixed = console.measure(table, options=endless).minimum
        _widen([column for column in table.columns if column.max_width is None], console.width - fixed)
        needs = console.measure(table, options=endless)
    console.width = max(console.width, needs.minimum)


def _widen(texts: list[Column], spare: int) -> None:
    """Give each of *spare* characters to the column of *texts* that lacks most of them for its longest line."""
    from rich.cells import cell_len

    lack = [max(cell_len(str(cell)) for cell in (one.header, *one.cells)) - (one.width or 0) for one in texts]
    for _ in range(min(spare, sum(lack))):
        place = lack.index(max(lack))
        lack[place] -= 1
        texts[place].width = (texts[place].width or 0) + 1


@contextmanager
def results_only() -> Iterator[None]:
    """Keep what a plug-in prints out of standard output, so that ``--json`` stays JSON."""
    with redirect_stdout(sys.stderr):
        yield
