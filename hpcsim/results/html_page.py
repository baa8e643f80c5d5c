"""The frame of a page in HTML: self-contained, without scripts, and told to fetch nothing."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from hpcsim.results.report_style import STYLE

FETCH_NOTHING = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def html_page(title: str, body: Iterable[str], *styles: str) -> str:
    """Return a page that begins with *title*, which is escaped, as its heading.

    Args:
        title: of the page, as text.
        body: what follows the heading, as HTML: whatever comes from outside is escaped already.
        styles: style sheets beside that of all reports.
    """
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{FETCH_NOTHING}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">',
        f"<title>{escape(title)}</title>\n<style>{STYLE}{''.join(styles)}</style>\n</head>\n<body>\n<main>",
        f"<h1>{escape(title)}</h1>",
        *body,
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)
