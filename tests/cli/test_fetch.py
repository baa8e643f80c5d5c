"""`hpcsim workload fetch`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from hpcsim import registry

Cli = Callable[..., Result]


def test_what_is_there_is_checked_and_its_path_printed(
    cli: Cli, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a network: the log lies in the folder already."""
    monkeypatch.setenv("HPCSIM_DATA", str(tmp_path))
    dataset = registry.make("datasets", "kth-sp2")
    (tmp_path / dataset.file).symlink_to(shared / "traces" / dataset.file)
    done = cli("workload", "fetch", "kth-sp2")
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path / dataset.file}\n")
    for fact in (dataset.url, dataset.citation, dataset.terms, dataset.checksum):
        assert fact in done.stderr


def test_no_connection_is_one_sentence_with_a_remedy(cli: Cli, tmp_path: Path) -> None:
    done = cli("workload", "fetch", "kth-sp2", "--out", tmp_path, "--mirror", "http://127.0.0.1:9")
    assert done.exit_code == 2
    assert "Error: Cannot reach 127.0.0.1:9: is this machine offline? Go online, or get https://" in done.stderr


def test_unknown_names_are_met_with_the_nearest(cli: Cli) -> None:
    done = cli("workload", "fetch", "sdsc-sp3")
    assert done.exit_code == 2
    assert "Did you mean 'sdsc-sp2'?" in done.stderr
