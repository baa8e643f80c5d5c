"""What rules make of a sequence under the same rules of the game: yardstick and measure of hardness."""

from __future__ import annotations

from hpcsim.cluster import Cluster
from hpcsim.engine.simulation import Simulation
from hpcsim.policies.learning.heads import OrderedHeads
from hpcsim.policies.learning.meter import Meter
from hpcsim.policies.learning.objectives import Wanted, weighted
from hpcsim.policies.learning.sequences import JobSequence
from hpcsim.policies.orders import SAF, SJF
from hpcsim.policy import Order

RULES: tuple[type[Order], ...] = (SJF, SAF)
"""The rules whose best is the unit of normalised rewards."""


class RuleCost:
    """The cost of a sequence under the best of some rules, each sequence run once.

    ``cost(sequence)`` returns it, so that it serves `HarderPart` as well.

    Args:
        cluster: the machine.
        objective: what it costs, see `hpcsim.policies.learning.objectives`.
        backfill: beside the heads that the rule commits to.
        keeps_heads: a head stays until it starts; else each pass looks anew.
        kill_at_limit: jobs end at their limits at the latest.
        rules: classes of orders; the least cost of them counts.
    """

    def __init__(
        self,
        cluster: Cluster,
        objective: Wanted = "bounded-slowdown",
        *,
        backfill: str = "easy",
        keeps_heads: bool = True,
        kill_at_limit: bool = True,
        rules: tuple[type[Order], ...] = RULES,
    ) -> None:
        self._cluster = cluster
        self._objectives = weighted(objective)
        self._backfill = backfill
        self._keeps_heads = keeps_heads
        self._kill_at_limit = kill_at_limit
        self._rules = rules
        self._known: dict[tuple[int, int, int, float], float] = {}

    def __call__(self, sequence: JobSequence) -> float:
        """Return the cost of *sequence* in the unit of the objective."""
        known = self._known.get(sequence.key)
        if known is None:
            known = self._known[sequence.key] = min(self._run(sequence, rule()) for rule in self._rules)
        return known

    def _run(self, sequence: JobSequence, order: Order) -> float:
        workload = sequence.workload
        meter = Meter(self._objectives, workload, self._cluster, kill_at_limit=self._kill_at_limit)
        simulation = Simulation(
            workload,
            self._cluster,
            OrderedHeads(order=order, backfill=self._backfill, keeps_heads=self._keeps_heads),
            recorders=[meter],
            kill_at_limit=self._kill_at_limit,
        )
        meter.begin(simulation.system.power_w)
        simulation.run()
        meter.read(simulation.now_s)
        return meter.cost
