"""A command waits for what it needs itself, and for nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from hpcsim.cli import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print(*sorted(name for name in sys.modules if name.startswith("hpcsim.")))
"""


def loaded_by(*arguments: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_run_loads_no_other_command_and_no_other_reader(tmp_path: Path) -> None:
    log = tmp_path / "one.swf"
    log.write_text("; MaxProcs: 4\n1 0 0 60 2 -1 -1 2 120 -1 1 1 1 1 1 1 -1 -1\n")
    loaded = loaded_by("run", str(log))
    assert "hpcsim.commands.run" in loaded
    for idle in ("hpcsim.commands.tune", "hpcsim.commands.check", "hpcsim.testing", "hpcsim.workloads.readers.sacct"):
        assert idle not in loaded


@pytest.mark.parametrize("group", [(), ("workload",), ("cluster",)])
def test_help_names_every_command(group: tuple[str, ...]) -> None:
    from typer.main import get_command

    from hpcsim.cli import app

    command = get_command(app)
    for name in group:
        command = command.commands[name]  # type: ignore[attr-defined]
    shown = [sys.executable, "-m", "hpcsim", *group, "--help"]
    text = subprocess.run(shown, check=True, capture_output=True, text=True).stdout
    listed = text.partition("Commands:")[2]
    for name in command.commands:  # type: ignore[attr-defined]
        assert f"\n  {name} " in listed
        assert callable(command.commands[name].callback or command.commands[name].invoke)  # type: ignore[attr-defined]
