"""Intelligent sample acquisition: keep the rows that a light model finds hard, at exactly the rate asked for.

Source of the idea: A. N. Ahmed, B. Banday, T. Jones and T. Z. Islam, Attention-informed surrogates for
navigating power-performance trade-offs in HPC, arXiv 2601.15399 (2026). Departures: difficulties are measured
out of fold, the rate is solved for instead of tuned, and the draw of a row depends on the seed and its id alone.

Label noise looks like difficulty: leave out killed and failed jobs first, as `outcomes_table` does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument, closest
from hpcsim.surrogates.difficulty import difficulty
from hpcsim.surrogates.features.columns import FEATURES, OUTCOME_COLUMNS
from hpcsim.surrogates.features.matrix import Matrix

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

RATE_ERROR = 1e-6
STEPS = 100
TRIM = 0.99
"""The variant ``trimmed`` cuts difficulties at this quantile: beyond it lie corrupted rows."""

VARIANTS = ("difficulty", "weighted", "trimmed", "uniform")
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Probabilities:
    """With which probability each row is kept.

    Attributes:
        values: shape [rows], from the floor to 1.
        multiplier: what difficulties were multiplied by; 0 at the floor, ``inf`` where all but easy rows are kept.
        is_reachable: whether their mean is the rate asked for.
    """

    values: Floats
    multiplier: float
    is_reachable: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What a sampler made of a table.

    Attributes:
        keep: shape [rows], which are kept.
        probability: shape [rows], with which probability.
        weight: shape [rows], what training should give the row: 1 / probability, or 1.
        asked_rate, expected_rate, realised_rate: share of rows wanted, mean probability, share kept.
        is_reachable: whether a sampler of this floor can reach the rate at all.
    """

    keep: NDArray[np.bool_]
    probability: Floats
    weight: Floats
    asked_rate: float
    expected_rate: float
    realised_rate: float
    is_reachable: bool

    def __str__(self) -> str:
        kept, rows = int(self.keep.sum()), len(self.keep)
        text = f"kept {kept:,} of {rows:,} rows: {100 * self.realised_rate:.2f} %"
        text += (
            f"; their chances have the mean {100 * self.expected_rate:.4f} %, asked for {100 * self.asked_rate:.4f} %"
        )
        return text if self.is_reachable else f"{text}, which cannot be reached: the other rows have no difficulty"


@dataclass(frozen=True, slots=True)
class Sampler:
    """Chooses rows to train on.

    Args:
        variant: ``difficulty`` (hard rows more often, as in the paper), ``weighted`` (the same, and weights 1/p
            that undo the shift), ``trimmed`` (weighted, difficulties cut at their 99th percentile, floor of half the
            rate) or ``uniform``.
        rate: share of rows to keep, above 0 up to 1.
        floor: least probability of a row, from 0 to *rate*; None: 0, and half of *rate* for ``trimmed``.
        seed: of the draws.
    """

    variant: str = "difficulty"
    rate: float = 0.5
    floor: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise InvalidArgument(
                f"There is no way of sampling called '{self.variant}'.{closest(self.variant, VARIANTS)}",
                f"Known: {', '.join(VARIANTS)}.",
            )
        _check_rate(self.rate, self.least)
        if not 0 <= self.seed < 2**64:
            raise InvalidArgument(f"The seed of a sample is {self.seed}.", "Give a whole number from 0, below 2^64.")

    @property
    def least(self) -> float:
        """The least probability of a row."""
        if self.floor is not None:
            return self.floor
        return 0.5 * self.rate if self.variant == "trimmed" else 0.0

    def sample(self, outcomes: pd.DataFrame | Matrix) -> Sample:
        """Return which rows of *outcomes*, a table of `outcomes_table`, to keep; a row's id is its ``row``.

        Raises:
            MissingExtra: LightGBM, which measures difficulties, is not installed; ``uniform`` does without.
        """
        rows = outcomes if isinstance(outcomes, Matrix) else Matrix.of(outcomes, OUTCOME_COLUMNS, "outcomes")
        ids = rows["row"].astype(np.int64)
        if self.variant == "uniform" or self.rate == 1 or not len(ids):
            chosen = Probabilities(np.full(len(ids), float(self.rate)), math.nan)
        else:
            hard = difficulty(rows.take(FEATURES), _targets(rows), row_ids=ids)
            hard = np.minimum(hard, np.quantile(hard, TRIM)) if self.variant == "trimmed" else hard
            chosen = probabilities(hard, self.rate, floor=self.least)
        keep = drawn(chosen.values, ids, self.seed)
        weight = 1.0 / chosen.values if self.variant in {"weighted", "trimmed"} else np.ones(len(ids))
        expected, realised = (float(part.mean()) if len(ids) else math.nan for part in (chosen.values, keep))
        return Sample(keep, chosen.values, weight, self.rate, expected, realised, chosen.is_reachable)


