"""Noise bands of an evaluation, read back from JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from hpcsim.errors import HpcsimError
from hpcsim.experiments.evaluation.contenders import Contender
from hpcsim.experiments.evaluation.noise import NoiseBand
from hpcsim.experiments.evaluation.outcome import SavedSequence, read_outcomes
from hpcsim.experiments.evaluation.records import records
from hpcsim.experiments.evaluation.runner import Score


def spoken(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as JSON has it, which knows no NaN."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"draws": [None]}, r"'draws' is \[None\], and should be a list of numbers"),
        ({"draws": []}, r"'draws' is \[\]"),
        ({"draws": 3}, "'draws' is 3"),
        ({"parameters": None}, "'parameters' is None, and should be a table"),
        ({"parameters": {}}, "lacks 'sigma'"),
        ({"parameters": {"sigma": "x"}}, "'sigma' is 'x', and should be a number of at least 0"),
    ],
)
def test_damaged_noise_bands_are_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    scores = [Score(2.0, 60.0, 600.0, 0.5, 1.0)]
    there = [SavedSequence("first", "log", "", 1)]
    band = NoiseBand(0.05, (1.0, 2.0), scores)
    written = list(records({Contender("saf", "saf"): None}, {"saf": scores}, there, "x", "none", band))
    *rest, noise = [{**each, "per_sequence": [spoken(one) for one in each["per_sequence"]]} for each in written]
    file = tmp_path / "file.json"
    file.write_text(json.dumps([*rest, noise]))
    (back,) = read_outcomes([file])
    assert back.noise is not None
    assert back.noise.means == (1.0, 2.0)
    file.write_text(json.dumps([*rest, noise | change]))
    with pytest.raises(HpcsimError, match=message):
        read_outcomes([file])
