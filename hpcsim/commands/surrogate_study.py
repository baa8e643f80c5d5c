"""`hpcsim surrogate study`: which surrogate, inputs, sample and engine give advice that is worth taking?"""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hpcsim.commands import options
from hpcsim.commands.output import print_json, print_table, results_only, say
from hpcsim.commands.policy_specs import parse_setting
from hpcsim.results.quantities import count, duration


class StudySize(StrEnum):
    """How large a study is; see `hpcsim.experiments.surrogate_study.plan.PRESETS`."""

    SMOKE = "smoke"
    DEMO = "demo"
    FULL = "full"


def surrogate_study(
    *,
    data: Annotated[
        str,
        typer.Option(
            "--data", metavar="MODEL|FILE", help="Workload model, or a PM100, Adastra or other log with power."
        ),
    ] = "synth-pm100",
    preset: Annotated[
        StudySize, typer.Option("--preset", help="smoke takes a minute, demo some, full days on one core.")
    ] = StudySize.SMOKE,
    out: Annotated[Path, typer.Option("--out", parser=options.path, metavar="DIR", help="Folder for the study.")],
    file_format: options.Format = "auto",
    read: options.Read = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the study in DIR.")] = False,
    json: options.Json = False,
) -> None:
    """Vary surrogate, inputs, sampling and search engine, one at a time; grade each by itself and by the truth.

    DIR gets tables as CSV, a page (study.md) and plots. A study that was stopped goes on with --resume.
    """
    from hpcsim.experiments.surrogate_study import run_study

    settings = dict(parse_setting(text, "--read") for text in read or ())
    try:
        with results_only():
            answer = run_study(
                data, out, preset=preset.value, reader=file_format, options=settings, resume=resume, progress=_tell
            )
    except KeyboardInterrupt:
        say(f"Finished cells are kept in {out}: go on with --resume.")
        raise
    if json:
        print_json(answer)
        return
    rows = [
        (one["claim"], one["first"], one["second"], one["measure"], _gain(one), one["shown"])
        for one in answer["comparisons"]
    ]
    head = ("claim", "first", "against", "measure", "gain, 95 % interval", "shown")
    print_table(f"{data}: what embeddings and MOBO gain", head, rows, left=4)
    for claim, text in answer["verdicts"].items():
        typer.echo(f"{claim} {text}")
    say(f"Tables, page and plots are in {out}; begin with {out / 'study.md'}")


def _tell(done: int, total: int, left_s: float, label: str) -> None:
    when = f", about {duration(math.ceil(left_s))} left" if done else ""
    say(f"{done:,} of {count(total, 'cell')}{when}: {label}")


def _gain(one: dict[str, float]) -> str:
    if math.isnan(one["low"]):
        return f"{one['gain']:+.3g}"
    return f"{one['gain']:+.3g} [{one['low']:+.3g}, {one['high']:+.3g}]"
