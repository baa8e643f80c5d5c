"""A record of a network's decisions as one table: a row a decision."""

from __future__ import annotations

import csv
import io

import numpy as np

from hpcsim.experiments.inspection_summary import changed_by_memory, disagreements
from hpcsim.inspection import Inspection


def csv_of(inspection: Inspection) -> str:
    """Return the record as CSV.

    Beside the columns of `Inspection`: ``differs_from_rule`` and ``changed_by_memory``, 0 or 1;
    ``attention HEAD age A`` for each head and age; ``gate NAME``; ``factor KIND FEATURE``. What does not
    exist, as a decision before the first, is empty.
    """
    columns = dict(inspection.columns)
    columns["differs_from_rule"] = disagreements(inspection).astype(int)
    columns["changed_by_memory"] = changed_by_memory(inspection).astype(int)
    for head, name in enumerate(inspection.heads):
        for age in range(inspection.attention.shape[2]):
            columns[f"attention {name} age {age}"] = inspection.attention[:, head, age]
    columns |= {f"gate {name}": openness for name, openness in inspection.gates.items()}
    for kind, factors in inspection.factors.items():
        columns |= {f"factor {kind} {name}": factors[:, at] for at, name in enumerate(inspection.features[kind])}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in range(len(inspection)):
        writer.writerow([_cell(column[row]) for column in columns.values()])
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, np.floating | float):
        return "" if np.isnan(value) else f"{float(value):.10g}"
    return value
