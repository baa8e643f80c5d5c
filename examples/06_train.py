"""Train a scheduler for some seconds and let it schedule. It needs the extra rl: pip install 'hpcsim-des[rl]'."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hpcsim import Cluster, HpcsimError, make_policy, registry, simulate


def main() -> None:
    """Print a line a policy."""
    try:
        train = registry.find("trainers", "ppo-gtrxl")
    except HpcsimError as error:
        print(error)
        return
    workload = registry.make("models", "lublin", jobs=800, nodes=64, load=2.0, seed=5)
    cluster = Cluster.of_processors(64)
    with tempfile.TemporaryDirectory() as folder:
        network = train(
            out=Path(folder),
            preset="smoke",
            logs={"this log": (workload, cluster)},
            generates=False,
            settings={"training.updates": 3, "training.jobs": 200},
            say=print,
        )
        policies = {
            "easy": make_policy("easy"),
            "a minute of training": make_policy("ppo-gtrxl", checkpoint=str(network)),
            "as it comes": make_policy("ppo-gtrxl"),
        }
    print(f"{'':22}{'mean wait':>12}{'max wait':>12}{'slowdown':>12}")
    for name, policy in policies.items():
        summary = simulate(workload, cluster, policy).summary()
        waits = f"{summary['mean_wait_s']:10,.0f} s{summary['max_wait_s']:10,.0f} s"
        print(f"{name:22}{waits}{summary['mean_bounded_slowdown']:12.1f}")


if __name__ == "__main__":
    main()
