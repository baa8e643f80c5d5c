"""The facility cap over time: constant, or in announced steps."""

from __future__ import annotations

import math
from bisect import bisect_right

from hpcsim.cluster import Cluster


class PowerCap:
    """Watts that the machine must not exceed. `times_s` are the instants of its steps."""

    def __init__(self, cluster: Cluster) -> None:
        self.times_s = [step.from_s for step in cluster.power_cap_steps]
        self._caps_w = [cluster.power_cap_w, *(step.power_cap_w for step in cluster.power_cap_steps)]
        self.least_w = min(self._caps_w)
        self.is_there = self.least_w < math.inf

    def at_w(self, time_s: float) -> float:
        """Return the cap that holds at an instant."""
        return self._caps_w[bisect_right(self.times_s, time_s)]

    def lowest_w(self, from_s: float, to_s: float) -> float:
        """Return the lowest cap from *from_s* until before *to_s*, and at *from_s* itself."""
        first = bisect_right(self.times_s, from_s)
        last = first
        while last < len(self.times_s) and self.times_s[last] < to_s:
            last += 1
        return min(self._caps_w[first : last + 1])

    def best_w(self, from_s: float, length_s: float) -> float:
        """Return the highest cap under which a job of *length_s* can run, started when it suits."""
        starts_s = [from_s, *(time_s for time_s in self.times_s if time_s > from_s)]
        return max(self.lowest_w(start_s, start_s + length_s) for start_s in starts_s)
