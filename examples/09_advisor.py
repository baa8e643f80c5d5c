"""The node-count advisor in the loop: users' own choice, a learned advisor, and the Oracle, under FCFS and EASY."""

from __future__ import annotations

import numpy as np

from hpcsim import Cluster, NodeGroup, NodePower, Partition, registry, simulate

NODES = 64


def main() -> None:
    """Print turnaround and energy of each, relative to the users' own choice."""
    log = registry.make("models", "synth-pm100", jobs=1_200, nodes=NODES, load=0.95, preset="habit-driven", seed=2)
    order = log.arrival_order()
    before, jobs = log.select(np.sort(order[:900]), "before"), log.select(np.sort(order[900:]), "to run")
    machine = Cluster(
        groups=(NodeGroup(nodes=NODES, power=NodePower(idle_w=400, busy_w=1_700)),),
        partitions=(Partition(name="batch", groups=("nodes",), max_limit_s=86_400),),
    )
    learned = registry.make("advisors", "advisor", surrogate="scaling-law", history=before).learn()
    advisors = {
        "users' own": registry.make("advisors", "user-choice"),
        "learned": learned,
        "oracle": registry.make("advisors", "oracle"),
    }
    print(f"{'':<8}{'advisor':<14}{'turnaround, h':>14}{'jobs, MWh':>11}{'changed':>9}{'killed by advice':>18}")
    for policy in ("fcfs", "easy"):
        for name, advisor in advisors.items():
            summary = simulate(jobs, machine, policy, advisor=advisor).summary()
            hours = float(summary["mean_turnaround_s"] or 0) / 3_600
            energy_mwh = float(summary["jobs_energy_j"] or 0) / 3.6e9
            changed, again = summary["advice_changed"], summary["advice_requeued"]
            print(f"{policy:<8}{name:<14}{hours:>14.1f}{energy_mwh:>11.2f}{changed:>9}{again:>18}")


if __name__ == "__main__":
    main()