def sampler_of(what: Sampler | str | None, seed: int = 0) -> Sampler | None:
    """Return a sampler from itself or from text such as ``difficulty:rate=0.5`` (keys rate, floor); None is none.

    Raises:
        InvalidArgument: the text cannot be read.
    """
    if what is None or isinstance(what, Sampler):
        return what
    variant, _, rest = what.partition(":")
    settings: dict[str, float] = {}
    for setting in filter(None, rest.split(",")):
        key, _, value = setting.partition("=")
        if key not in {"rate", "floor"} or not _is_number(value):
            raise InvalidArgument(f"'{setting}' is no setting of a sampler.", "Write difficulty:rate=0.5,floor=0.1.")
        settings[key] = float(value)
    return Sampler(variant, seed=seed, **settings)


def probabilities(hard: Floats, rate: float, *, floor: float = 0.0) -> Probabilities:
    """Return p = clip(a L, *floor*, 1) of the difficulties L = *hard* [rows] with a solved so that mean p is *rate*.

    The mean differs from *rate* by at most 1e-6 wherever that rate can be reached: rows without difficulty never
    get more than the floor. No difficulty anywhere means the same probability everywhere, and a rate of 1 all rows.

    Raises:
        InvalidArgument: the rate is not in (0, 1], the floor not in [0, rate], or a difficulty negative or no number.
    """
    _check_rate(rate, floor)
    hard = np.asarray(hard, dtype=np.float64)
    if not np.all(np.isfinite(hard) & (hard >= 0)):
        raise InvalidArgument("A difficulty is negative or no number.", "Give one number from 0 up for each row.")
    if rate == 1 or not np.any(hard > 0):
        return Probabilities(np.full(len(hard), float(rate)), math.nan)
    if rate <= floor:
        return Probabilities(np.full(len(hard), float(floor)), 0.0)
    most = np.where(hard > 0, 1.0, floor)
    if rate >= most.mean():
        return Probabilities(most, math.inf, is_reachable=bool(abs(most.mean() - rate) <= RATE_ERROR))
    low, high = math.log(rate / hard.max()), -math.log(hard[hard > 0].min())
    for _ in range(STEPS):
        middle = (low + high) / 2
        values = _clipped(hard, middle, floor)
        error = values.mean() - rate
        if abs(error) <= RATE_ERROR / 10:
            break
        low, high = (low, middle) if error > 0 else (middle, high)
    return Probabilities(values, math.exp(middle))


def _clipped(hard: Floats, log_multiplier: float, floor: float) -> Floats:
    with np.errstate(divide="ignore"):
        scaled = np.exp(np.minimum(np.log(hard) + log_multiplier, 0.0))
    return np.maximum(scaled, floor)


def drawn(probability: Floats, row_ids: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
    """Return for each row whether it is drawn with its *probability*: by a stream keyed by seed and row id.

    Rows may come in any order, and be joined by others, without a change.
    """
    return np.asarray(uniforms(row_ids, seed) < probability)


def uniforms(row_ids: NDArray[np.int64], seed: int) -> Floats:
    """Return one number in [0, 1) for each (seed, row id): SplitMix64 (Steele, Lea, Flood 2014) as a counter."""
    with np.errstate(over="ignore"):
        key = _mixed(np.array([seed], dtype=np.uint64) + GOLDEN)
        bits = _mixed(_mixed(key + GOLDEN * (np.asarray(row_ids).astype(np.uint64) + np.uint64(1))))
    return np.asarray((bits >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def _targets(rows: Matrix) -> dict[str, tuple[Floats, str]]:
    """Return run times, and powers where any was measured: NaN elsewhere, as everywhere for what is not above 0."""
    values = {name: np.where(rows[name] > 0, rows[name], np.nan) for name in ("run_s", "power_w")}
    return {name: (column, "regression") for name, column in values.items() if np.isfinite(column).any()}


def _check_rate(rate: float, floor: float) -> None:
    if not 0 < rate <= 1:
        raise InvalidArgument(f"The rate of a sample is {rate}.", "Give a share above 0, up to 1.")
    if not 0 <= floor <= rate:
        raise InvalidArgument(
            f"The floor {floor} of a sample is not between 0 and its rate {rate}: the rate could not be met.",
            "Lower the floor or raise the rate.",
        )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
