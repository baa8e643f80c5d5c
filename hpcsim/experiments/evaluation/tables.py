"""An evaluation as tables of text: standing, profile with starvation and speed, conditions, published figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Many
from typing import NamedTuple

import numpy as np

from hpcsim.experiments.evaluation.outcome import Outcome
from hpcsim.experiments.evaluation.published import SOURCE, published_on
from hpcsim.experiments.evaluation.sequences import Tested
from hpcsim.experiments.evaluation.standing import (
    COSTS,
    PROFILE,
    OverSeeds,
    Standing,
    costs_of,
    over_seeds,
    seeds_of,
    standings,
)
from hpcsim.results.markdown_table import markdown_table
from hpcsim.results.quantities import duration, number
from hpcsim.results.statistics import Interval
from hpcsim.results.statistics.windows import FEWEST

STARVED_BY = "easy"
"""Whose longest wait others are held against."""

STANDING = ("policy", "slowdown", "ratio", "95 %", "won", "mean wait", "longest", "util.")
PROFILED = ("policy", *(f"≤ {limit:g}" for limit in PROFILE), f"longest / {STARVED_BY}'s", "decision", "99 %", "CPU")
REFERENCES = ("published", "slowdown", "util.")

_STANDING_NOTE = (
    "slowdown: mean bounded slowdown; ratio: geometric mean over sequences of the slowdown over {reference}'s, below "
    "1 is better; won: share of sequences with a lower one. Intervals: {drawn}."
)
_PROFILE_NOTES = {
    PROFILED[1]: "≤: share of sequences whose ratio is at most that",
    f"longest / {STARVED_BY}'s": f"longest / {STARVED_BY}'s: longest wait over that of {STARVED_BY}",
    "decision": "decision: the policy's CPU time a job, µs",
    "99 %": "99 %: of its times to answer in a pass, µs",
    "CPU": "CPU: of the whole simulation a job, µs",
}
"""What columns of the profile mean, by heading; those of empty columns are left out with them."""
_REFERENCE_NOTE = (
    f"Source: {SOURCE}. Their wfp3 and unicep count waits as negative; the rows above are by the true wait."
)


class Table(NamedTuple):
    """Cells as text; the first column names the row. *note* says what the columns are."""

    title: str
    headings: tuple[str, ...]
    rows: Many[tuple[str, ...]]
    note: str = ""


class Section(NamedTuple):
    """What there is to say on one suite, or on one condition of it.

    Attributes:
        title: which.
        tables: to be shown, the most important first.
        notes: sentences.
        standings: of the contenders; empty where several conditions are taken together.
        outcome: what it was made from.
    """

    title: str
    tables: Many[Table]
    notes: Many[str]
    standings: Many[Standing]
    outcome: Outcome


def sections_of(outcome: Outcome, reference: str, *, is_brief: bool = False) -> Iterator[Section]:
    """Yield the sections on a suite: over all conditions where there are several, then one a condition.

    *is_brief* leaves out profile, starvation and speed, and single conditions where there are several.

    Raises:
        InvalidArgument: the reference was not tested.
    """
    conditions = outcome.conditions()
    if len(conditions) > 1:
        title = f"{outcome.suite}, mode {outcome.mode}: {len(outcome.sequences)} sequences"
        yield Section(title, list(_by_condition(outcome, reference)), [], [], outcome)
        if is_brief:
            return
    for condition in conditions:
        yield _section(outcome.under(condition), condition, reference, is_brief=is_brief)


def _section(part: Outcome, condition: str, reference: str, *, is_brief: bool) -> Section:
    where = f"{part.suite}{', ' + condition if condition else ''}, mode {part.mode}"
    found = standings(part.scores, part.sequences, reference=reference)
    note = _STANDING_NOTE.format(reference=reference, drawn=drawn(part.sequences))
    tables = [Table("Standing", STANDING, [_standing_row(each) for each in found], note)]
    if not is_brief:
        tables.append(
            _without_empty(Table("Profile, starvation, speed", PROFILED, _profile_rows(found)), _PROFILE_NOTES)
        )
    if published := published_on(part.suite, part.mode):
        rows = [(each.policy, f"{each.mean_bounded_slowdown:.2f}", f"{each.utilisation:.1%}") for each in published]
        tables.append(Table("Published figures", REFERENCES, rows, _REFERENCE_NOTE))
    notes = [sentence_of(each, reference) for each in together(part, reference)]
    if part.noise is not None:
        notes.append(part.noise.sentence())
    return Section(f"{where}: {len(part.sequences)} sequences", tables, notes, found, part)


def _standing_row(standing: Standing) -> tuple[str, ...]:
    return (
        standing.label,
        number(standing.mean),
        f"{standing.ratio.estimate:.3f}",
        _ends(standing.ratio),
        f"{standing.won:.0%}",
        duration(standing.mean_wait_s),
        duration(standing.max_wait_s),
        f"{standing.utilisation:.0%}",
    )


def _profile_rows(found: Many[Standing]) -> list[tuple[str, ...]]:
    longest_s = next((each.max_wait_s for each in found if each.label == STARVED_BY), 0.0)
    return [
        (
            each.label,
            *(f"{share:.0%}" for share in each.profile.values()),
            f"{each.max_wait_s / longest_s:.2f}" if longest_s else "",
            *(_whole(value) for value in (each.decision_us, each.decision_p99_us, each.cpu_us)),
        )
        for each in found
    ]


def _shortened(conditions: Many[str]) -> tuple[str, list[str]]:
    """Return the word that all conditions begin with, and what follows it: a table has little room."""
    words = [condition.partition(" ") for condition in conditions]
    if len({first for first, *_ in words}) > 1 or not all(rest for *_, rest in words):
        return "condition", list(conditions)
    return words[0][0], [rest for *_, rest in words]


def _without_empty(table: Table, meanings: Mapping[str, str]) -> Table:
    """Leave out columns in which nobody has a value, as of records without times of decisions.

    The note gives the *meanings* of the headings that are left.
    """
    kept = [at for at in range(len(table.headings)) if any(row[at] for row in table.rows)]
    rows = [tuple(row[at] for at in kept) for row in table.rows]
    headings = tuple(table.headings[at] for at in kept)
    note = "; ".join(meanings[heading] for heading in headings if heading in meanings)
    return table._replace(headings=headings, rows=rows, note=f"{note}.")


def _by_condition(outcome: Outcome, reference: str) -> Iterator[Table]:
    """Yield the ratio and the starvation of everybody under each condition."""
    parts = [outcome.under(condition) for condition in outcome.conditions()]
    what, names = _shortened(outcome.conditions())
    headings = ("policy", *names)
    found = [standings(part.scores, part.sequences, reference=reference) for part in parts]
    ratios = [
        (label, *(f"{column[at].ratio.estimate:.2f}" for column in found)) for at, label in enumerate(outcome.scores)
    ]
    note = f"Geometric mean of the slowdown over {reference}'s, by {what}."
    yield Table(f"Ratio to {reference}, by {what}", headings, ratios, note)
    ends = [(label, *(_ends(column[at].ratio, 2) for column in found)) for at, label in enumerate(outcome.scores)]
    note = f"Intervals: {drawn(parts[0].sequences)}."
    yield Table("95 % interval of the ratio", headings, ends, note)
    slowdowns = [(label, *(number(column[at].mean) for column in found)) for at, label in enumerate(outcome.scores)]
    yield Table("Mean bounded slowdown", headings, slowdowns)
    if STARVED_BY in outcome.scores:
        longest = [{each.label: each.max_wait_s for each in column} for column in found]
        waits = [
            (label, *(f"{each[label] / each[STARVED_BY]:.2f}" if each[STARVED_BY] else "" for each in longest))
            for label in outcome.scores
        ]
        yield Table(f"Longest wait over {STARVED_BY}'s", headings, waits)


def together(outcome: Outcome, reference: str) -> Iterator[OverSeeds]:
    """Yield each policy of which several training seeds were tested."""
    base = costs_of(outcome.scores, reference, COSTS[0])
    for name, labels in seeds_of(outcome.who).items():
        yield over_seeds(name, np.array([costs_of(outcome.scores, label, COSTS[0]) for label in labels]), base)


def sentence_of(seeds: OverSeeds, reference: str) -> str:
    """Return what several training seeds together are worth, in words."""
    profile = ", ".join(f"{share:.0%} at {limit:g}" for limit, share in seeds.profile.items())
    return (
        f"{seeds.label}, {seeds.seeds} training seeds: interquartile mean of the ratio to {reference} "
        f"{seeds.ratio:.3f} ({seeds.low:.3f} to {seeds.high:.3f}); better with probability "
        f"{seeds.improvement:.2f} ({seeds.improvement_low:.2f} to {seeds.improvement_high:.2f}); "
        f"share of runs with a ratio of at most: {profile}."
    )


def drawn(sequences: Many[Tested]) -> str:
    """Return how intervals over *sequences* come about, in words."""
    sources = len({sequence.source for sequence in sequences})
    if sources > 1:
        return f"Student's, over the means of {sources} workloads"
    if len(sequences) == 1:
        return "none, of a single sequence"
    if len(sequences) < FEWEST:
        return f"Student's, over {len(sequences)} sequences as if they were independent"
    return "bootstrap of blocks of neighbouring sequences"


def markdown(section: Section) -> str:
    """Return a section as Markdown."""
    lines = [f"### {section.title}", ""]
    for table in section.tables:
        lines += [
            f"**{table.title}**",
            "",
            markdown_table(table.headings, table.rows),
            "",
            *([table.note, ""] if table.note else []),
        ]
    return "\n".join([*lines, *(f"{note}\n" for note in section.notes)])


def _ends(interval: Interval, digits: int = 3) -> str:
    return "" if math.isnan(interval.low) else f"{interval.low:.{digits}f}-{interval.high:.{digits}f}"


def _whole(value: float) -> str:
    return "" if math.isnan(value) else f"{value:,.0f}"
