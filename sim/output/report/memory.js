// SPDX-License-Identifier: Apache-2.0
// What the fullest GPU holds, from moment to moment: classes of memory on top of each other.
"use strict";
(() => {
  const { element, section, chart, time, size, timeUnit } = switchfold;
  const bytesUnit = (bytes) => (bytes >= 2 ** 30 ? { bytes: 2 ** 30, name: "GiB" } : { bytes: 2 ** 20, name: "MiB" });

  // A row a moment and class; what is held in the end lasts until the iteration ends.
  function valuesOf(memory, end, unit, amount) {
    const times = [...memory.time_us, Math.max(end, memory.time_us.at(-1))];
    return memory.classes.flatMap((one, order) => times.map((us, i) => {
      const bytes = one.bytes[Math.min(i, one.bytes.length - 1)];
      return { class: one.name, order, time_us: us, at: us / unit.us, held: bytes / amount.bytes };
    }));
  }

  function memoryChart(box, memory, scenario) {
    const peak = scenario.peak_memory;
    const end = scenario.iteration_us;
    const unit = timeUnit(Math.max(end, memory.time_us.at(-1)));
    const all = Object.values(peak.bytes).reduce((a, b) => a + b, 0);
    const amount = bytesUnit(all);
    const values = valuesOf(memory, end, unit, amount);
    const during = peak.pass ? ` in ${peak.pass}` : "";
    const mark = [{ at: peak.time_us / unit.us, held: all / amount.bytes, label: `${size(all)}${during}` }];
    const x = { type: "quantitative", title: `time (${unit.name})`, scale: { nice: false } };
    // A label near the right edge stands to the left of its mark.
    const left = peak.time_us > 0.7 * Math.max(end, memory.time_us.at(-1));
    const figure = chart(box, `${scenario.name}, rank ${peak.rank}: peak ${size(all)} at ${time(peak.time_us)}${during}`, {
      width: 900, height: 200,
      layer: [
        { data: { values }, mark: { type: "area", interpolate: "step-after", opacity: 0.9 },
          encoding: {
            x: { field: "at", ...x }, y: { field: "held", type: "quantitative", stack: "zero", title: `memory (${amount.name})` },
            color: { field: "class", type: "nominal", title: "class", sort: null, scale: { domain: memory.classes.map((c) => c.name) } },
            order: { field: "order" },
            tooltip: [{ field: "class" }, { field: "time_us", type: "quantitative", format: ",.2f" }, { field: "held", type: "quantitative", format: ".4~g", title: amount.name }],
          } },
        { data: { values: mark }, mark: { type: "point", shape: "triangle-down", filled: true, size: 90, yOffset: -7, opacity: 1, style: "mark_of_peak" },
          encoding: { x: { field: "at", ...x }, y: { field: "held", type: "quantitative" } } },
        { data: { values: mark }, mark: { type: "text", align: left ? "right" : "left", dx: left ? -8 : 8, dy: -9, tooltip: null },
          encoding: { x: { field: "at", ...x }, y: { field: "held", type: "quantitative" }, text: { field: "label" } } },
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
