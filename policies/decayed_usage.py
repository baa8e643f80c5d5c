"""Node-seconds used, each counting half as much after every half-life."""

from __future__ import annotations

import math
from collections.abc import Hashable


class DecayedUsage:
    """Usage of each user: the integral of the nodes held, weighted by 2^(-age / *half_life_s*); 0: no decay.

    Exact at every instant: between two changes a user holds a fixed number of nodes, of which the
    weighted integral is known in closed form.
    """

    def __init__(self, half_life_s: float) -> None:
        self._rate = math.log(2) / half_life_s if half_life_s else 0.0
        self._books: dict[Hashable, tuple[float, float, int]] = {}

    def change(self, user: Hashable, nodes: int, now_s: float) -> None:
        """From now on *user* holds *nodes* more (or fewer, if negative)."""
        held = self._books[user][2] if user in self._books else 0
        self._books[user] = (now_s, self.node_s(user, now_s), held + nodes)

    def node_s(self, user: Hashable, now_s: float) -> float:
        """Return the user's weighted node-seconds at *now_s*."""
        if user not in self._books:
            return 0.0
        since_s, used_node_s, held = self._books[user]
        elapsed_s = now_s - since_s
        if not self._rate:
            return used_node_s + held * elapsed_s
        return used_node_s * math.exp(-self._rate * elapsed_s) - held * math.expm1(-self._rate * elapsed_s) / self._rate
