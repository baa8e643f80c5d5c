"""Names to factories, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from hpcsim import registry
from hpcsim.errors import HpcsimError, UnknownName
from hpcsim.policies import EASY, FCFS
from tests.schedules import jobs, starts

USER_FILE = '''
"""A user's policies."""

from hpcsim import Policy, Start


class LastFirst(Policy):
    """Last come, first served."""

    patience: int = 3

    def schedule(self, system):
        for job in reversed(system.queue[:]):
            if system.fits(job):
                yield Start(job)
'''


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    """A file with one policy."""
    path = tmp_path / "mine.py"
    path.write_text(USER_FILE, encoding="utf-8")
    return path


def test_registered_names() -> None:
    """The built-in policies and orders are there, sorted."""
    assert registry.names("policies") == sorted(registry.names("policies"))
    assert {"backfill", "conservative", "easy", "fcfs", "ljf", "saf", "sjf"} <= set(registry.names("policies"))
    assert registry.find("policies", "easy") is EASY
    assert registry.find("orders", "fcfs") is FCFS


def test_parameters() -> None:
    """By keyword; the object shows them."""
    assert registry.make("policies", "easy", depth=10).depth == 10


@pytest.mark.parametrize("name", registry.names("policies"))
def test_every_policy_has_a_summary_and_runs(name: str) -> None:
    """One line of help, and a schedule with defaults."""
    assert registry.summary("policies", name).endswith(".")
    assert starts(jobs("a 0 1 1 1\n b 0 1 1 1"), 2, name) == {"a": 0, "b": 0}


def test_file_and_module_names(user_file: Path) -> None:
    """A policy needs no packaging: c came last and goes first."""
    policy = registry.make("policies", f"{user_file}:LastFirst", patience=5)
    assert policy.patience == 5
    assert starts(jobs("a 0 5 5 1\n b 1 5 5 1\n c 2 5 5 1"), 1, policy) == {"a": 0, "c": 5, "b": 10}
    assert registry.find("policies", "hpcsim.policies.backfill:EASY") is EASY


@pytest.mark.parametrize(
    ("group", "name", "words"),
    [
        ("policies", "esay", ["There is no policy called 'esay'", "Did you mean 'easy'?", "Known: ", "file.py:Class"]),
        ("policies", "conservativ", ["Did you mean 'conservative'?"]),
        ("policies", "zzzz", ["There is no policy called 'zzzz'", "Known: "]),
        ("orders", "sfj", ["There is no order called 'sfj'", "Did you mean 'sjf'?"]),
        ("policy", "easy", ["no registry group 'policy'", "Did you mean 'policies'?"]),
        ("policies", "hpcsim.polices:EASY", ["Cannot import 'hpcsim.polices'", "spelling"]),
        ("policies", "hpcsim.policies:EASI", ["hpcsim.policies has no class 'EASI'", "Did you mean 'EASY'?"]),
        ("policies", "absent.py:Mine", ["There is no file absent.py", "Check the path"]),
    ],
)
def test_unknown_names(group: str, name: str, words: list[str]) -> None:
    """The closest name and what is known."""
    with pytest.raises(UnknownName) as caught:
        registry.find(group, name)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_unknown_member_of_a_file(user_file: Path) -> None:
    """What the file has is told."""
    with pytest.raises(UnknownName, match=r"mine\.py has no class 'LastFrist'\. Did you mean 'LastFirst'\?"):
        registry.find("policies", f"{user_file}:LastFrist")


def test_unknown_parameters() -> None:
    """The closest one and all that there are."""
    with pytest.raises(UnknownName) as caught:
        registry.make("policies", "easy", dept=3)
    assert "Policy 'easy' has no parameter 'dept'. Did you mean 'depth'?" in caught.value.cause
    assert "boundary" in caught.value.remedy


BROKEN = [("1 / 0", "ZeroDivisionError"), ("def (", "SyntaxError"), ("import absent_x", "ModuleNotFoundError")]


@pytest.mark.parametrize(("text", "kind"), BROKEN)
def test_a_file_that_cannot_be_imported(tmp_path: Path, text: str, kind: str) -> None:
    """The file and its error, chained."""
    path = tmp_path / "broken.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(HpcsimError, match=rf"broken\.py raised {kind} when imported: .*Mend the file\.") as caught:
        registry.find("policies", f"{path}:Mine")
    assert type(caught.value.__cause__).__name__ == kind


def test_a_name_without_a_module() -> None:
    """Half a name."""
    with pytest.raises(UnknownName):
        registry.find("policies", ":EASY")


def test_an_unknown_member_is_answered_with_candidates_only(user_file: Path) -> None:
    """The file's own class and the policies that it imports; no contract, no decision."""
    user_file.write_text("from hpcsim import Order\nfrom hpcsim.policies import EASY\n" + user_file.read_text())
    with pytest.raises(UnknownName) as caught:
        registry.find("policies", f"{user_file}:Zzz")
    assert caught.value.remedy == "It has: EASY, LastFirst."


def test_groups_are_told_as_words() -> None:
    """Not as a tuple."""
    with pytest.raises(UnknownName) as caught:
        registry.names("policy")
    assert caught.value.remedy.startswith("Known: policies, orders, ")
