// SPDX-License-Identifier: Apache-2.0
// What run.js and sweep.js draw with: elements, tables, charts that follow the colour scheme.
"use strict";
const switchfold = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const main = document.getElementById("report");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const drawn = [];
  // Okabe and Ito's colours, which colour-blind readers can tell apart, without black and yellow.
  const colors = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#7a5195"];

  function element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  function section(title, note) {
    const box = element("div", { class: "charts" });
    const heading = element("h2", {}, title);
    main.append(heading);
    if (note) main.append(element("p", { class: "note" }, note));
    main.append(box);
    return box;
  }

  // An interval stands below its value: beside it, tables would be twice as wide.
  function cell(text) {
    const at = text.search(/ \([^()]* to [^()]*\)$/);
    return at < 0 ? element("td", {}, text) : element("td", {}, text.slice(0, at), element("span", { class: "range" }, text.slice(at)));
  }

  // The first column names the row: it stays where a wide table scrolls.
  function table(rows, columns) {
    const head = element("tr", {}, ...columns.map((c) => element("th", { scope: "col" }, c.title)));
    const body = rows.map((row) => element("tr", {}, ...columns.map((c, i) =>
      (i === 0 ? element("th", { scope: "row" }, c.text(row)) : cell(c.text(row))))));
    return element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  }

  function config() {
    const text = dark.matches ? "#e6edf3" : "#1b1f24";
    const line = dark.matches ? "#3d444d" : "#d0d7de";
    return {
      background: null,
      font: "system-ui, sans-serif",
      axis: { labelColor: text, titleColor: text, gridColor: line, domainColor: line, tickColor: line, labelLimit: 320 },
      legend: { labelColor: text, titleColor: text },
      title: { color: text },
      header: { labelColor: text, titleColor: text },
      text: { color: text },
      view: { stroke: line },
      range: { category: colors },
      style: { bar_of_pass: { stroke: dark.matches ? "#0d1117" : "#ffffff" }, mark_of_peak: { fill: text } },
      errorbar: { rule: { stroke: text, strokeWidth: 1.5 }, ticks: { stroke: text, strokeWidth: 1.5, size: 12 } },
    };
  }

  function embed(chart) {
    const actions = { export: { svg: true, png: true }, source: false, compiled: false, editor: false };
    return vegaEmbed(chart.place, chart.spec, {
      config: config(), actions, renderer: "svg", tooltip: { theme: dark.matches ? "dark" : "light" },
      downloadFileName: chart.name,
    });
  }

  // The width of a drawing that fits into the window beside its axis and legend; small windows scroll.
  const fit = (width) => Math.max(320, Math.min(width, main.clientWidth - 360));

  // A chart with its values as a table below it, for those who do not see it. What vegaEmbed promises is kept in
  // `ready`: tests wait for it.
  function chart(box, title, spec, values, columns) {
    const place = element("div");
    const figure = element("figure", { tabindex: "0", "aria-label": title }, element("figcaption", {}, title), place);
    if (columns) {
      const details = element("details", {}, element("summary", {}, "values as a table"));
      details.addEventListener("toggle", () => {
        if (details.open && details.childElementCount === 1)
          details.append(element("div", { class: "scroll", tabindex: "0" }, table(values, columns)));
      });
      figure.append(details);
    }
    box.append(figure);
    const made = {
      place, name: title.toLowerCase().replace(/[^a-z0-9]+/g, "_"),
      spec: { $schema: "https://vega.github.io/schema/vega-lite/v5.json", description: title, data: { values }, ...spec, ...(typeof spec.width === "number" ? { width: fit(spec.width) } : {}) },
    };
    drawn.push(made);
    ready.push(embed(made));
    return figure;
  }

  const ready = [];
  dark.addEventListener("change", () => drawn.forEach(embed));

  // Digits that count, without an exponent where the number is large.
  function significant(value, digits) {
    const text = value.toPrecision(digits);
    return text.includes("e+") ? String(Math.round(value)) : text;
  }

  function time(us, digits = 4) {
    if (us === null || us === undefined) return "-";
    if (us === 0) return "0 us";
    if (us >= 1e6) return significant(us / 1e6, digits) + " s";
    if (us >= 1e4) return significant(us / 1e3, digits) + " ms";
    // What lasts less than a nanosecond is a rounding of the simulator's picoseconds.
    return (us < 1 ? Number(us.toFixed(3)) : significant(us, digits)) + " us";
  }
  // For axes of up to `us`.
  function timeUnit(us) {
    if (us >= 1e6) return { us: 1e6, name: "s" };
    return us >= 1e3 ? { us: 1e3, name: "ms" } : { us: 1, name: "us" };
  }
  function size(bytes) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
    return (Number.isInteger(bytes) ? bytes : significant(bytes, 3)) + " " + units[unit];
  }
  const percent = (share) => (share === null || share === undefined ? "-" : (share * 100).toFixed(1).replace(/^-0\.0$/, "0.0") + " %");
  // Vega's expressions for labels of axes and legends. They have digits enough for any two ticks: how many a format
  // without a number takes follows from a difference that rounding may halve (0.12 - 0.02 makes 12 % another 10 %).
  const label = (value, unit = "") => `datum.label === '' ? '' : format(${value}, ',.6~r') + '${unit}'`;
  const percentLabel = label("datum.value * 100", "%");
  const factorLabel = label("datum.value", "x");
  // Vega's expression for an axis of bytes.
  const sizeLabel =
    "datum.value >= 1073741824 ? datum.value/1073741824 + ' GiB' : datum.value >= 1048576 ? datum.value/1048576 + " +
    "' MiB' : datum.value >= 1024 ? datum.value/1024 + ' KiB' : datum.value + ' B'";

  // Links to the parts of the page, which keys reach first.
  function contents() {
    const nav = document.getElementById("contents");
    nav.replaceChildren(...[...main.querySelectorAll("h2")].map((heading) => {
      heading.id = heading.id || "part_" + heading.textContent.toLowerCase().replace(/[^a-z0-9]+/g, "_");
      return element("a", { href: "#" + heading.id }, heading.textContent);
    }));
  }

  // Layers that draw vertical intervals in their series' colour; those of bars are errorbars in ink.
  function whiskers(values, x, y, low, high, color) {
    const data = values ? { data: { values } } : { transform: [{ filter: `isValid(datum['${low}'])` }] };
    const end = (field) => ({ ...data, mark: { type: "tick", orient: "horizontal", size: 8, thickness: 1.5, opacity: 0.6 }, encoding: { x, y: { ...y, field }, color } });
    return [{ ...data, mark: { type: "rule", strokeWidth: 1.5, opacity: 0.6 }, encoding: { x, y: { ...y, field: low }, y2: { field: high }, color } }, end(low), end(high)];
  }

  function begin(title, answer) {
    document.title = title;
    main.prepend(element("h1", {}, title));
    document.getElementById("answer").textContent = answer;
    contents();
  }

  const factor = (value) => (value === null || value === undefined ? "-" : value.toFixed(2) + "x");
  const api = { data, main, ready, element, section, table, chart, fit, significant, time, timeUnit, size, percent, percentLabel, factorLabel, factor, sizeLabel, begin, contents, whiskers, kinds: {} };
  api.draw = () => api.kinds[data.kind](data);
  return api;
})();
