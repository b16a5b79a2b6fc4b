// SPDX-License-Identifier: Apache-2.0
// The order of passes in a pipeline, as papers draw it: a row a rank, time to the right, idle left blank.
"use strict";
(() => {
  const { element, section, chart, fit, time, percent, timeUnit } = switchfold;
  const width = fit(1060);
  const rowHeight = 24;
  // Of Okabe and Ito's colours, with a lightness each, so that they differ in a grey print too.
  const colors = { F: "#0072b2", B: "#e69f00", W: "#009e73", U: "#ecb7d4" };
  const colorOf = (kind) => (kind === "BW" ? "B" : kind);
  const names = { F: "forward", BW: "backward", B: "gradient of the inputs", W: "gradient of the weights", U: "update" };

  // Later stages of a rank are lighter.
  function shade(color, chunk, chunks) {
    const white = chunks > 1 ? 0.45 * chunk / (chunks - 1) : 0;
    return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)).map((c) => Math.round(c + (255 - c) * white));
  }
  const inkOn = ([r, g, b]) => (0.3 * r + 0.59 * g + 0.11 * b > 125 ? "#000000" : "#ffffff");

  const fontSize = 8.5;
  // A number is there where its bar is wide enough for it, and a gap to the next bar where that leaves most of it.
  function fitting(bar, end) {
    const text = bar.kind === "U" ? "" : String(bar.micro_batch);
    const pixels = (bar.end_us - bar.start_us) / end * width;
    return { label: pixels > text.length * fontSize * 0.64 + 0.5 ? text : "", gap: pixels > 2.5 ? 0.6 : 0 };
  }

  function barsOf(schedule, end, unit) {
    const rows = new Map(schedule.ranks.map((rank, i) => [rank, i]));
    return schedule.bars.map((bar) => {
      const color = shade(colors[colorOf(bar.kind)], bar.chunk, schedule.chunks);
      // Two at once share the row: the forward above, the backward below.
      const top = rows.get(bar.rank) + (bar.beside && bar.kind !== "F" ? 0.5 : 0.06);
      const bottom = rows.get(bar.rank) + (bar.beside && bar.kind === "F" ? 0.5 : 0.94);
      return {
        ...bar, what: names[bar.kind], color: `rgb(${color})`, ink: inkOn(color), top, bottom, middle: (top + bottom) / 2,
        from: bar.start_us / unit.us, to: bar.end_us / unit.us, center: (bar.start_us + bar.end_us) / 2 / unit.us,
        duration_us: bar.end_us - bar.start_us, ...fitting(bar, end),
      };
    });
  }

  // A colour each; backward and gradient of the inputs share one.
  function legend(bars) {
    const there = new Set(bars.map((b) => b.kind));
    return Object.keys(colors).map((color) => ({
      title: Object.keys(names).filter((kind) => there.has(kind) && colorOf(kind) === color).map((kind) => names[kind]).join(", "),
      color: colors[color],
    })).filter((entry) => entry.title);
  }

  function rest(schedule) {
    const said = [];
    const ranks = (n) => (n === 1 ? "1 rank is" : `${n} ranks are`);
    if (schedule.alike > 0) said.push(`${ranks(schedule.alike)} left out that run the same passes as one shown, at about the same times.`);
    if (schedule.others > 0) said.push(`${ranks(schedule.others)} left out between those shown.`);
    if (schedule.cut) said.push("Only the beginning is shown: the run goes on like this.");
    if (schedule.chunks > 1) said.push("Lighter bars are of stages nearer to the output, of those that a rank holds.");
    return said.join(" ");
  }

  function scheduleChart(box, schedule, scenario, end) {
    const unit = timeUnit(end);
    const values = barsOf(schedule, end, unit);
    const entries = legend(values);
    const rows = schedule.ranks.map((rank) => `rank ${rank}`);
    const bubble = scenario.bubble_share === null ? "" : `bubble ${percent(scenario.bubble_share)}, `;
    const x = { type: "quantitative", title: `time (${unit.name})`, scale: { domain: [0, end / unit.us], nice: false }, axis: { grid: false } };
    const y = {
      type: "quantitative", title: null, scale: { domain: [0, rows.length], nice: false, reverse: true },
      axis: { values: rows.map((_, i) => i + 0.5), labelExpr: `${JSON.stringify(rows)}[floor(datum.value)]`, grid: false, ticks: false, domain: false },
    };
    const figure = chart(box, `${scenario.name}: ${bubble}iteration ${time(scenario.iteration_us)}`, {
      width, height: rows.length * rowHeight,
      layer: [
        // Draws nothing: an entry of the legend for each colour.
        { data: { values: entries }, mark: { type: "square", opacity: 0, size: 0 },
          encoding: { color: { field: "title", type: "nominal", sort: null,
            scale: { domain: entries.map((e) => e.title), range: entries.map((e) => e.color) },
            legend: { title: null, orient: "top", symbolType: "square", symbolSize: 160, symbolOpacity: 1, labelLimit: 400 } } } },
        { mark: { type: "rect", style: "bar_of_pass" },
          encoding: {
            x: { field: "from", ...x }, x2: { field: "to" }, y: { field: "top", ...y }, y2: { field: "bottom" },
            fill: { field: "color", type: "nominal", scale: null },
            strokeWidth: { field: "gap", type: "quantitative", scale: null },
            tooltip: [{ field: "pass" }, { field: "what" }, { field: "rank" }, { field: "stage" }, { field: "micro_batch", title: "micro-batch" },
              { field: "start_us", type: "quantitative", format: ",.2f" }, { field: "duration_us", type: "quantitative", format: ",.2f" }],
          } },
        { transform: [{ filter: "datum.label !== ''" }], mark: { type: "text", fontSize, baseline: "middle", tooltip: null },
          encoding: {
            x: { field: "center", ...x }, y: { field: "middle", ...y }, text: { field: "label" },
            color: { field: "ink", type: "nominal", scale: null },
          } },
      ],
    }, values, [{ title: "pass", text: (b) => b.pass }, { title: "rank", text: (b) => String(b.rank) }, { title: "what", text: (b) => b.what },
      { title: "start", text: (b) => time(b.start_us) }, { title: "takes", text: (b) => time(b.duration_us) }]);
    figure.classList.add("schedule");
    const more = rest(schedule);
    if (more) figure.querySelector("details").before(element("p", { class: "note" }, more));
  }

  // Charts of about the same length have one scale, so that they can be compared.
  switchfold.schedules = (data, scenarios) => {
    const { charts, left_out: leftOut } = data.schedules;
    if (charts.length === 0) return;
    const more = leftOut > 0 ? ` ${leftOut} more scenarios are in passes.csv.` : "";
    const box = section("Schedule", "A row is a rank, a bar a pass, its number the micro-batch; idle is left blank. The bubble is the " +
      "part of the longest rank's time in which ranks, on average, run no pass." + more);
    const ends = charts.map((s) => Math.max(...s.bars.map((b) => b.end_us)));
    const longest = Math.max(...ends);
    charts.forEach((schedule, i) => scheduleChart(
      box, schedule, scenarios.find((s) => s.name === schedule.scenario), ends[i] * 2 >= longest ? longest : ends[i]));
  };
})();
