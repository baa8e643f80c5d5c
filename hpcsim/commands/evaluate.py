"""`hpcsim evaluate`: a scheduler on sequences that it never saw, paired with every rule."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Many
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hpcsim.commands.evaluate_specs import contender_of
from hpcsim.commands.out_folder import check_file
from hpcsim.commands.output import print_json, print_table, results_only, say
from hpcsim.commands.report_file import write_text
from hpcsim.errors import HpcsimError
from hpcsim.experiments.evaluation.contenders import RULES, Contender
from hpcsim.experiments.evaluation.noise import DRAWS, noise_band
from hpcsim.experiments.evaluation.outcome import Outcome, read_outcomes
from hpcsim.experiments.evaluation.page import render_evaluation
from hpcsim.experiments.evaluation.records import records
from hpcsim.experiments.evaluation.runner import chosen, sequences_of
from hpcsim.experiments.evaluation.runner import evaluate as evaluate_all
from hpcsim.experiments.evaluation.standing import Who, check_is_tested
from hpcsim.experiments.evaluation.suites import SUITES, find_suite
from hpcsim.experiments.evaluation.tables import Section, markdown, sections_of


def evaluate(
    *,
    suite: Annotated[
        list[str] | None, typer.Option("--suite", metavar="NAME", help=f"Repeat for several: {', '.join(SUITES)}.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="NAME[:KEY=VALUE,...]", help="Whom to test beside the rules; repeat it."),
    ] = None,
    mode: Annotated[
        Literal["backfill", "none"], typer.Option("--mode", help="Whether jobs are backfilled beside a head.")
    ] = "backfill",
    only: Annotated[bool, typer.Option("--only", help="Leave the rules out.")] = False,
    reference: Annotated[str, typer.Option("--reference", metavar="POLICY", help="What ratios are to.")] = "saf",
    data: Annotated[Path | None, typer.Option("--data", metavar="DIR", help="Folder with the suites' logs.")] = None,
    sequences: Annotated[
        int | None, typer.Option("--sequences", metavar="N", min=1, help="Only N sequences, evenly spread.")
    ] = None,
    noise: Annotated[
        int, typer.Option("--noise", metavar="N", min=0, help="Draws of the noise band beside published sequences.")
    ] = DRAWS,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Processes.")] = 1,
    saved: Annotated[
        list[Path] | None,
        typer.Option("--from", metavar="FILE", help="Show what --json printed earlier; nothing is run. Repeatable."),
    ] = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="Only who stands where: no profile, no speed, no single conditions.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the tables: a page if it ends in .html, or Markdown."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list, one record a policy and suite.")] = False,
) -> None:
    """Test policies on fixed suites of sequences, each from an empty machine, paired with every rule.

    Rules that order jobs and networks that choose them get what the suite's protocol puts beside a
    head; other policies stay as they are. docs/evaluation.md says what each suite is.
    """
    check_file(out)
    if bool(suite) == bool(saved):
        raise HpcsimError("Say which suites to run, or which files to show.", "Give --suite NAME or --from FILE.")
    if saved:
        _check_nothing_is_asked_for(bool(policy or only or json))
        _show(read_outcomes(saved), reference, out, is_brief=brief)
        return
    contenders = _contenders(policy or [], only=only)
    if out is not None or not json:
        check_is_tested(reference, [each.label for each in contenders])
    seeds = {contender: contender.training_seed() for contender in contenders}
    for name in suite or ():
        find_suite(name)
    outcomes: list[Outcome] = []
    found: list[dict[str, Any]] = []
    for name in suite or ():
        outcome = _tested(
            seeds, name, mode, None if data is None else str(data), sequences, workers, 0 if only else noise
        )
        outcomes.append(outcome)
        found += records(seeds, outcome.scores, outcome.sequences, name, mode, outcome.noise)
    if json:
        print_json(found)
    if out is not None or not json:
        _show(outcomes, reference, out, is_brief=brief, is_quiet=json)


def _check_nothing_is_asked_for(is_asked: bool) -> None:
    if is_asked:
        raise HpcsimError(
            "With --from nothing is run: --policy, --only and --json have no say.", "Leave them out, or --from."
        )


def _tested(
    seeds: dict[Contender, int | None],
    suite: str,
    mode: Literal["backfill", "none"],
    data: str | None,
    sequences: int | None,
    workers: int,
    draws: int,
) -> Outcome:
    """Run everybody on a suite, and the noise band where its sequences are published ones."""
    contenders = list(seeds)
    options: dict[str, Any] = {"data": data, "sequences": sequences, "workers": workers}
    with results_only():
        scores = evaluate_all(contenders, suite, mode, **options, progress=_progress(suite))
        band = None
        if suite.startswith("rls-") and draws:
            band = noise_band(suite, mode, draws, **options, progress=_progress(f"{suite}, noise"))
    there = sequences_of(suite, data)
    who = {contender.label: Who(contender.name, seed) for contender, seed in seeds.items()}
    taken = [there[place] for place in chosen(len(there), sequences)]
    return Outcome(suite, mode, taken, scores, who, band)


def _show(outcomes: Many[Outcome], reference: str, out: Path | None, *, is_brief: bool, is_quiet: bool = False) -> None:
    """Print the tables unless told to be quiet, and write them where a file is wanted."""
    sections = [section for each in outcomes for section in sections_of(each, reference, is_brief=is_brief)]
    if not is_quiet:
        for section in sections:
            _print(section)
    if out is None:
        return
    is_page = out.suffix.lower() in {".html", ".htm"}
    write_text(out, render_evaluation(sections, reference) if is_page else "\n".join(map(markdown, sections)))
    say(f"Tables: {out}")


def _print(section: Section) -> None:
    for at, table in enumerate(section.tables):
        print_table(section.title if at == 0 else table.title, table.headings, table.rows)
        if table.note:
            typer.echo(table.note + "\n")
    for note in section.notes:
        typer.echo(note + "\n")


def _contenders(specs: Iterable[str], *, only: bool) -> list[Contender]:
    contenders = [*(() if only else RULES), *map(contender_of, specs)]
    labels = [each.label for each in contenders]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise HpcsimError(
            f"Two of the policies are called '{twice}'.", "Give each once; the rules are in by themselves."
        )
    if not contenders:
        raise HpcsimError("There is nobody to test.", "Give --policy, or leave --only out.")
    return contenders


def _progress(suite: str) -> Any:
    last = -1

    def show(done: int, of: int) -> None:
        nonlocal last
        share = 10 * done // of
        if share > last:
            last = share
            say(f"{suite}: {done} of {of} simulations")

    return show
