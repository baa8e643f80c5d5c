"""What a study says: tables as CSV, a page in Markdown, plots, and the verdicts on its hypotheses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsim.errors import MissingExtra
from hpcsim.experiments import sweep_folder
from hpcsim.experiments.surrogate_study.pictures import draw_all
from hpcsim.experiments.surrogate_study.verdicts import Comparison, Results, comparisons, verdicts
from hpcsim.results.markdown_table import markdown_table
from hpcsim.results.statistics.student import MeanInterval, mean_interval

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("self_graded", "truth_graded", "cost")
IDENTITY = ("factor", "label")
IN_FULL = (99.5, 1e6)
"""Between these figures are written in full."""


SHOWN: dict[str, dict[str, str]] = {
    "self_graded": {
        "hypervolume_s_w": "HV, s W",
        "gap_mean_raw": "gaps, mean",
        "gap_std_raw": "gaps, std",
        "front_size": "front size",
        "evaluations": "evaluations",
        "repeats": "repeats",
    },
    "truth_graded": {
        "hv_ratio": "HV ratio",
        "igd_plus": "IGD+",
        "edp_regret_median": "EDP regret, median",
        "edp_regret_p90": "p90",
        "energy_regret_median": "energy regret, median",
        "knee_regret_median": "knee regret, median",
        "below_user_share": "better than the user",
        "run_mape_percent": "run time MAPE, %",
        "run_rmse_log": "RMSE of log",
        "run_coverage": "coverage of 90 %",
    },
    "cost": {
        "rows": "rows",
        "realised_rate": "rate",
        "train_cpu_s": "train, CPU s",
        "embed_ms": "embed, ms",
        "advice_p50_ms": "advice p50, ms",
        "advice_p99_ms": "p99",
        "search_cpu_s_a_job": "search, CPU s a job",
        "cycle_cpu_ms": "cycle, CPU ms",
    },
}
"""Columns of the page's tables -> their headings; the CSV files have all."""

PAPER = (
    "The paper reports +24 % (PM100) and +37 % (Adastra) hypervolume of MOBO over SOBO for run time: self-graded, in "
    "raw units, with a reference point that moves. Shown for context; no figure above is comparable with them."
)

ONE_LOG = (
    "All seeds have this one log and judge the same jobs: intervals over seeds say how much training scatters, not how "
    "other logs would differ."
)

TITLES = {
    "self_graded": "Table A, shaped as the paper's: each row graded by its own predictions. "
    "Rows of different surrogates or samples cannot be compared: an optimistic model wins",
    "truth_graded": "Table B: at most five counts of each front, graded by the truth",
    "cost": "Table C: what it costs",
}


def write_answers(results: Results, folder: Path, *, data: str, is_one_log: bool = False) -> dict[str, Any]:
    """Write tables, page and plots into *folder*; return ``verdicts`` and ``comparisons``.

    *is_one_log* says whether all seeds had the same log; see `verdicts.comparisons`.
    """
    tables = {name: table_of(results, name) for name in TABLES}
    for name, table in tables.items():
        _write(folder / "tables" / f"{name}.csv", table)
    _write(folder / "tables" / "accuracy.csv", _accuracy(results))
    found = comparisons(results, is_one_log=is_one_log)
    decided = verdicts(found)
    _write_text(folder / "study.md", page(results, tables, found, decided, data=data, is_one_log=is_one_log))
    try:
        draw_all(results, folder / "plots")
    except MissingExtra as error:
        _write_text(folder / "plots" / "README", f"{error}\n")
    return {"verdicts": decided, "comparisons": [asdict(one) | {"shown": one.shown} for one in found]}


def table_of(results: Results, name: str) -> pd.DataFrame:
    """Return one row a cell and seed: what the cell is, then the figures called *name*."""
    import pandas as pd

    return pd.DataFrame([cell.row() | answer[name] for cell, answer in results])


def page(
    results: Results,
    tables: Mapping[str, pd.DataFrame],
    found: Sequence[Comparison],
    decided: Mapping[str, str],
    *,
    data: str,
    is_one_log: bool = False,
) -> str:
    """Return the page in Markdown."""
    seeds = len({cell.seed for cell, _ in results})
    funnel = ", ".join(f"{count:,} {what}" for what, count in results[0][1]["funnel"].items())
    parts = [
        f"# Surrogate study on {Path(data).name}",
        f"Jobs of the first seed: {funnel}. Means over {seeds} seeds, ± half the 95 % Student interval.",
        *([ONE_LOG] if is_one_log else []),
        "## Hypotheses",
        *(f"- **{claim}** {text}." for claim, text in decided.items()),
        _comparisons(found),
    ]
    for name, table in tables.items():
        parts += [f"## {TITLES[name]}.", _means(table, SHOWN[name])]
    parts.append(PAPER)
    return "\n\n".join(parts) + "\n"


def _comparisons(found: Sequence[Comparison]) -> str:
    rows = [
        (
            one.claim,
            one.first,
            one.second,
            one.measure,
            str(one.pairs),
            f"{one.gain:+.3g} [{one.low:+.3g}, {one.high:+.3g}]" if not math.isnan(one.low) else f"{one.gain:+.3g}",
            f"{one.p_value:.2g}" if not math.isnan(one.p_value) else "",
            one.shown,
        )
        for one in found
    ]
    headings = ("claim", "first", "against", "measure", "pairs", "gain [95 %]", "p, Holm", "shown")
    return markdown_table(headings, rows, text=range(len(headings)))


def _means(table: pd.DataFrame, shown: Mapping[str, str]) -> str:
    columns = [column for column in shown if column in table]
    rows: list[list[str]] = []
    for label, group in table.groupby(list(IDENTITY), sort=False):
        values = (group[column].dropna().to_numpy(dtype=float) for column in columns)
        rows.append([*map(str, label), *(_with_interval(mean_interval(list(column))) for column in values)])
    headings = (*IDENTITY, *(shown[column] for column in columns))
    return markdown_table(headings, rows, text=range(len(headings)))


def _with_interval(estimate: MeanInterval) -> str:
    mean, low, high, _ = estimate
    if math.isnan(mean):
        return ""
    return _figure(mean) if math.isnan(low) or low == high else f"{_figure(mean)} ± {_figure((high - low) / 2, 2)}"


def _figure(value: float, digits: int = 3) -> str:
    """Return *value* in so many significant digits; thousands in full, as 1,916."""
    return f"{value:,.0f}" if IN_FULL[0] <= abs(value) < IN_FULL[1] else f"{value:.{digits}g}"


def _accuracy(results: Results) -> pd.DataFrame:
    import pandas as pd

    rows = [
        cell.row() | {key: value for key, value in row.items() if key != "calibration"}
        for cell, answer in results
        for row in answer["accuracy"]
    ]
    return pd.DataFrame(rows)


def _write(path: Path, table: pd.DataFrame) -> None:
    _write_text(path, table.to_csv(index=False, lineterminator="\n"))


def _write_text(path: Path, text: str) -> None:
    with sweep_folder.writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    sweep_folder.write_whole(path, text)
