"""docs/workload-models.md says what the code does: every name, every parameter, every frozen share."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from hpcsim import registry
from hpcsim.workloads.models import synth_presets

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "workload-models.md").read_text(encoding="utf-8")
CODE = set(re.findall(r"`([^`\n]+)`", PAGE))


def parameters(group: str, name: str) -> list[str]:
    known = inspect.signature(registry.find(group, name)).parameters
    return [parameter for parameter in known if parameter not in {"workload", "workloads"}]


@pytest.mark.parametrize("name", [name for name in registry.names("models") if name != "poisson"])
def test_every_model_and_its_parameters_are_listed(name):
    assert name in CODE
    assert not [parameter for parameter in parameters("models", name) if parameter not in CODE]


@pytest.mark.parametrize("name", [name for name in registry.names("transformations") if name != "merge"])
def test_every_transformation_and_its_parameters_are_listed(name):
    (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{name}`"))
    assert not [parameter for parameter in parameters("transformations", name) if f"`{parameter}`" not in row]


@pytest.mark.parametrize("preset", ["pm100-like", "habit-driven"])
def test_shares_of_counts_are_those_of_the_code(preset):
    listed = re.findall(r"(\d+): (\.\d+)", PAGE.partition(f"\n`{preset}` ")[2].partition("`")[0])
    shares = dict(synth_presets.PRESETS[preset].node_counts)
    assert {int(count): float(share) for count, share in listed} == shares
