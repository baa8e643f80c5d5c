"""Property-test a policy, and the simulator's invariants: does it keep the rules, and what breaks it?

Needs Hypothesis: ``pip install 'hpcsim-des[testing]'``. In a project of your own the lower half
is a test module for pytest, with one line more::

    @parametrize_policy_checks([FirstFit(depth=3)])
    def test_my_policy(policy, check):
        check(policy)
"""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis.stateful import run_state_machine_as_test

from hpcsim import Cluster, Decision, Policy, Start, System, Workload, simulate
from hpcsim.testing import SimulationMachine, check_policy, scenarios, verify


class FirstFit(Policy):
    """Start whatever fits among the first *depth* waiting jobs."""

    depth: int = 100

    guarantees = ("fcfs-order",)  # which is wrong: whoever fits overtakes

    def schedule(self, system: System) -> Iterator[Decision]:
        """Go through the queue in order of arrival."""
        for job in system.queue[: self.depth]:
            if system.fits(job):
                yield Start(job)


@settings(max_examples=50, deadline=None, database=None)
@given(scenarios())
def no_node_idles_while_somebody_fits(scenario: tuple[Workload, Cluster]) -> None:
    """A property of one's own: a job that fits at its arrival starts at its arrival."""
    workload, cluster = scenario
    result = simulate(workload, cluster, FirstFit())
    verify(result, workload, cluster)
    waited = result.jobs[result.jobs["wait_s"] > 0]
    at = result.timeline["time_s"].searchsorted(waited["submit_s"], side="right") - 1
    free = cluster.nodes - result.timeline["used_nodes"].to_numpy()[at]
    assert (waited["nodes"].to_numpy() > free).all()


class Users(SimulationMachine):
    """Users who submit, cancel and let time pass, in any order."""

    policy = FirstFit(depth=3)


def main() -> None:
    """Print the verdict on a policy that claims too much, then what holds of it."""
    print(check_policy(FirstFit(depth=3), on_fail="return"), end="\n\n")

    no_node_idles_while_somebody_fits()
    print("In 50 drawn workloads no job waited that fitted when it came, and every result was verified.")

    sessions = settings(max_examples=20, stateful_step_count=20, deadline=None, database=None)
    run_state_machine_as_test(Users, settings=sessions)
    print("In 20 sessions of users who submit and cancel, every job ended in one state and no node was lost.")


if __name__ == "__main__":
    main()
