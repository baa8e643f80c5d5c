"""Whatever is typed or found on disk: one sentence with cause and remedy, exit code 2, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from hpcsim.commands import failures

Cli = Callable[..., Result]
Shell = Callable[..., subprocess.CompletedProcess[str]]
Files = Callable[..., Path]


def assert_one_sentence(done: Result | subprocess.CompletedProcess[str], *words: str) -> None:
    """The last line of standard error is the message; nothing on standard output."""
    message = done.stderr.splitlines()[-1]
    assert (done.exit_code if isinstance(done, Result) else done.returncode) == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert message.startswith("Error: ")
    assert message.endswith(".")
    for word in words:
        assert word in message


def test_missing_file(shell: Shell, tmp_path: Path) -> None:
    assert_one_sentence(shell("run", tmp_path / "no such.swf"), "no such.swf")


def test_folder_as_trace(cli: Cli, tmp_path: Path) -> None:
    assert_one_sentence(cli("run", tmp_path), str(tmp_path))


def test_not_a_log(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir or Madam,\nyour cluster is slow.\n")
    assert_one_sentence(shell("run", path), "letter.txt")


def test_empty_log(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "empty.swf"
    path.write_text("")
    assert_one_sentence(cli("run", path))


def test_log_without_a_machine_size(cli: Cli, write_log: Files) -> None:
    done = cli("run", write_log([(1, 0, 10, 2)], header=""))
    assert_one_sentence(done, "--processors", "--cluster", "widest job takes 2")


def test_typo_in_the_policy(shell: Shell, trace: Path) -> None:
    assert_one_sentence(shell("run", trace, "--policy", "esay"), "Did you mean 'easy'?")


def test_unknown_parameter(cli: Cli, trace: Path) -> None:
    assert_one_sentence(cli("run", trace, "--policy", "backfill", "--set", "dept=3"), "Did you mean 'depth'?")


@pytest.mark.parametrize("setting", ["depth", "=3", ""])
def test_setting_without_key_and_value(cli: Cli, trace: Path, setting: str) -> None:
    done = cli("run", trace, "--set", setting)
    assert done.exit_code == 2
    assert "--set key=value" in done.stderr


def test_value_of_the_wrong_kind(cli: Cli, trace: Path) -> None:
    done = cli("run", trace, "--policy", "backfill", "--set", "depth=deep")
    assert_one_sentence(done, "depth is 'deep'", "Give a whole number")


def test_policy_whose_constructor_raises(cli: Cli, trace: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from hpcsim.policies import FCFS\n\n\nclass Mine(FCFS):\n    size: int = 1\n\n"
        "    def __post_init__(self):\n        self.size + 1\n"
    )
    done = cli("run", trace, "--policy", f"{path}:Mine", "--set", "size=deep")
    assert_one_sentence(done, "cannot be made", "TypeError")


def test_typo_in_the_cluster_file(cli: Cli, trace: Path, tmp_path: Path) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text("[[groups]]\nnodes = 4\ncoers = 2\n")
    assert_one_sentence(cli("run", trace, "--cluster", path), "coers", "Did you mean 'cores'?")


def test_two_machines(cli: Cli, trace: Path) -> None:
    done = cli("run", trace, "--nodes", 4, "--processors", 4)
    assert done.exit_code == 2
    assert "more than once" in done.stderr


def test_out_below_a_file_is_refused_before_anything_runs(cli: Cli, trace: Path) -> None:
    assert_one_sentence(cli("run", trace, "--out", trace / "out"), "is not a folder")


def test_out_with_other_peoples_files_is_refused(cli: Cli, trace: Path) -> None:
    done = cli("run", trace, "--out", trace.parent)
    assert_one_sentence(done, trace.name, "will not be replaced")
    assert "Machine" not in done.stderr, "refused only after the log was read"


def test_report_that_is_a_folder(cli: Cli, trace: Path, tmp_path: Path) -> None:
    done = cli("compare", trace, "--policy", "easy", "--report", tmp_path)
    assert done.exit_code == 2
    assert "it is a folder" in done.stderr


def test_policy_file_that_does_not_compile(cli: Cli, trace: Path, policy_file: Files) -> None:
    path = policy_file("return return")
    assert_one_sentence(cli("run", trace, "--policy", f"{path}:Mine"), path.name, "SyntaxError")


def test_policy_file_without_the_class(cli: Cli, trace: Path, policy_file: Files) -> None:
    assert_one_sentence(cli("run", trace, "--policy", f"{policy_file('return []')}:Mien"), "Did you mean 'Mine'?")


def test_something_that_is_no_policy(cli: Cli, trace: Path) -> None:
    assert_one_sentence(cli("run", trace, "--policy", "json:dumps"), "is not a policy")


def test_policy_that_raises_leaves_its_partial_result(cli: Cli, trace: Path, policy_file: Files) -> None:
    path = policy_file("yield Start(system.queue[0])\nraise KeyError('x')")
    done = cli("run", trace, "--policy", f"{path}:Mine", "--out", path.parent / "out")
    assert_one_sentence(done, "KeyError")
    assert (path.parent / "out" / "summary.json").is_file()


def test_policy_that_stalls_leaves_its_partial_result(shell: Shell, trace: Path, policy_file: Files) -> None:
    path = policy_file("return []")
    done = shell("run", trace, "--policy", f"{path}:Mine", "--out", path.parent / "out")
    assert_one_sentence(done, "waiting", "WakeAt")
    assert (path.parent / "out" / "summary.json").is_file()


def test_policy_that_over_allocates(cli: Cli, trace: Path, policy_file: Files) -> None:
    path = policy_file("for job in system.queue:\n    yield Start(job)")
    assert_one_sentence(cli("run", trace, "--policy", f"{path}:Mine"))


def test_plug_in_that_fails_outside_its_schedule_is_located(shell: Shell, trace: Path, policy_file: Files) -> None:
    path = policy_file("return []\n\ndef reset(self, cluster, rng):\n    raise ValueError('no luck')")
    path.write_text(path.read_text().replace("        def reset", "    def reset"))
    done = shell("run", trace, "--policy", f"{path}:Mine")
    assert done.returncode == failures.EXIT_ERROR
    assert f"Mine.reset raised ValueError: no luck ({path}, line " in done.stderr
    assert "Traceback" not in done.stderr


def test_debug_shows_the_traceback(shell: Shell, tmp_path: Path) -> None:
    done = shell("--debug", "run", tmp_path / "none.swf")
    assert done.returncode != 0
    assert "Traceback" in done.stderr


@pytest.mark.parametrize("arguments", [["rnu"], ["run"], ["run", "x", "--plicy", "easy"], ["run", "x", "--nodes", "0"]])
def test_wrong_usage_is_typers_own(cli: Cli, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert done.exit_code == 2
    assert "Usage: " in done.stderr


def test_interrupt_is_one_line(cli: Cli, trace: Path, policy_file: Files) -> None:
    done = cli("run", trace, "--policy", f"{policy_file('raise KeyboardInterrupt')}:Mine")
    assert done.exit_code == failures.EXIT_INTERRUPTED
    assert done.stderr.splitlines()[-1] == "Interrupted."


def test_closed_pipe_is_quiet(trace: Path) -> None:
    command = f'"{sys.executable}" -m hpcsim.cli workload info "{trace}" | true'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""


def test_more_nodes_than_tables_can_count(cli: Cli, trace: Path) -> None:
    done = cli("run", trace, "--nodes", "99999999999999999999")
    assert_one_sentence(done, "99999999999999999999 nodes", "Give at most 2147483647 nodes")


def test_debug_is_taken_after_the_command_too(shell: Shell, tmp_path: Path) -> None:
    for command in (["run"], ["workload", "info"]):
        done = shell(*command, tmp_path / "none.swf", "--debug")
        assert done.returncode != 0
        assert "Traceback" in done.stderr


def test_reader_that_has_gone_is_no_error() -> None:
    """As `head` does. The reader leaves before the first byte: later, the kernel may take all the rest."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "hpcsim.cli", "list"]
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE) as process:
        os.close(writer)
        assert process.stderr is not None
        assert (process.stderr.read(), process.wait(timeout=60)) == (b"", failures.EXIT_PIPE_CLOSED)


@pytest.mark.parametrize("option", ["--out", "--report", "--cluster", "--quarantine"])
def test_empty_path_is_refused(cli: Cli, trace: Path, option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trace.parent)
    done = cli("compare", trace, "--policy", "easy", option, "")
    assert done.exit_code == 2
    assert "path is empty" in " ".join(done.stderr.split())


def test_quarantine_mode_without_a_file(cli: Cli, trace: Path) -> None:
    assert_one_sentence(cli("run", trace, "--mode", "quarantine"), "Add --quarantine FILE")


def test_quarantine_file_in_another_mode(cli: Cli, trace: Path) -> None:
    done = cli("run", trace, "--mode", "strict", "--quarantine", trace.parent / "q.swf")
    assert_one_sentence(done, "--mode strict writes no quarantine file")


def test_quarantine_never_replaces_the_log(cli: Cli, trace: Path) -> None:
    before = trace.read_bytes()
    assert_one_sentence(cli("run", trace, "--quarantine", trace), "the log itself")
    assert trace.read_bytes() == before
