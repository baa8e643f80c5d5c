"""Is mine better? Differences between policies, with intervals that keep their promise.

Pure functions of arrays and of the tables of results; the same seed gives the same figures.

- one log, two policies: `differences`, `winners_and_losers`, `paired_jobs`, `paired_windows`
- the interval behind them, for a statistic of one's own: `block_bootstrap`, `Interval`, `Verdict`
- several runs on several logs: `interquartile_mean`, `probability_of_improvement`, `stratified_interval`
- several runs on several tasks, both of them a sample: `crossed_interval`
- several comparisons: `holm`
- tails: `conditional_value_at_risk`
"""

from __future__ import annotations

from hpcsim.results.statistics.classes import winners_and_losers
from hpcsim.results.statistics.crossed import crossed_interval
from hpcsim.results.statistics.differences import differences, ratio_of_sums
from hpcsim.results.statistics.holm import holm
from hpcsim.results.statistics.interval import Interval, Verdict, block_bootstrap
from hpcsim.results.statistics.paired import paired_jobs, paired_windows
from hpcsim.results.statistics.runs import interquartile_mean, probability_of_improvement, stratified_interval
from hpcsim.results.statistics.tails import conditional_value_at_risk
from hpcsim.results.statistics.windows import Windows, windows_of

__all__ = [
    "Interval",
    "Verdict",
    "Windows",
    "block_bootstrap",
    "conditional_value_at_risk",
    "crossed_interval",
    "differences",
    "holm",
    "interquartile_mean",
    "paired_jobs",
    "paired_windows",
    "probability_of_improvement",
    "ratio_of_sums",
    "stratified_interval",
    "windows_of",
    "winners_and_losers",
]
