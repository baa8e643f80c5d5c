"""Users above a policy on any machine: mixed requests, caps, nodes that are switched off, and erratic advice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsim.advisor import Advisor
from hpcsim.cluster import Cluster
from hpcsim.job import Job
from hpcsim.results.run import simulate
from hpcsim.speedup import Amdahl
from hpcsim.testing import PolicySpec, SimulationMachine, verify
from hpcsim.workload import Workload
from tests.moldable.advisors import Erratic
from tests.nodes.test_any_machine import machines, mixed_workloads, tuples_of

LAW = Amdahl(0.2)
COUNTS = st.sampled_from([(), (1, 2, 3, 4, 5), (1, 2, 4), (3,), (2, 9)])


@st.composite
def moldable_workloads(draw: Any, *, max_jobs: int = 12) -> Workload:
    """Draw jobs with all kinds of requests that share no nodes, many of which are moldable."""
    drawn = draw(mixed_workloads(shares=False, max_jobs=max_jobs))
    counts = draw(st.lists(COUNTS, min_size=len(drawn), max_size=len(drawn)))
    return Workload(drawn.columns | {"allowed_nodes": tuples_of(counts)})


def erratic() -> st.SearchStrategy[Advisor]:
    """Draw advisors that answer with counts, nonsense and errors."""
    answers = st.lists(st.sampled_from([None, 1, 2, 3, 4, 9, 0, -1, 2.5, "raise"]), min_size=1, max_size=6)
    return answers.map(lambda drawn: Erratic(answers=tuple(drawn)))


@st.composite
def any_jobs(draw: Any) -> Job:
    """Draw a job to submit on the way."""
    return Job(
        *(0, 1, 0, draw(st.integers(1, 5)), draw(st.integers(1, 12))),
        cores_per_node=draw(st.integers(1, 4)),
        gpus_per_node=draw(st.sampled_from([0, 0, 1, 2])),
        partitions=draw(st.sampled_from([(), ("cpu",), ("cpu", "all")])),
        power_w=draw(st.sampled_from([None, 300.0, 700.0])),
        allowed_nodes=draw(COUNTS),
    )


class AdvisedUsers(SimulationMachine):
    """Users whose jobs are advised when they come and, now and then, while they wait."""

    scaling = LAW

    def any_cluster(self) -> st.SearchStrategy[Cluster]:
        return machines()

    def any_workload(self) -> st.SearchStrategy[Workload]:
        return moldable_workloads(max_jobs=8)

    def any_job(self) -> st.SearchStrategy[Job]:
        return any_jobs()

    def any_advisor(self) -> st.SearchStrategy[Advisor | None]:
        return erratic() | st.none()


def case_of(policy: Any, examples: int) -> Any:
    case = type("Users", (AdvisedUsers,), {"policy": policy}).TestCase
    case.settings = settings(max_examples=examples, stateful_step_count=12, deadline=None)
    return case


TestUnderEASY = case_of("easy", 100)
TestUnderConservative = case_of(PolicySpec("conservative", {"compress": "any"}), 30)


@pytest.mark.nightly
class TestAtLength(case_of("easy", 5000)):  # type: ignore[misc]
    """The same, 5,000 times."""


@pytest.mark.nightly
class TestConservativeAtLength(case_of(PolicySpec("conservative"), 5000)):  # type: ignore[misc]
    """The same, 5,000 times."""


@settings(max_examples=60)
@given(moldable_workloads(), machines(), st.sampled_from(["easy", "conservative", "sjf"]), erratic())
def test_no_job_node_or_joule_is_lost_under_any_advice(
    workload: Workload, cluster: Cluster, policy: str, advisor: Advisor
) -> None:
    """The checker watches nodes, `finish` energy, `verify` the rest."""
    result = simulate(workload, cluster, policy, advisor=advisor, scaling=LAW, check=True)
    verify(result, workload, cluster, scaling=LAW)
    assert result.jobs["state"].isin(["COMPLETED", "TIMEOUT", "REJECTED"]).all()
    assert result.summary()["advice_kept_error"] == (result.jobs["advice"] == "kept-error").sum()
