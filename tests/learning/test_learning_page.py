"""docs/learning.md: its tables are the code's, its examples run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hpcsim.cluster import Cluster
from hpcsim.policies.learning.features import GLOBAL_FEATURES, JOB_FEATURES, NODE_FEATURES
from hpcsim.policies.learning.observation import HEURISTIC_PRIORS, Observation
from hpcsim.results.run import simulate
from tests.learning.test_observation import some_jobs

pytest.importorskip("gymnasium")


def page(root: Path) -> str:
    return (root / "docs" / "learning.md").read_text(encoding="utf-8")


def test_every_feature_stands_in_the_page(root: Path) -> None:
    rows = [f"| `{name}` | {meaning} |" for name, meaning in (*JOB_FEATURES, *NODE_FEATURES, *GLOBAL_FEATURES)]
    assert not [row for row in rows if row not in page(root)]


def test_every_objective_stands_in_the_page(root: Path) -> None:
    from hpcsim.policies.learning.objectives import OBJECTIVES

    assert not [name for name in OBJECTIVES if f"| `{name}` |" not in page(root)]


def test_examples_run(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On jobs at hand in place of a log; the page's policy, given SAF's scores for a network, is SAF."""
    blocks = re.findall(r"```python\n(.*?)```", page(root), flags=re.DOTALL)
    workload, cluster = some_jobs(400), Cluster.of_processors(16)
    names: dict[str, Any] = {"workload": workload, "another": some_jobs(400, seed=1), "cluster": cluster}
    played = [block for block in blocks if "sb3_contrib" not in block]
    assert len(played) == len(blocks) - 1 == 4
    for block in played:
        text = block.replace('read("KTH-SP2-1996-2.1-cln.swf.gz")', "workload")
        exec(text.replace("of_processors(100)", "of_processors(16)").replace("pool=64", "pool=2"), names)
    assert len(capsys.readouterr().out.splitlines()) == 5
    names["my_network"] = lambda jobs, nodes, figures, mask: int(
        np.where(mask, HEURISTIC_PRIORS["saf"](Observation(jobs, nodes, figures, mask)), -np.inf).argmax()
    )
    from hpcsim.policies import SAF
    from hpcsim.policies.learning.heads import OrderedHeads

    theirs = simulate(workload, cluster, OrderedHeads(order=SAF()))
    assert simulate(workload, cluster, names["Mine"]()).jobs.equals(theirs.jobs)
