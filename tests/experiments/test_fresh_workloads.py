"""Generated workloads that networks are tested on: independent, and the same in every run."""

from __future__ import annotations

from typing import Any

import pytest

from hpcsim.experiments.evaluation import fresh
from hpcsim.workload import Workload


def test_fresh_workloads_are_independent_and_the_same_each_time() -> None:
    made = fresh.fresh(1)
    assert len({each.source for each in made}) == len(made) == fresh.WORKLOADS
    again = fresh.fresh(1)
    assert [each.workload.sha256() for each in made] == [each.workload.sha256() for each in again]
    others = fresh.fresh(1, fresh.CHOICE_SEED)
    assert len({each.workload.sha256() for each in [*made, *others]}) == 2 * len(made)


def test_each_fresh_workload_has_a_seed_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loads and mixes of one seed would still be other jobs, and yet no independent ones."""
    seeds: list[int] = []
    whole = fresh._lublin

    def noted(*, seed: int, **options: Any) -> Workload:
        seeds.append(seed)
        return whole(seed=seed, **options)

    monkeypatch.setattr(fresh, "_lublin", noted)
    fresh.fresh(1)
    fresh.fresh(1, fresh.CHOICE_SEED)
    assert len(seeds) == len(set(seeds)) == 2 * fresh.WORKLOADS
