"""A policy as plain data and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hpcsim import Policy
from hpcsim.errors import HpcsimError
from hpcsim.policies import LJF, SJF, Backfill
from hpcsim.testing import PolicySpec
from hpcsim.testing.specification import locate
from tests.testing.broken_policies import Sound


class Parameterised(Sound):
    value: Any = None


def key(job: Any) -> float:
    return float(job.nodes)


def there_and_back(spec: PolicySpec) -> PolicySpec:
    return PolicySpec.from_plain(json.loads(json.dumps(spec.to_plain())))


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 2.5, float("inf"), "text", [1, [2]], (1, (2, "x")), {"a": (1,)}, Path("some/file"), SJF, key],
    ids=lambda value: getattr(value, "__name__", repr(value)),
)
def test_parameters_survive(value: Any) -> None:
    spec = PolicySpec.of(Parameterised(value=value))
    assert there_and_back(spec) == spec
    assert there_and_back(spec).make().value == value  # type: ignore[attr-defined]


def test_numpy_numbers_become_plain() -> None:
    assert there_and_back(PolicySpec("x", {"value": np.int64(3)})).parameters == {"value": 3}


def test_plug_ins_within_a_policy_are_made_anew() -> None:
    policy = Backfill(order=SJF(), backfill_order=LJF(), reservations="all")
    again = there_and_back(PolicySpec.of(policy)).make()
    assert repr(again) == repr(policy)
    assert again.order is not policy.order  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", [lambda job: 0, object(), {1: 2}], ids=["lambda", "object", "keys"])
def test_what_has_no_name_is_refused(value: Any) -> None:
    with pytest.raises(HpcsimError, match=r"defined inside|cannot be written down"):
        PolicySpec.of(Parameterised(value=value)).to_plain()


def test_module_that_can_be_imported_is_preferred_to_its_file(tmp_path: Path) -> None:
    assert locate(SJF) == "hpcsim.policies.orders:SJF"
    path = tmp_path / "mine.py"
    path.write_text("from hpcsim.policies import FCFS\nclass Mine(FCFS):\n    pass\n")
    mine = type(PolicySpec(f"{path}:Mine").make())
    assert locate(mine) == f"{path.resolve()}:Mine"


def test_class_made_at_a_prompt_is_refused() -> None:
    made = type("Made", (Policy,), {"schedule": lambda self, system: (), "__module__": "nowhere"})
    with pytest.raises(HpcsimError, match="Made is defined in no file"):
        locate(made)
