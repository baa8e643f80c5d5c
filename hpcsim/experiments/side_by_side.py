"""Which policy is better here? One workload on one machine under several policies, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from hpcsim.cluster import Cluster
from hpcsim.policy import Policy
from hpcsim.recorder import Recorder
from hpcsim.results.result import Result
from hpcsim.results.run import simulate
from hpcsim.workload import Workload

Watch = Callable[[str, int], AbstractContextManager[Sequence[Recorder]]]
"""Called with a run's label and its number of jobs; the context gives the recorders of that run."""


def unwatched(_label: str, _jobs: int) -> AbstractContextManager[Sequence[Recorder]]:
    """Watch nothing."""
    return nullcontext(())


def run_policies(
    workload: Workload,
    cluster: Cluster,
    policies: Mapping[str, Policy],
    *,
    watch: Watch = unwatched,
    **options: Any,
) -> Iterator[tuple[str, Result]]:
    """Yield the label and the result of each policy as soon as its run has ended.

    Every run has the same workload, machine and *options*, which are those of
    `hpcsim.results.run.simulate`. An error ends the series; what was yielded before it stands.
    """
    for label, policy in policies.items():
        with watch(label, len(workload)) as recorders:
            result = simulate(workload, cluster, policy, recorders=recorders, **options)
        yield label, result
