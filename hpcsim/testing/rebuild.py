"""Make a policy from its spec in a new interpreter, and have it decide there.

Run as ``python -m hpcsim.testing.rebuild``: a question in JSON on standard input, the answer on
standard output. Nothing is pickled.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from hpcsim.cluster import Cluster
from hpcsim.errors import HpcsimError
from hpcsim.testing.other_process import answers_only, command, environment
from hpcsim.testing.specification import PolicySpec
from hpcsim.testing.trial import Scenario, Step, attempt
from hpcsim.workload import Workload

TIMEOUT_S = 300


def decisions_elsewhere(spec: PolicySpec, scenarios: Sequence[Scenario], seed: int) -> list[list[Step]]:
    """Return the decisions of a policy made of *spec* in a process of its own, a list for each scenario.

    Raises:
        HpcsimError: the policy cannot be written down, made there, or does not end there.
    """
    question = {"spec": spec.to_plain(), "seed": seed, "scenarios": [_to_plain(scenario) for scenario in scenarios]}
    try:
        run = subprocess.run(  # noqa: S603 - our own interpreter
            command("hpcsim.testing.rebuild"),
            input=json.dumps(question),
            env=environment(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise HpcsimError(
            f"Another process did not end within {TIMEOUT_S} s.", "Look at what it does when made."
        ) from error
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise HpcsimError(
            f"Another process cannot make it from {spec.name}: {last}", "Do not depend on what only this process has."
        )
    return [[Step(*step) for step in steps] for steps in json.loads(run.stdout)]


def main() -> None:
    """Answer the question on standard input."""
    question = json.load(sys.stdin)
    with answers_only() as answers:
        spec = PolicySpec.from_plain(question["spec"])
        scenarios = [_from_plain(scenario) for scenario in question["scenarios"]]
        answer = [attempt(spec.make(), scenario, seed=question["seed"]).steps for scenario in scenarios]
        json.dump(answer, answers)


def _to_plain(scenario: Scenario) -> dict[str, Any]:
    columns = scenario.workload.columns
    return {"nodes": scenario.cluster.nodes, "columns": {name: columns[name].tolist() for name in columns}}


def _from_plain(plain: dict[str, Any]) -> Scenario:
    return Scenario(Workload.of(**plain["columns"]), Cluster.of_nodes(plain["nodes"]))


if __name__ == "__main__":
    main()
