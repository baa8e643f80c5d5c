"""What advice on node counts would do to a machine: one law for all jobs, against what users ask for."""

from __future__ import annotations

from hpcsim import Advice, Advisor, Cluster, Job, NodeGroup, NodePower, System, registry, simulate


class HalfWhenBusy(Advisor):
    """Halve what a job asks for while others wait, if it allows that; its limit doubles."""

    def advise(self, job: Job, system: System) -> Advice:
        """Return half the nodes, or the request with the reason why."""
        half = job.nodes // 2
        if not system.queue:
            return Advice(nodes=job.nodes, limit_s=job.limit_s, reason="kept-no-gain")
        if half not in job.allowed_nodes:
            return Advice(nodes=job.nodes, limit_s=job.limit_s, reason="kept-no-support")
        return Advice(nodes=half, limit_s=2 * job.limit_s, reason="advised")


def main() -> None:
    """Print one line an advisor."""
    workload = registry.make("models", "synth-pm100", jobs=3_000, nodes=96, load=0.9, seed=1)
    machine = Cluster(groups=(NodeGroup(nodes=96, power=NodePower(idle_w=400, busy_w=2_000)),))
    advisors = {
        "user-choice": registry.make("advisors", "user-choice"),
        "scaling-law": registry.make("advisors", "scaling-law", serial_share=0.05, slowdown=1.2),
        "half when busy": HalfWhenBusy(),
    }
    print(
        f"{'':<16}{'changed':>8}{'mean wait, s':>14}{'turnaround, s':>15}{'killed':>8}{'jobs, kWh':>11}{'all, kWh':>10}"
    )
    for name, advisor in advisors.items():
        summary = simulate(workload, machine, "easy", advisor=advisor).summary()
        found = {key: float("nan") if value is None else value for key, value in summary.items()}
        print(
            f"{name:<16}{found['advice_changed']:>8,}{found['mean_wait_s']:>14,.0f}{found['mean_turnaround_s']:>15,.0f}"
            f"{found['jobs_timeout']:>8,}{found['jobs_energy_j'] / 3.6e6:>11,.0f}{found['energy_j'] / 3.6e6:>10,.0f}"
        )


if __name__ == "__main__":
    main()
