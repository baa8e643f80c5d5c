"""Reading as RLScheduler reads."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hpcsim.errors import WorkloadError
from hpcsim.workload import Workload

ROWS = """; MaxProcs: 16
1 5 -1 100 4 -1 -1 2 200 -1 1 1 1 1 1 -1 -1 -1
2 6 -1 -1 4 -1 -1 8 200 -1 5 1 1 1 1 -1 -1 -1
3 7 -1 0 4 -1 -1 4 200 -1 1 1 1 1 1 -1 -1 -1
4 9 -1 50 3 -1 -1 -1 -1 -1 1 1 1 1 1 -1 -1 -1
"""


def test_rlscheduler_keeps_what_never_ran_and_drops_what_ran_for_no_time(read_text: Callable[..., Workload]) -> None:
    workload = read_text(ROWS, profile="rlscheduler")
    assert workload.job_id.tolist() == [1, 2, 4]
    assert workload.submit_s.tolist() == [5, 6, 9]
    assert workload.run_s.tolist() == [100, 10, 50]
    assert workload.nodes.tolist() == [4, 8, 3]
    assert workload.limit_s.tolist() == [200, 200, 50]
    assert workload.provenance["options"]["profile"] == "rlscheduler"


def test_the_ledger_counts_what_the_profile_did(read_text: Callable[..., Workload]) -> None:
    ledger = read_text(ROWS, profile="rlscheduler").ledger
    rules = {rule.rule: (rule.effect, rule.rows, rule.examples[0].line) for rule in ledger.rules}
    assert rules["run-time-zero-dropped"] == ("refused", 1, 4)
    assert rules["negative-run-time-replaced"] == ("changed", 1, 3)
    assert rules["processors-larger-of-both"] == ("changed", 2, 2)
    assert "run-time-zero" not in rules
    assert (ledger.rows, ledger.refused) == (4, 1)


def test_the_archives_rules_are_the_default(read_text: Callable[..., Workload]) -> None:
    workload = read_text(ROWS)
    assert workload.job_id.tolist() == [1, 3, 4]
    assert workload.nodes.tolist() == [2, 4, 3]
    assert "profile" not in workload.provenance["options"]


def test_unknown_profiles_are_refused(read_text: Callable[..., Workload]) -> None:
    with pytest.raises(WorkloadError, match="Did you mean 'rlscheduler'"):
        read_text(ROWS, profile="rlschedular")
