"""Write an order and a policy of your own, and run them beside the built-in ones.

A policy is a generator of decisions. An order is a sort key: it is a policy by itself, and can lead
a backfilling one. From the command line they need no packaging either::

    hpcsim run my.swf --policy 02_write_a_policy.py:FirstFit --set depth=10
"""

from __future__ import annotations

from collections.abc import Iterator

from hpcsim import Cluster, Decision, Job, Order, Policy, Start, System, make_policy, registry, simulate


class WidestFirst(Order):
    """Jobs that ask for more nodes come first."""

    def key(self, job: Job, system: System) -> int:
        """Return the nodes that the job asks for, negated: the smallest key leads."""
        return -job.nodes


class FirstFit(Policy):
    """Start whatever fits among the first *depth* waiting jobs; promise nothing to anybody."""

    depth: int = 100

    def schedule(self, system: System) -> Iterator[Decision]:
        """Go through the queue in order of arrival."""
        for job in system.queue[: self.depth]:
            if system.fits(job):
                yield Start(job)


def main() -> None:
    """Print one line a policy."""
    cluster = Cluster.of_nodes(64)
    workload = registry.make("models", "poisson", jobs=2_000, nodes=cluster.nodes, load=0.85, seed=1)
    policies = {
        "easy": make_policy("easy"),
        "widest first": WidestFirst(),
        "widest first, backfilled": make_policy("backfill", order=WidestFirst()),
        "first fit": FirstFit(),
        "first fit among 10": FirstFit(depth=10),
    }

    print(f"{'policy':<30}{'mean wait, s':>14}{'longest wait, s':>17}")
    for name, policy in policies.items():
        summary = simulate(workload, cluster, policy, seed=1).summary()
        print(f"{name:<30}{summary['mean_wait_s']:>14,.0f}{summary['max_wait_s']:>17,.0f}")


if __name__ == "__main__":
    main()
