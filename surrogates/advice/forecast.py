"""What a job is expected to take at each node count it may have, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """N node counts of one job, ascending; the count that its user asked for is among them.

    Attributes:
        nodes: counts, shape [N].
        run_s, upper_run_s: expected run time in seconds and its upper bound, shape [N].
        power_w: expected power of the whole job in watts, shape [N]; NaN where nobody knows.
        supported: whether the forecast rests on experience near that count, shape [N].
        asked: place of the count asked for.
    """

    nodes: NDArray[np.int64]
    run_s: Floats
    upper_run_s: Floats
    power_w: Floats
    supported: NDArray[np.bool_]
    asked: int

    @property
    def doubt(self) -> Floats:
        """By how much, in log, the upper bound lies further above the mean than at the count asked for; 0 or more.

        That is what another count adds to the uncertainty: how long the job takes at all is as unknown there.
        """
        apart = np.log(self.upper_run_s / self.run_s)
        doubt = np.maximum(apart - apart[self.asked], 0.0)
        doubt[self.asked] = 0.0
        return np.asarray(doubt)

    def widened(self, margin: float) -> Forecast:
        """Return the forecast with upper bounds raised by *margin*, in log, for each e-fold from the request."""
        away = np.abs(np.log(self.nodes / self.nodes[self.asked]))
        upper_s = self.upper_run_s * np.exp(margin * away)
        return Forecast(self.nodes, self.run_s, upper_s, self.power_w, self.supported, self.asked)

    def at(self, places: NDArray[np.int64]) -> Forecast:
        """Return the counts at *places*, ascending, among them the one asked for."""
        return Forecast(
            self.nodes[places],
            self.run_s[places],
            self.upper_run_s[places],
            self.power_w[places],
            self.supported[places],
            int(np.flatnonzero(places == self.asked)[0]),
        )


def is_sound(forecast: Forecast) -> NDArray[np.bool_]:
    """Tell of each count whether its run time and upper bound are numbers above 0."""
    known = np.isfinite(forecast.run_s) & np.isfinite(forecast.upper_run_s)
    return np.asarray(known & (forecast.run_s > 0) & (forecast.upper_run_s > 0))
