"""Run one workload under three policies and compare what its users would have seen."""

from __future__ import annotations

from hpcsim import Cluster, make_policy, registry, simulate


def main() -> None:
    """Print one line a policy."""
    cluster = Cluster.of_nodes(64)
    workload = registry.make("models", "poisson", jobs=2_000, nodes=cluster.nodes, load=0.85, seed=1)

    print(f"{len(workload)} generated jobs on {cluster.nodes} nodes")
    print(f"{'policy':<14}{'mean wait, s':>14}{'mean bounded slowdown':>24}{'utilisation':>13}")
    for name in ("fcfs", "easy", "conservative"):
        summary = simulate(workload, cluster, make_policy(name), seed=1).summary()
        print(
            f"{name:<14}{summary['mean_wait_s']:>14,.0f}"
            f"{summary['mean_bounded_slowdown']:>24.1f}{summary['utilisation']:>13.1%}"
        )


if __name__ == "__main__":
    main()
