"""What a facility cap and switching idle nodes off cost in waiting, and save in energy."""

from __future__ import annotations

from dataclasses import replace

from hpcsim import Cluster, NodeGroup, NodePower, Tariff, make_policy, registry, simulate

POWER = NodePower(idle_w=240, busy_w=1_800, off_w=10, boot_w=500, boot_s=180, shutdown_s=60)


def machine(power: NodePower, power_cap_w: float = float("inf")) -> Cluster:
    """Return 64 nodes; energy is dearer by day."""
    tariff = Tariff(price_per_kwh=(0.08,) * 8 + (0.16,) * 12 + (0.08,) * 4, co2_kg_per_kwh=(0.38,))
    return Cluster(groups=(NodeGroup(nodes=64, power=power),), power_cap_w=power_cap_w, tariff=tariff)


def main() -> None:
    """Print one line a machine."""
    workload = registry.make("models", "poisson", jobs=1_000, nodes=32, load=1.0, seed=1)  # half of 64 nodes
    machines = {
        "always on": machine(POWER),
        "off after 5 min": machine(replace(POWER, idle_timeout_s=300)),
        "cap of 80 kW": machine(POWER, power_cap_w=80_000),
    }
    print(f"{'':<18}{'mean wait, s':>13}{'energy, kWh':>13}{'idle':>7}{'peak, kW':>10}{'cost':>8}{'CO2, kg':>9}")
    for name, cluster in machines.items():
        summary = simulate(workload, cluster, make_policy("easy")).summary()
        found = {key: float("nan") if value is None else value for key, value in summary.items()}
        idle = found["idle_energy_j"] / found["energy_j"]
        print(
            f"{name:<18}{found['mean_wait_s']:>13,.0f}{found['energy_j'] / 3.6e6:>13,.0f}{idle:>7.1%}"
            f"{found['peak_power_w'] / 1000:>10.1f}{found['cost']:>8,.0f}{found['co2_kg']:>9,.0f}"
        )


if __name__ == "__main__":
    main()
