// Draws the report from the data in the page. Text from outside reaches the document as text nodes,
// or, inside charts, with its special characters escaped.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const escaped = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const element = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  let printing = false;

  // ---- charts -------------------------------------------------------------------------------------

  const PAPER = 660; // pixels across that every printer has
  const config = { displaylogo: false, responsive: true, displayModeBar: false, scrollZoom: false };

  function layout(xTitle, changes) {
    const axis = { gridcolor: colour("rule"), zerolinecolor: colour("rule"), linecolor: colour("rule"), automargin: true };
    const base = {
      margin: { l: 50, r: 12, t: 8, b: 44 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", size: 13, color: colour("soft") },
      hoverlabel: { align: "left", bgcolor: colour("card"), font: { color: colour("ink") }, bordercolor: colour("soft") },
      showlegend: false,
      ...(printing ? { autosize: false, width: PAPER } : { autosize: true }),
      dragmode: "zoom",
      xaxis: { ...axis, title: { text: xTitle, font: { size: 13 }, standoff: 8 } },
      yaxis: { ...axis, fixedrange: true, rangemode: "tozero" },
    };
    for (const [name, change] of Object.entries(changes || {})) {
      base[name] = change && change.constructor === Object ? { ...base[name], ...change } : change;
    }
    return base;
  }

  function lines(found, shape) {
    return data.names.flatMap((name, index) => found[name] ? [{
      type: "scatter", mode: "lines", name: escaped(name), x: found[name].x, y: found[name].y,
      line: { color: colour("p" + index), width: 1.8, shape, dash: index < 6 ? "solid" : "dash" },
      hovertemplate: "%{y:.3~g} at %{x:.4~g}<extra>" + escaped(name).replace(/%/g, "&#37;") + "</extra>",
    }] : []);
  }

  const since = data.unit + " since the first submit";
  const durations = { tickmode: "array", tickvals: [1, 10, 60, 600, 3600, 21600, 86400, 864000, 8640000],
    ticktext: ["1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "10 d", "100 d"] };
  const scale = { light: [[0, "#eef4f9"], [0.5, "#56a0cf"], [1, "#053a5f"]], dark: [[0, "#1f2a33"], [0.5, "#2f86bd"], [1, "#c9e7fb"]] };
  const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches && !printing;
  const ramp = () => scale[isDark() ? "dark" : "light"];

  const charts = {
    "utilisation": () => [lines(data.lines.utilisation, "hv"), layout(since, { yaxis: { tickformat: ".0%", range: [0, 1.02] } })],
    "queue": () => [lines(data.lines.queue, "hv"), layout(since)],
    "power-over-time": () => [lines(data.lines["power-over-time"], "hv"), layout(since)],
    "wait": () => [lines(data.shares.wait, "hv"), layout("waited at most", { xaxis: { type: "log", ...durations }, yaxis: { tickformat: ".0%", range: [0, 1.02] } })],
    "slowdown": () => [lines(data.shares.slowdown, "hv"), layout("bounded slowdown", { xaxis: { type: "log", dtick: 1 }, yaxis: { tickformat: ".0%", range: [0, 1.02] } })],
    "gantt": ganttChart,
  };
  const waits = data.heat.flatMap((heat) => heat.z.flat().filter((value) => value !== null));
  const lowest = Math.min(...waits), highest = Math.max(lowest + 1, ...waits);
  data.heat.forEach((heat, index) => { charts["heat-" + index] = () => heatChart(heat); });

  function heatChart(heat) {
    const isNarrow = innerWidth < 500;
    const written = (text) => isNarrow ? text.split("<br>")[0].split(" ").slice(0, 2).join(" ") : text;
    const annotations = heat.z.flatMap((row, y) => row.map((value, x) => ({
      x, y, text: written(heat.text[y][x]), showarrow: false,
      font: { size: isNarrow ? 9 : 12, color: (value - lowest) / (highest - lowest) > 0.4 !== isDark() ? "#fff" : "#10202c" },
    }))).filter((annotation) => annotation.text);
    return [[{ type: "heatmap", x: heat.x, y: heat.y, z: heat.z, hoverinfo: "skip",
      xgap: 2, ygap: 2, zmin: lowest, zmax: highest, colorscale: ramp(), showscale: false }],
    layout("limit", { annotations, xaxis: { fixedrange: true, showgrid: false, type: "category" },
      yaxis: { type: "category", title: { text: "width", font: { size: 13 }, standoff: 12 }, showgrid: false } })];
  }

  let range = null;

  function ganttChart() {
    const name = byId("gantt-run").value;
    const found = data.gantt[name];
    const bars = found.kind === "bars";
    byId("gantt-note").textContent = bars
      ? "A bar is a job. Drag to zoom, double click for the whole time, or use the buttons."
      : "Too many jobs to draw each: colour is the share of the nodes in use. Drag to zoom, or use the buttons.";
    const hues = ["c0", "c1", "c2", "c3", "c4", "c5"].map(colour);
    const traces = bars ? [{
      type: "bar", orientation: "h", base: found.start, x: found.length, y: found.node, width: found.height,
      marker: { color: found.colour.map((index) => hues[index]), opacity: 0.8, line: { color: colour("card"), width: 0.5 } },
      hovertext: found.text.map(escaped), hoverinfo: "text", textposition: "none",
    }] : [{ type: "heatmap", x: found.x, y: found.y, z: found.z, zmin: 0, zmax: 100, colorscale: ramp(),
      colorbar: { thickness: 10, ticksuffix: " %", outlinewidth: 0 }, hovertemplate: "%{z} % in use at %{x}<extra></extra>" }];
    return [traces, layout(since, {
      barmode: "overlay", bargap: 0,
      xaxis: range ? { range: [...range] } : {},
      yaxis: { fixedrange: true, range: [-0.5, data.nodes[name] - 0.5], title: { text: "node", font: { size: 13 }, standoff: 8 }, showgrid: false },
    })];
  }

  const drawable = () => Object.keys(charts).filter((id) => byId(id));
  const draw = (id) => Plotly.react(id, ...charts[id](), config);
  const drawAll = () => drawable().forEach(draw);

  function onPaper(is) {
    printing = is;
    document.documentElement.toggleAttribute("data-paper", is);
    drawAll();
  }

  function zoom(what) {
    const [low, high] = byId("gantt").layout.xaxis.range;
    const middle = (low + high) / 2, half = (high - low) / 2;
    const next = {
      in: [middle - half / 2, middle + half / 2], out: [middle - half * 2, middle + half * 2],
      left: [low - half, high - half], right: [low + half, high + half],
    }[what];
    Plotly.relayout("gantt", next ? { "xaxis.range": next, "xaxis.autorange": false } : { "xaxis.autorange": true });
  }

  // ---- why did it wait? ---------------------------------------------------------------------------

  function runOf(select) { return byId(select).value; }

  function causeList(items) {
    const list = element("ul", "causes");
    for (const [cause, text] of items) {
      const item = element("li");
      item.append(element("i", "k k" + cause), text);
      list.append(item);
    }
    return list;
  }

  function seconds(value) {
    const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
    const at = units.findIndex(([size]) => value >= size);
    if (at < 0) return value + " s";
    const whole = Math.floor(value / units[at][0]), rest = value % units[at][0];
    const below = units[at + 1] && Math.floor(rest / units[at + 1][0]);
    return whole + " " + units[at][1] + (below ? " " + below + " " + units[at + 1][1] : "");
  }

  function strip(cells) {
    const shown = element("div", "strip");
    shown.setAttribute("role", "img");
    shown.setAttribute("aria-label", "The wait from submit to start, by cause");
    cells.forEach((cause) => shown.append(element("i", "k" + cause)));
    return shown;
  }

  function answer() {
    const run = data.why.runs[runOf("why-run")], box = byId("why-answer"), wanted = byId("why-job").value.trim();
    box.replaceChildren();
    if (!wanted) {
      box.append(element("p", "", run.words));
      const total = run.total.flatMap((share, cause) => Array(Math.round(share * 100)).fill(cause));
      if (total.length) box.append(strip(total));
      return;
    }
    const at = run.ids.indexOf(wanted);
    if (at < 0) {
      box.append(element("p", "", run.complete ? "This run has no job " + wanted + "."
        : "Job " + wanted + " is not among the longest waits that this page holds; hpcsim explain answers for every job."));
      return;
    }
    const story = run.stories[wanted];
    box.append(element("p", "", "Job " + wanted + " (" + run.nodes[at] + " wide) left the queue " + (run.waited[at] ? (story ? story.waited : seconds(run.waited[at])) + " after its submit." : "at once.")));
    const causes = data.why.causes.map((_, cause) => cause).filter((cause) => run.parts[cause][at] > 0)
      .sort((one, other) => run.parts[other][at] - run.parts[one][at]);
    if (!causes.length) return;
    box.append(strip(story ? story.strip
      : causes.flatMap((cause) => Array(Math.max(1, Math.round(100 * run.parts[cause][at] / run.waited[at]))).fill(cause))));
    const ends = element("div", "scale");
    ends.append(element("span", "", "submit"), element("span", "", story ? "start" : "shares of the wait, not in order of time"));
    box.append(ends, causeList(causes.map((cause, index) => [cause, story ? story.reasons[index]
      : seconds(run.parts[cause][at]) + ": " + data.why.causes[cause].text + "."])));
  }

  function offer() {
    const run = data.why.runs[runOf("why-run")];
    const known = [...new Set([...run.ids.slice(0, 20), ...Object.keys(run.stories)])];
    byId("why-known").replaceChildren(...known.map((id) => { const option = element("option"); option.value = id; return option; }));
    byId("why-job").placeholder = known.length ? "such as " + known[0] : "";
  }

  // ---- events -------------------------------------------------------------------------------------

  byId("gantt-run").addEventListener("change", () => draw("gantt"));
  document.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () => zoom(button.dataset.zoom)));
  if (data.why) {
    byId("why-form").addEventListener("submit", (event) => { event.preventDefault(); answer(); });
    byId("why-run").addEventListener("change", () => { offer(); answer(); });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  addEventListener("beforeprint", () => onPaper(true));
  addEventListener("afterprint", () => onPaper(false));

  drawAll();
  byId("gantt").on("plotly_relayout", () => {
    const axis = byId("gantt").layout.xaxis;
    range = axis.autorange ? null : [...axis.range];
  });
  if (data.why) {
    offer();
    answer();
  }
  document.documentElement.dataset.drawn = "yes";
})();
