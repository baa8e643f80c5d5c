"""Who is better off and who is worse? Jobs whose waits changed most between two runs, as HTML tables."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from hpcsim.results.quantities import count, duration, number
from hpcsim.results.result import Result

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 5
"""Jobs at each end of a table."""


def changes(old: Result, new: Result) -> pd.DataFrame:
    """Return the jobs that started in both runs, winners first: ``row job_id user_id nodes old_s new_s change_s``."""
    columns = ["row", "job_id", "user_id", "nodes", "wait_s"]
    after = new.jobs.loc[new.jobs["start_s"].notna(), ["row", "job_id", "wait_s"]]
    before = old.jobs.loc[old.jobs["start_s"].notna(), columns]
    both = before.merge(after, on=["row", "job_id"], suffixes=("_old", "_new"))
    both = both.rename(columns={"wait_s_old": "old_s", "wait_s_new": "new_s"})
    both["change_s"] = both["new_s"] - both["old_s"]
    return both.sort_values("change_s", kind="stable").reset_index(drop=True)


def winners_section(results: Mapping[str, Result]) -> str:
    """Return winners and losers of each run against the first; for a single run, who waited longest."""
    names = list(results)
    if len(names) == 1:
        jobs = results[names[0]].jobs.nlargest(2 * SHOWN, "wait_s")
        waits = map(duration, jobs["wait_s"].tolist())
        rows = list(zip(jobs["job_id"], jobs["user_id"], jobs["nodes"], waits, strict=True))
        return _table("Longest waits", ("Job", "User", "Nodes", "Wait"), rows)
    return "".join(_pair(names[0], name, changes(results[names[0]], results[name])) for name in names[1:])


def _pair(old: str, new: str, both: pd.DataFrame) -> str:
    won, lost = both[both["change_s"] < 0], both[both["change_s"] > 0]
    share = (
        f"Under {new}, {number(len(won))} of {count(len(both), 'job')} wait less than under {old}, "
        f"{number(len(lost))} wait longer, {number(len(both) - len(won) - len(lost))} as long."
    )
    headings = ("Job", "User", "Nodes", f"Under {old}", f"Under {new}", "Change")
    tables = [
        _table(title, headings, [_row(job) for job in part.itertuples()])
        for title, part in (("Won most", won.head(SHOWN)), ("Lost most", lost.iloc[::-1].head(SHOWN)))
        if len(part)
    ]
    return f"<p>{escape(share)}</p><div class='pair'>{''.join(tables)}</div>"


def _row(job: Any) -> tuple[Any, ...]:
    change = f"{'+' if job.change_s > 0 else ''}{duration(job.change_s)}"
    return (job.job_id, job.user_id, job.nodes, duration(job.old_s), duration(job.new_s), change)


def _table(title: str, headings: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    body = "".join("<tr>" + "".join(f"<td>{escape(_cell(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="scroll"><table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    import pandas as pd

    return "" if pd.isna(value) else str(value)
