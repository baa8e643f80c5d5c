"""What came of a suite: everybody's scores on its sequences, as they were measured or read back from JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hpcsim.errors import HpcsimError
from hpcsim.experiments.evaluation.noise import NoiseBand
from hpcsim.experiments.evaluation.runner import Score
from hpcsim.experiments.evaluation.saved import REMEDY, DamagedRecords, records_in
from hpcsim.experiments.evaluation.sequences import Tested
from hpcsim.experiments.evaluation.standing import Who


class SavedSequence(NamedTuple):
    """A sequence without its jobs; see `hpcsim.experiments.evaluation.sequences.Sequence`."""

    label: str
    source: str
    condition: str
    jobs: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """Scores on one suite in one mode.

    Attributes:
        suite, mode: which.
        sequences: what was tested on.
        scores: label -> a score a sequence.
        who: label -> who that is.
        noise: the noise band of the suite, where it was measured.
    """

    suite: str
    mode: str
    sequences: Many[Tested]
    scores: Mapping[str, Many[Score]]
    who: Mapping[str, Who]
    noise: NoiseBand | None = None

    def under(self, condition: str) -> Outcome:
        """Return the part under one condition."""
        places = [place for place, sequence in enumerate(self.sequences) if sequence.condition == condition]
        return Outcome(
            suite=self.suite,
            mode=self.mode,
            sequences=[self.sequences[place] for place in places],
            scores={label: [found[place] for place in places] for label, found in self.scores.items()},
            who=self.who,
            noise=self.noise,
        )

    def conditions(self) -> list[str]:
        """Return what was varied, in the order of the sequences."""
        return list(dict.fromkeys(sequence.condition for sequence in self.sequences))


def read_outcomes(files: Iterable[Path]) -> list[Outcome]:
    """Return what `hpcsim evaluate --json` wrote into *files*; records of one suite and mode are put together.

    Raises:
        HpcsimError: a file is missing or no such list, or records of one suite are on other sequences.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for file in files:
        for record in records_in(file):
            groups.setdefault((record["suite"], record["mode"]), []).append(record)
    try:
        return [_outcome(suite, mode, group) for (suite, mode), group in groups.items()]
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedRecords(f"A record of an evaluation is incomplete: {error}.", REMEDY) from error


def _outcome(suite: str, mode: str, records: Many[dict[str, Any]]) -> Outcome:
    sequences = _sequences(records[0])
    scores: dict[str, list[Score]] = {}
    who: dict[str, Who] = {}
    noise = None
    for record in records:
        label = record["label"]
        if _sequences(record) != sequences:
            raise HpcsimError(f"{label} was tested on other sequences of {suite} than the rest.", "Test all alike.")
        if "draws" in record:
            noise = NoiseBand(record["parameters"]["sigma"], tuple(record["draws"]), _scores(record))
            continue
        if label in scores:
            raise HpcsimError(f"Two records of {suite} are on '{label}'.", "Give each once.")
        scores[label] = _scores(record)
        who[label] = Who(record["policy"], record["training_seed"])
    return Outcome(suite, mode, sequences, scores, who, noise)


def _sequences(record: Mapping[str, Any]) -> list[SavedSequence]:
    return [
        SavedSequence(each["sequence"], each["source"], each["condition"], each["jobs"])
        for each in record["per_sequence"]
    ]


def _scores(record: Mapping[str, Any]) -> list[Score]:
    return [
        Score(
            **{
                name: float("nan") if each[name] is None else float(each[name])
                for name in Score._fields
                if name in each
            }
        )
        for each in record["per_sequence"]
    ]
