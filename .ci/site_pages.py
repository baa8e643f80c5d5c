"""Pages of the documentation site that are made from what stands elsewhere: nothing is said twice.

A hook of MkDocs. The start page is the README, the examples are their files, and the references of
commands and plug-ins come from the program itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
COMMANDS, PLUG_INS = "<!-- every command -->", "<!-- every plug-in -->"
GROUPS = (
    *("policies", "orders", "estimators", "placements", "advisors", "search", "surrogates", "models"),
    *("transformations", "readers", "writers", "clusters", "datasets", "trainers", "studies"),
)
"""Groups of entry points, in the order of the page; what stands in two is shown in the first."""


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that have no file of their own under docs/."""
    for name, text in {
        "index.md": (ROOT / "README.md").read_text(encoding="utf-8"),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        "license.md": f"# License\n\n```text\n{(ROOT / 'LICENSE').read_text(encoding='utf-8')}```\n",
        "examples.md": "\n".join(_examples()),
    }.items():
        page = File.generated(config, name, content=text)
        page.inclusion = page.inclusion if name != "license.md" else page.inclusion.NOT_IN_NAV
        files.append(page)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links that lead out of docs/ into links within the site, and fill in what the program knows."""
    if page.file.src_uri in {"index.md", "changelog.md"}:
        markdown = re.sub(r"\]\(docs/", "](", markdown).replace("](CHANGELOG.md)", "](changelog.md)")
        markdown = markdown.replace("](LICENSE)", "](license.md)").replace("](examples)", "](examples.md)")
    markdown = re.sub(r"\]\((?:\.\./)+examples/([\w.]+)\)", lambda link: f"](examples.md#{_anchor(link[1])})", markdown)
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, "\n".join(_commands()))
    return markdown.replace(PLUG_INS, "\n".join(_plug_ins())) if PLUG_INS in markdown else markdown


def on_post_page(output: str, **_: Any) -> str:
    """Take out the one script that the theme would fetch: a stand-in for workers in pages opened from the disk."""
    return re.sub(r'<script src="https://unpkg\.com/[^"]*"></script>', "", output)


on_post_template = on_post_page


def _anchor(name: str) -> str:
    return name.replace(".", "-").replace("_", "-")


def _examples() -> Iterator[str]:
    """Yield the page of examples: each file whole."""
    yield "# Examples\n\nEach runs by itself, `python examples/01_first_run.py`, and is run by the tests.\n"
    for path in sorted((ROOT / "examples").iterdir()):
        if path.suffix in {".py", ".toml"}:
            language = "python" if path.suffix == ".py" else "toml"
            yield f"## {path.name} {{ #{_anchor(path.name)} }}\n"
            yield f"```{language}\n{path.read_text(encoding='utf-8')}```\n"


def _commands() -> Iterator[str]:
    """Yield what `--help` says of every command."""
    from typer.main import get_command

    from hpcsim.cli import app

    yield from _of_command("hpcsim", get_command(app))


def _of_command(path: str, command: Any) -> Iterator[str]:
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from _of_command(f"{path} {name}", inner)
        return
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    usage = " ".join([path, *(f"[{a.metavar}]" if not a.required else a.metavar or a.name for a in arguments)])
    yield f"## {path}\n\n```text\n{usage} [OPTIONS]\n```\n\n{command.help}\n"
    yield "| argument | takes | |\n|---|---|---|"
    for parameter in command.params:
        names = ", ".join(parameter.opts) if parameter not in arguments else parameter.metavar or parameter.name
        takes = "" if parameter in arguments or getattr(parameter, "is_flag", False) else _takes(parameter)
        yield f"| `{names}` | {takes} | {_escaped(parameter.help or '')} |"
    yield ""


def _takes(parameter: Any) -> str:
    default = "" if parameter.default in {None, "", False} or parameter.required else f", default {parameter.default}"
    return f"`{_escaped(parameter.metavar or 'VALUE')}`{default}"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _plug_ins() -> Iterator[str]:
    """Yield every registered plug-in once, with all of its names."""
    shown: dict[str, str] = {}
    for group in GROUPS:
        ours = [point for point in entry_points(group=f"hpcsim.{group}") if point.value.startswith("hpcsim.")]
        if not ours:
            continue
        yield f"## `{group}`\n"
        for point in sorted(ours, key=lambda point: point.name):
            where = point.value.partition(" ")[0].replace(":", ".")
            if where in shown:
                yield f"`{point.name}`: [{where.rpartition('.')[2]}][{where}], one of the {shown[where]}.\n"
                continue
            shown[where] = group
            options = {"heading_level": 3, "heading": f"'{point.name}'", "toc_label": f"'{point.name}'"}
            yield f"::: {where}\n    options:"
            yield from (f"      {key}: {value}" for key, value in options.items())
            yield ""
