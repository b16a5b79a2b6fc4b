// SPDX-License-Identifier: Apache-2.0
// Gain of a sweep's series over one of them, against its largest axis: 1 is the baseline, and where a line crosses it
// for good is marked.
"use strict";
(() => {
  const { element, section, chart, select, size, factor, factorLabel, significant } = switchfold;

  const placeText = (axis, value) => (axis.unit === "B" ? size(value) : significant(value, 3) + (axis.unit ? ` ${axis.unit}` : ""));

  // A row a point that both have; more is better.
  function gainsOf(base, points, x, metric) {
    const of = new Map(base.map((r) => [r[x.field], r[metric.key]]));
    return points.filter((r) => of.get(r[x.field]) > 0 && r[metric.key] > 0)
      .map((r) => ({ ...r, gain: metric.less ? of.get(r[x.field]) / r[metric.key] : r[metric.key] / of.get(r[x.field]) }));
  }

  // From the ends of both intervals, as if their errors had nothing in common: wider than it is.
  function rangeOf(row, base, metric) {
    const [low, high] = [`${metric.key}_at_least`, `${metric.key}_at_most`];
    const own = [row[low], row[high]];
    const other = base && [base[low], base[high]];
    if (!other || [...own, ...other].some((v) => typeof v !== "number" || v <= 0)) return null;
    return metric.less ? [other[0] / own[1], other[1] / own[0]] : [own[0] / other[1], own[1] / other[0]];
  }

  function draw(box, title, part, role, base, metric, tools) {
    const { x, series } = role;
    const bySeries = tools.groupBy(part, (r) => r[series.name]);
    const points = bySeries.get(base) || [];
    const marks = [];
    const values = [];
    for (const [name, rows] of bySeries) {
      if (name === base) continue;
      const gains = gainsOf(points, rows, x, metric);
      for (const row of gains) {
        const range = rangeOf(row, points.find((b) => b[x.field] === row[x.field]), metric);
        values.push({ [series.name]: name, [x.field]: row[x.field], [x.name]: row[x.name], gain: row.gain, low: range ? range[0] : null, high: range ? range[1] : null });
      }
      const at = tools.crossover(points, rows, x.field, metric);
      if (at && !at.always) marks.push({ [series.name]: name, [x.field]: at.x, gain: 1, label: placeText(x, at.x), what: `${name} is ahead of ${base} from ${placeText(x, at.x)} on` });
    }
    if (values.length === 0) return;
    const ends = values.flatMap((v) => [v.gain, v.low ?? v.gain, v.high ?? v.gain, 1]);
    const [least, most] = [Math.min(...ends), Math.max(...ends)];
    // A whole decade beyond the last value would be empty.
    const scale = most / least > 6 ? { type: "log", domain: [least / 1.1, most * 1.1], nice: false } : { type: "linear", zero: false };
    const xs = tools.xEncoding(x);
    const y = { type: "quantitative", title: `gain over ${base}`, scale, axis: { labelExpr: factorLabel } };
    const color = { field: series.name, type: "nominal", title: series.name, sort: null, scale: { domain: series.values.map((v) => v.label) }, legend: { orient: "bottom" } };
    const whiskers = values.filter((v) => v.low !== null);
    const tooltip = [{ field: series.name, type: "nominal" }, { field: x.name, type: "nominal" }, { field: "gain", type: "quantitative", format: ".3~g" },
      ...(whiskers.length > 0 ? [{ field: "low", title: "at least", type: "quantitative", format: ".3~g" }, { field: "high", title: "at most", type: "quantitative", format: ".3~g" }] : [])];
    chart(box, title, {
      width: 640, height: 300,
      layer: [
        { data: { values: [{ one: 1 }] }, mark: { type: "rule", strokeDash: [6, 4], color: "#8c8c8c" }, encoding: { y: { field: "one", ...y } } },
        ...(whiskers.length > 0 ? switchfold.whiskers(whiskers, xs, y, "low", "high", color) : []),
        { mark: { type: "line", point: true }, encoding: { x: xs, y: { field: "gain", ...y }, color, tooltip } },
        ...(marks.length > 0 ? [
          { data: { values: marks }, mark: { type: "point", shape: "diamond", filled: true, size: 170, stroke: "#8c8c8c", opacity: 1, style: "mark_of_crossover" },
            encoding: { x: xs, y: { field: "gain", ...y }, color, tooltip: [{ field: "what", title: "crossover" }] } },
          { data: { values: marks }, mark: { type: "text", align: "left", dx: 9, dy: 12, fontWeight: "bold" }, encoding: { x: xs, y: { field: "gain", ...y }, text: { field: "label" } } },
        ] : []),
      ],
    }, values, [{ title: series.name, text: (v) => v[series.name] }, { title: x.name, text: (v) => v[x.name] }, { title: "gain", text: (v) => factor(v.gain) },
      ...(whiskers.length > 0 ? [{ title: "at least", text: (v) => (v.low === null ? "-" : factor(v.low)) }, { title: "at most", text: (v) => (v.high === null ? "-" : factor(v.high)) }] : [])])
      .dataset.crossovers = marks.length;
  }

  // `tools`: what sweep.js finds crossovers and axes with.
  switchfold.gains = (data, rows, role, metric, tools) => {
    const { series, facets } = role;
    if (!series || !metric) return;
    const box = section("Gain over the baseline", `By ${metric.title.toLowerCase()}: above 1 is better than the baseline, the dashed line. A diamond is the ${role.x.name} from which a line stays above it. ` +
      "Whiskers take the errors of both to have nothing in common: where they do, the gain is known better.");
    const labels = series.values.map((v) => v.label);
    const controls = element("p", { class: "controls" });
    box.before(controls);
    const redraw = (base) => {
      box.replaceChildren();
      const name = (row) => facets.map((f) => `${f.name} ${row[f.name]}`).join(", ");
      for (const [facet, part] of tools.groupBy(rows, name)) draw(box, `Gain over ${base}${facet ? `: ${facet}` : ""}`, part, role, base, metric, tools);
    };
    const chosen = select("baseline", labels, tools.base, redraw);
    controls.append(chosen.node);
    redraw(tools.base);
  };
})();
