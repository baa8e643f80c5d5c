"""Who waits long? Mean waits of jobs by their width and their limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hpcsim.results.agreement import size_classes
from hpcsim.results.quantities import count, duration
from hpcsim.results.result import Result

if TYPE_CHECKING:
    import pandas as pd

LENGTHS_S = (0, 600, 3600, 4 * 3600, 12 * 3600, 86400, np.inf)
LENGTH_NAMES = ("to 10 min", "to 1 h", "to 4 h", "to 12 h", "to 1 d", "over 1 d")


def waits_by_class(result: Result) -> pd.DataFrame:
    """Return ``mean_s`` and ``jobs`` by class of width and of limit, over the jobs that started."""
    import pandas as pd

    jobs = result.jobs[result.jobs["start_s"].notna()]
    lengths = pd.cut(jobs["limit_s"], LENGTHS_S, labels=LENGTH_NAMES, include_lowest=True)
    grouped = jobs["wait_s"].groupby([size_classes(jobs["nodes"]), lengths], observed=False)
    return grouped.agg(["mean", "count"]).set_axis(["mean_s", "jobs"], axis=1)


def heat(result: Result) -> dict[str, Any]:
    """Return the heat map's data: names of rows and columns, log10 of the mean waits, and their texts."""
    table = waits_by_class(result) if result.jobs["start_s"].notna().any() else None
    if table is None:
        return {"x": [], "y": [], "z": [], "text": []}
    mean, jobs = table["mean_s"].unstack(), table["jobs"].unstack()
    z = [[None if np.isnan(v) else round(float(np.log10(max(v, 1))), 3) for v in row] for row in mean.to_numpy()]
    text = [
        [
            f"{duration(value)}<br>{count(int(number), 'job')}" if number else ""
            for value, number in zip(*row, strict=True)
        ]
        for row in zip(mean.to_numpy(), jobs.to_numpy(), strict=True)
    ]
    return {"x": list(map(str, mean.columns)), "y": list(map(str, mean.index)), "z": z, "text": text}
