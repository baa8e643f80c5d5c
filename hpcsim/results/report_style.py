"""How the report looks: colours that colour-blind readers can tell apart (Okabe and Ito), light and dark."""

from __future__ import annotations

COLOURS = (
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff8c42"),
    ("#007a5a", "#2fc79b"),
    ("#a8528a", "#e08fc0"),
    ("#8a6d00", "#f0e442"),
    ("#444444", "#c8c8c8"),
)
"""Colour of each series on a light and on a dark page; lines repeat them dashed after the last."""

MOST_SERIES = 24
"""Series that have a class of their own."""


def _palette(tone: int) -> str:
    return ";".join(f"--c{index}:{colours[tone]}" for index, colours in enumerate(COLOURS))


def _series() -> str:
    rules = []
    for index in range(MOST_SERIES):
        rules.append(f".s{index}{{--c:var(--c{index % len(COLOURS)})}}")
        if index >= len(COLOURS):
            rules.append(f".line.s{index}{{stroke-dasharray:{2 + 2 * (index // len(COLOURS))} 2}}")
    return "\n".join(rules)


STYLE = f"""
:root{{--page:#fcfcfb;--ink:#1b1f24;--soft:#59636e;--rule:#d9dee3;--card:#ffffff;--best:#e8f1f8;{_palette(0)}}}
@media (prefers-color-scheme:dark){{
:root{{--page:#14171a;--ink:#e6e9ec;--soft:#9aa5b1;--rule:#323940;--card:#1b1f23;--best:#1d3342;{_palette(1)}}}
}}
*{{box-sizing:border-box}}
body{{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}}
main{{max-width:74rem;margin:0 auto;padding:1.5rem 1rem 3rem}}
h1{{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem;overflow-wrap:anywhere}}
h2{{font-size:1.1rem;margin:2rem 0 .5rem}}
h3{{font-size:1rem;margin:0 0 .25rem;overflow-wrap:anywhere}}
p{{margin:.5rem 0;overflow-wrap:anywhere}}
.verdict{{font-size:1.2rem;line-height:1.4;max-width:46rem}}
.note,caption,figcaption,dt{{color:var(--soft)}}
.scroll{{overflow-x:auto;margin:1.25rem 0}}
table{{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}}
caption{{caption-side:bottom;text-align:left;font-size:.85rem;padding-top:.5rem}}
th,td{{padding:.35rem .6rem;border-bottom:1px solid var(--rule);text-align:right;vertical-align:top}}
th{{font-weight:600}}
tbody th{{font-weight:400}}
th:first-child,.rules td:first-child{{text-align:left;padding-left:0}}
td{{white-space:nowrap}}
.rules td:first-child{{white-space:normal}}
.best{{font-weight:700;background:var(--best)}}
.shown{{font-weight:700}}
.charts{{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem}}
figure{{margin:0;padding:.75rem;background:var(--card);border:1px solid var(--rule);border-radius:.5rem;min-width:0}}
figcaption{{font-weight:600;color:var(--ink)}}
.legend{{display:flex;flex-wrap:wrap;gap:.1rem 1rem;font-size:.85rem;overflow-wrap:anywhere}}
.swatch{{display:inline-block;width:.7em;height:.7em;border-radius:.15em;margin-right:.4em;background:var(--c);
print-color-adjust:exact;-webkit-print-color-adjust:exact}}
figure>svg{{display:block;width:100%;height:auto;margin-top:.4rem}}
figure>svg text{{font:13px system-ui,sans-serif;fill:var(--soft)}}
figure>svg .grid,figure>svg .tick{{stroke:var(--rule);fill:none}}
figure>svg .line{{stroke:var(--c);stroke-width:1.6;stroke-linejoin:round;fill:none}}
.origins{{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr));gap:1rem 2rem;
font-size:.85rem}}
dl{{margin:0}}
dd{{margin:0 0 .35rem;overflow-wrap:anywhere}}
{_series()}
@media (max-width:480px){{th,td{{padding:.35rem .25rem;font-size:.8rem;white-space:normal}}
.verdict{{font-size:1.1rem}}}}
@media print{{
:root{{--page:#fff;--ink:#000;--soft:#444;--rule:#ccc;--card:#fff;--best:#eee;{_palette(0)}}}
main{{max-width:none;padding:0}}
figure,tr,.origins section{{break-inside:avoid}}
h2{{break-after:avoid}}
}}
"""
"""The style sheet of the page."""
