"""`hpcsim check`: does this policy keep the rules?"""

from __future__ import annotations

import json as json_format
import re
import signal
import subprocess
import tempfile
from dataclasses import asdict
from pathlib import Path
from sysconfig import get_paths
from threading import Timer
from typing import Annotated, Any

import typer

from hpcsim.commands import options
from hpcsim.commands.check_worker import Question
from hpcsim.commands.output import print_json, print_table
from hpcsim.commands.progress import busy
from hpcsim.errors import HpcsimError
from hpcsim.testing import CheckOutcome, PolicyCheck, Status, Verdict
from hpcsim.testing.conformance import find_checks
from hpcsim.testing.examination import EXAMPLES
from hpcsim.testing.extra import need_hypothesis
from hpcsim.testing.other_process import command, environment

EXIT_BROKEN = 1

_PATIENCE_S = 5
"""Seconds that the other process gets to end by itself when its time is up."""

_FRAME = re.compile(r'File "(?P<file>.+)", line (?P<line>\d+) in (?P<function>.+)')
_NOT_THEIRS = tuple(str(Path(path).resolve()) for path in (str(Path(__file__).parents[1]), *get_paths().values()))


def check(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help="Registry name, module:Class or file.py:Class.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Parameter of the policy; repeatable.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="CHECK", help="Run this check alone; repeatable.")
    ] = None,
    examples: Annotated[
        int, typer.Option("--examples", min=1, metavar="N", help="Workloads that each check draws.")
    ] = EXAMPLES,
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, metavar="S", help="Seconds after which a check is stopped.")
    ] = 60,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Check that a policy keeps the rules and what it declares; exit code 1 if not.

    It runs in a process of its own, which is stopped if it does not end.
    """
    need_hypothesis()
    checks = find_checks(only)
    with tempfile.TemporaryDirectory() as folder, busy(f"Checking {policy.rpartition(':')[2]}"):
        question = Question(policy, settings or [], only, examples, seed, timeout, str(Path(folder, "traceback")))
        verdict = ask(question, checks, folder)
    if json:
        print_json(
            {"policy": verdict.policy, "holds": verdict.holds, "checks": [o.to_dict() for o in verdict.outcomes]}
        )
    else:
        print_verdict(verdict)
    if not verdict.holds:
        raise typer.Exit(EXIT_BROKEN)


def ask(question: Question, checks: list[PolicyCheck], folder: str) -> Verdict:
    """Run *checks* in a process of its own, and return what they say; a check that does not end has failed.

    Raises:
        HpcsimError: there is no such policy, or it cannot be made.
    """
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        command("hpcsim.commands.check_worker"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(HYPOTHESIS_STORAGE_DIRECTORY=folder),
    ) as worker:
        guard = Timer((question.timeout_s + _PATIENCE_S) * (len(checks) + 1), worker.kill)
        guard.start()
        try:
            assert worker.stdin is not None
            assert worker.stdout is not None
            with worker.stdin:
                json_format.dump(asdict(question), worker.stdin)
            news = [json_format.loads(line) for line in worker.stdout]
        finally:
            guard.cancel()
    return _verdict(question, checks, news, worker.returncode)


def _verdict(question: Question, checks: list[PolicyCheck], news: list[dict[str, Any]], exit_code: int) -> Verdict:
    verdict = Verdict(question.policy)
    for item in news:
        if "error" in item:
            raise HpcsimError(*item["error"])
        verdict.policy = item.get("policy", verdict.policy)
        if "outcome" in item:
            verdict.outcomes.append(CheckOutcome.from_dict(item["outcome"]))
    if not news or "end" not in news[-1]:
        verdict.outcomes += _cut_short(question, checks[len(verdict.outcomes) :], exit_code)
    return verdict


def _cut_short(question: Question, left: list[PolicyCheck], exit_code: int) -> list[CheckOutcome]:
    """Return outcomes for the check that was stopped, which failed, and for those behind it."""
    where = _where(Path(question.traceback_path))
    if where or exit_code == -signal.SIGKILL:
        place = f": it was {where}" if where else ""
        reason = f"It did not end within {question.timeout_s:g} s{place}. Make it end, or give it longer (--timeout)."
    else:
        reason = f"Its process ended with exit code {exit_code}. A policy must not end the program."
    first, *others = left
    return [
        CheckOutcome(first.name, first.rule, Status.FAILED, reason),
        *(
            CheckOutcome(check.name, check.rule, Status.UNTESTED, f"cannot say: {first.name} did not end")
            for check in others
        ),
    ]


def _where(path: Path) -> str:
    """Return where the policy was, by the traceback that its process left; empty if it left none."""
    frames = _FRAME.findall(path.read_text(encoding="utf-8")) if path.exists() else []
    if not frames:
        return ""
    theirs = [frame for frame in frames if not str(Path(frame[0]).resolve()).startswith(_NOT_THEIRS)]
    file, line, function = (theirs or frames)[0]
    return f"in {function} ({file}, line {line})"


def print_verdict(verdict: Verdict) -> None:
    """Print a verdict as a page."""
    rows = [(outcome.check, str(outcome.status), outcome.note) for outcome in verdict.outcomes]
    print_table(verdict.policy, ("check", "", "rule"), rows, left=3)
    for text in verdict.explanations():
        typer.echo(text)
    typer.echo(f"{chr(10) if not verdict.holds else ''}{verdict.sentence()}")
