"""`hpcsim evaluate`: a scheduler on sequences that it never saw, paired with every rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Many
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hpcsim.commands.evaluate_specs import contender_of
from hpcsim.commands.output import print_json, print_table, results_only, say
from hpcsim.errors import HpcsimError
from hpcsim.experiments.evaluation.contenders import RULES, Contender
from hpcsim.experiments.evaluation.records import HEADINGS, markdown, records, row, sentence_of
from hpcsim.experiments.evaluation.runner import Score, chosen, sequences_of
from hpcsim.experiments.evaluation.runner import evaluate as evaluate_all
from hpcsim.experiments.evaluation.sequences import Sequence
from hpcsim.experiments.evaluation.standing import OverSeeds, costs_of, over_seeds, standings
from hpcsim.experiments.evaluation.suites import SUITES, find_suite
from hpcsim.results.statistics.windows import FEWEST

Scores = dict[str, list[Score]]
Seeds = dict[Contender, int | None]

LEGEND = (
    "slowdown: mean bounded slowdown; ratio: geometric mean over sequences of the slowdown over {reference}'s, below 1 "
    "is better; won: share of sequences with a lower one. Intervals: {drawn}."
)


def evaluate(
    *,
    suite: Annotated[
        list[str], typer.Option("--suite", metavar="NAME", help=f"Repeat for several: {', '.join(SUITES)}.")
    ],
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
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Processes.")] = 1,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the tables as Markdown.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list, one record a policy and suite.")] = False,
) -> None:
    """Test policies on fixed suites of sequences, each from an empty machine, paired with every rule.

    Rules that order jobs and networks that choose them get what the suite's protocol puts beside a
    head; other policies stay as they are. docs/learning.md says what each suite is.
    """
    contenders = _contenders(policy or [], only=only)
    seeds = {contender: contender.training_seed() for contender in contenders}
    written: list[str] = []
    data_found: list[dict[str, Any]] = []
    for name in suite:
        find_suite(name)
    for name in suite:
        with results_only():
            folder = None if data is None else str(data)
            scores = evaluate_all(
                contenders, name, mode, data=folder, sequences=sequences, workers=workers, progress=_progress(name)
            )
            there = sequences_of(name, folder)
        taken = [there[place] for place in chosen(len(there), sequences)]
        data_found += records(seeds, scores, taken, name, mode)
        if not json or out is not None:
            written += list(_tables(seeds, scores, taken, name, mode, reference, quiet=json))
    if json:
        print_json(data_found)
    if out is not None:
        out.write_text("\n".join(written), encoding="utf-8")
        say(f"Tables: {out}")


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
            say(f"{suite}: {done} of {of} sequences")

    return show


def _tables(
    seeds: Seeds,
    scores: Scores,
    sequences: Many[Sequence],
    suite: str,
    mode: str,
    reference: str,
    *,
    quiet: bool,
) -> Iterator[str]:
    """Print a table a condition, and yield it as Markdown."""
    places = sorted(range(len(sequences)), key=lambda place: _order(sequences, sequences[place].condition))
    for condition, group in groupby(places, key=lambda place: sequences[place].condition):
        members = list(group)
        of = {label: [found[place] for place in members] for label, found in scores.items()}
        part = [sequences[place] for place in members]
        title = f"{suite}{', ' + condition if condition else ''}, mode {mode}: {len(part)} sequences"
        rows = [row(each) for each in standings(of, part, reference=reference)]
        notes = [sentence_of(each, reference) for each in _together(seeds, of, reference)]
        notes.append(LEGEND.format(reference=reference, drawn=_drawn(part)))
        if not quiet:
            print_table(title, HEADINGS, rows)
            for note in notes:
                typer.echo(note + "\n")
        yield markdown(title, rows, notes)


def _order(sequences: Many[Sequence], condition: str) -> int:
    return next(place for place, sequence in enumerate(sequences) if sequence.condition == condition)


def _drawn(sequences: Many[Sequence]) -> str:
    sources = len({sequence.source for sequence in sequences})
    if sources > 1:
        return f"Student's, over the means of {sources} workloads"
    if len(sequences) < FEWEST:
        return f"Student's, over {len(sequences)} sequences as if they were independent"
    return "bootstrap of blocks of neighbouring sequences"


def _together(seeds: Seeds, scores: Scores, reference: str) -> Iterator[OverSeeds]:
    """Yield each policy of which several training seeds were tested; of one seed the first contender counts."""
    import numpy as np

    by_name: dict[str, dict[int, str]] = {}
    for contender, seed in seeds.items():
        if seed is not None:
            by_name.setdefault(contender.name, {}).setdefault(seed, contender.label)
    for name, labels in by_name.items():
        if len(labels) > 1:
            costs = np.array([costs_of(scores, label, "mean_bounded_slowdown") for label in labels.values()])
            yield over_seeds(name, costs, costs_of(scores, reference, "mean_bounded_slowdown"))
