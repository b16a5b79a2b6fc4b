// SPDX-License-Identifier: Apache-2.0
// What the fullest GPU holds, from moment to moment: classes of memory on top of each other.
"use strict";
(() => {
  const { element, section, chart, time, size, timeUnit } = switchfold;
  const gibibyte = 2 ** 30;

  // A row a moment and class; what is held in the end lasts until the iteration ends.
  function valuesOf(memory, unit, end) {
    const times = [...memory.time_us, Math.max(end, memory.time_us.at(-1))];
    return memory.classes.flatMap((held, order) => times.map((us, i) => {
      const bytes = held.bytes[Math.min(i, held.bytes.length - 1)];
      return { class: held.name, order, time_us: us, at: us / unit.us, bytes, gib: bytes / gibibyte };
    }));
  }

  function memoryChart(box, memory, scenario) {
    const peak = scenario.peak_memory;
    const end = scenario.iteration_us;
    const unit = timeUnit(Math.max(end, memory.time_us.at(-1)));
    const values = valuesOf(memory, unit, end);
    const all = Object.values(peak.bytes).reduce((a, b) => a + b, 0);
    const during = peak.pass ? ` in ${peak.pass}` : "";
    const mark = [{ at: peak.time_us / unit.us, gib: all / gibibyte, label: `${size(all)}${during}` }];
    const x = { type: "quantitative", title: `time (${unit.name})`, scale: { nice: false } };
    // A label near the right edge stands to the left of its mark.
    const left = peak.time_us > 0.7 * Math.max(end, memory.time_us.at(-1));
    const figure = chart(box, `${scenario.name}, rank ${peak.rank}: peak ${size(all)} at ${time(peak.time_us)}${during}`, {
      width: 500, height: 220,
      layer: [
        { mark: { type: "area", interpolate: "step-after", line: false, opacity: 0.9 },
          encoding: {
            x: { field: "at", ...x }, y: { field: "gib", type: "quantitative", stack: "zero", title: "memory (GiB)" },
            color: { field: "class", type: "nominal", title: "class", sort: null, scale: { domain: memory.classes.map((c) => c.name) } },
            order: { field: "order" },
            tooltip: [{ field: "class" }, { field: "time_us", type: "quantitative", format: ",.2f" }, { field: "gib", type: "quantitative", format: ".4~g", title: "GiB" }],
          } },
        { data: { values: mark }, mark: { type: "point", shape: "triangle-down", filled: true, size: 90, yOffset: -7, opacity: 1, style: "mark_of_peak" },
          encoding: { x: { field: "at", ...x }, y: { field: "gib", type: "quantitative" } } },
        { data: { values: mark }, mark: { type: "text", align: left ? "right" : "left", dx: left ? -8 : 8, dy: -9, tooltip: null },
          encoding: { x: { field: "at", ...x }, y: { field: "gib", type: "quantitative" }, text: { field: "label" } } },
      ],
    }, memory.time_us.map((us, i) => ({ us, i })), [{ title: "from", text: (row) => time(row.us) },
      ...memory.classes.map((c) => ({ title: c.name, text: (row) => size(c.bytes[row.i]) }))]);
    figure.classList.add("memory");
  }

  switchfold.memory = (data, scenarios) => {
    if (data.memory.length === 0) return;
    const classes = new Map(data.memory.flatMap((m) => m.classes.map((c) => [c.name, c.meaning])));
    const box = section("Memory over time", "What the fullest rank of a scenario holds. The triangle is at the first moment at which " +
      "it holds most. Other ranks are in memory.csv.");
    for (const memory of data.memory) memoryChart(box, memory, scenarios.find((s) => s.name === memory.scenario));
    box.after(element("p", { class: "note" }, [...classes].map(([name, meaning]) => `${name}: ${meaning}`).join("; ") + "."));
  };
})();
