// SPDX-License-Identifier: Apache-2.0
// The report of a sweep: curves over its largest axis, crossovers, heat maps of two axes.
"use strict";
(() => {
  const { element, section, table, chart, time, size, percent, percentLabel, factor, sizeLabel, begin, main, select, significant } = switchfold;

  const texts = { us: time, share: percent, factor, bytes: size, count: (v) => significant(v, 5), "GB/s": (v) => v.toFixed(1) + " GB/s" };
  const capital = (text) => text[0].toUpperCase() + text.slice(1);

  // What to draw, from the simulator's own list. Iteration time of a single collective says nothing that its time does not.
  function metricsOf(data, rows) {
    const has = (key) => rows.some((r) => r[key] !== null && r[key] !== undefined);
    const all = data.metrics.map((m) => ({
      ...m, title: capital(m.title), share: m.unit === "share", unit: ["share", "factor", "count"].includes(m.unit) ? "" : m.unit, text: texts[m.unit],
    }));
    const single = all.filter((m) => m.of_collective && has(m.key));
    // Where members come and go, a step is one of many kinds: the run's own figures tell what it takes.
    return single.length > 0 ? single : all.filter((m) => !m.of_collective && has(m.key) && !(m.of_step && has("run_us")));
  }

  // The axes by what they are drawn as: x has numbers and most values, one colours the lines, the rest make a chart
  // for each of their combinations.
  function roles(axes) {
    const numeric = axes.filter((a) => a.unit !== null && a.values.length > 1);
    const x = numeric.sort((a, b) => (b.unit === "B") - (a.unit === "B") || b.values.length - a.values.length)[0] || null;
    const others = axes.filter((a) => a !== x && a.values.length > 1);
    const series = others.find((a) => a.name === "algorithm") || others[others.length - 1] || null;
    return { x, series, facets: others.filter((a) => a !== series) };
  }

  const baseOf = (series) => series && (series.values.find((v) => v.label === "ring") || series.values[0]).label;

  const groupBy = (rows, key) => Map.groupBy ? Map.groupBy(rows, key) : rows.reduce((map, row) => {
    const k = key(row);
    return map.set(k, [...(map.get(k) || []), row]);
  }, new Map());

  // The x from which `other` stays ahead of `base` to the end; null if it never does, the first x if always.
  function crossover(base, other, x, metric) {
    const ahead = (a, b) => (metric.less ? a < b : a > b);
    const common = base
      .map((b) => ({ x: b[x], base: b[metric.key], other: other.find((o) => o[x] === b[x])?.[metric.key] }))
      .filter((p) => p.base !== null && p.other !== undefined && p.other !== null)
      .sort((a, b) => a.x - b.x);
    let i = common.length;
    while (i > 0 && ahead(common[i - 1].other, common[i - 1].base)) --i;
    if (i === common.length) return null;
    if (i === 0) return { x: common[0].x, always: true };
    // Where lines between the two points meet, both axes logarithmic.
    const [p, q] = [common[i - 1], common[i]];
    const d = (c) => Math.log(c.other / c.base);
    const share = d(p) === d(q) ? 1 : d(p) / (d(p) - d(q));
    return { x: Math.exp(Math.log(p.x) + share * (Math.log(q.x) - Math.log(p.x))), always: false };
  }

  function xEncoding(axis) {
    const spread = axis.values[axis.values.length - 1].number / Math.max(axis.values[0].number, 1e-12);
    const log = axis.values[0].number > 0 && spread > 50;
    const unit = axis.unit && axis.unit !== "B" ? ` (${axis.unit})` : "";
    const encoding = { field: axis.field, type: "quantitative", title: axis.name + unit, scale: { type: log ? "log" : "linear", nice: false } };
    if (log) encoding.scale.base = axis.unit === "B" ? 2 : 10;
    if (axis.unit === "B") {
      encoding.axis = { labelExpr: sizeLabel, labelOverlap: true, labelAngle: -45 };
      if (log) encoding.axis.values = axis.values.map((v) => v.number).filter((_, i) => i % 2 === 0);
    }
    return encoding;
  }

  function lineChart(box, title, rows, axis, series, metric, marks, measured) {
    const color = series
      ? { field: series, type: "nominal", title: series, sort: null, legend: { orient: "bottom" } }
      : undefined;
    const y = { field: metric.key, type: "quantitative", title: metric.title + (metric.unit ? ` (${metric.unit})` : ""), scale: { type: metric.log ? "log" : "linear" } };
    if (metric.share) y.axis = { labelExpr: percentLabel };
    // On a linear axis of bandwidth all small sizes lie on the ground.
    if (metric.unit === "GB/s") { y.scale.type = "log"; y.axis = { format: "~g", labelOverlap: true }; }
    const tooltip = [
      ...(series ? [{ field: series, type: "nominal" }] : []),
      { field: axis.name, type: "nominal" },
      { field: metric.key, type: "quantitative", title: y.title, format: metric.share ? ".1%" : ".5~g" },
    ];
    const layer = [{ mark: { type: "line", point: true }, encoding: { x: xEncoding(axis), y, color, tooltip } }];
    const [low, high] = [`${metric.key}_at_least`, `${metric.key}_at_most`];
    const hasInterval = metric.interval && rows.some((r) => r[low] !== null && r[low] !== undefined);
    if (hasInterval)
      layer.push(...switchfold.whiskers(null, xEncoding(axis), y, low, high, color));
    if (marks.length > 0) {
      layer.push({ data: { values: marks }, mark: { type: "rule", strokeDash: [4, 4], strokeWidth: 1.5 },
        encoding: { x: xEncoding(axis), color, tooltip: [{ field: "what", type: "nominal", title: "crossover" }] } });
      layer.push({ data: { values: marks }, mark: { type: "text", align: "left", dx: 4, baseline: "top" },
        encoding: { x: xEncoding(axis), y: { field: "place", type: "quantitative", scale: null }, text: { field: "short", type: "nominal" } } });
    }
    if (measured.length > 0)
      layer.push({ data: { values: measured }, mark: { type: "point", shape: "cross", size: 45, strokeWidth: 1.5 },
        encoding: { x: xEncoding(axis), y, color, opacity: { value: 0.8 },
          tooltip: [{ field: "table", type: "nominal", title: "measured" }, { field: "ran", type: "nominal" },
            { field: metric.key, type: "quantitative", format: ".5~g" }] } });
    const columns = [
      ...(series ? [{ title: series, text: (r) => r[series] }] : []),
      { title: axis.name, text: (r) => r[axis.name] },
      { title: metric.title, text: (r) => (r[metric.key] === null ? "-" : metric.text(r[metric.key])) },
      ...(hasInterval ? [[low, "at least"], [high, "at most"]] : [])
        .map(([key, name]) => ({ title: name, text: (r) => (r[key] === null ? "-" : metric.text(r[key])) })),
    ];
    chart(box, title, { width: 430, height: 280, layer }, rows, columns);
  }

  // Measured points of the same machine and number of GPUs, under the series of their algorithm.
  function measuredOf(data, rows, series) {
    const machines = new Set(rows.map((r) => r.machine + "/" + r.ran_ranks));
    const known = new Set(series ? rows.map((r) => r[series.name]) : []);
    return data.measured
      .filter((m) => machines.has(m.machine + "/" + m.ran_ranks))
      .map((m) => ({ ...m, ...(series ? { [series.name]: known.has(m.ran) ? m.ran : known.has("auto") ? "auto" : "measured" } : {}) }));
  }

  function curves(data, rows, role, names) {
    const found = [];
    const { x, series, facets } = role;
    const name = (row) => facets.map((f) => `${f.name} ${row[f.name]}`).join(", ");
    const base = baseOf(series);
    for (const [facet, part] of groupBy(rows, name)) {
      const box = section(facet || data.name);
      const bySeries = groupBy(part, (r) => (series ? r[series.name] : ""));
      for (const metric of names) {
        const marks = [];
        for (const [other, points] of bySeries) {
          if (!series || other === base || !bySeries.has(base)) continue;
          const at = crossover(bySeries.get(base), points, x.field, metric);
          if (metric === names[0]) found.push({ facet, other, base, at });
          // What picks among the others overtakes with them.
          if (at && !at.always && other !== "auto")
            marks.push({ place: 4 + 12 * marks.length, [x.field]: at.x, [series.name]: other, short: other,
              what: `${other} overtakes ${base} at ${x.unit === "B" ? size(at.x) : significant(at.x, 3)}` });
        }
        const measured = x.unit === "B"
          ? measuredOf(data, part, series).map((m) => ({ ...m, [x.field]: m.size_bytes })).filter((m) => m[metric.key] !== null && m[metric.key] !== undefined)
          : [];
        lineChart(box, `${metric.title} against ${x.name}${facet ? ": " + facet : ""}`, part, x, series && series.name, metric, marks, measured);
      }
    }
    return found;
  }

  // Two axes against each other, the others held at what the reader chooses.
  function heatMap(rows, axes, names) {
    const [a, b] = [...axes].sort((p, q) => q.values.length - p.values.length);
    const box = section("Two axes against each other");
    const controls = element("p", { class: "controls" });
    box.before(controls);
    const redraw = () => {
      box.replaceChildren();
      const metric = names.find((m) => m.title === metricChoice.list.value);
      const part = rows.filter((r) => held.every((h) => String(r[h.name]) === h.choice.list.value) && r[metric.key] !== null);
      const axis = (which) => ({ field: which.name, type: "ordinal", sort: which.values.map((v) => v.label), title: which.name });
      chart(box, `${metric.title}: ${a.name} against ${b.name}`, {
        width: Math.min(900, Math.max(300, 36 * a.values.length)), height: Math.max(120, 36 * b.values.length),
        mark: "rect",
        encoding: {
          x: axis(a), y: axis(b),
          color: { field: metric.key, type: "quantitative", title: metric.title + (metric.unit ? ` (${metric.unit})` : ""),
            scale: { scheme: "viridis", type: metric.log ? "log" : "linear" }, legend: metric.share ? { labelExpr: percentLabel } : { format: ",.4~r" } },
          tooltip: [a, b].map((w) => ({ field: w.name, type: "nominal" })).concat([{ field: metric.key, type: "quantitative", format: metric.share ? ".1%" : ".5~g" }]),
        },
      }, part, [...[a, b].map((w) => ({ title: w.name, text: (r) => r[w.name] })), { title: metric.title, text: (r) => metric.text(r[metric.key]) }]);
    };
    const metricChoice = select("value", names.map((m) => m.title), undefined, redraw);
    const held = axes.filter((w) => w !== a && w !== b)
      .map((w) => ({ name: w.name, choice: select(w.name, w.values.map((v) => v.label), undefined, redraw) }));
    controls.append(metricChoice.node, ...held.map((h) => h.choice.node));
    redraw();
  }

  const pointName = (row, axes) => axes.filter((a) => a.values.length > 1).map((a) => row[a.name]).join(", ");

  // Of axes without numbers there are no curves: a bar a point.
  function bars(data, rows, axes, names) {
    const nameOf = (row) => pointName(row, axes) || data.name;
    const box = section("The points");
    for (const metric of names) {
      const values = rows.filter((r) => typeof r[metric.key] === "number").map((r) => ({ ...r, point: nameOf(r) }));
      if (values.length === 0) continue;
      const [low, high] = [`${metric.key}_at_least`, `${metric.key}_at_most`];
      const known = metric.interval ? values.filter((r) => typeof r[low] === "number") : [];
      const y = { field: "point", type: "nominal", sort: null, title: null };
      const x = (field) => ({ field, type: "quantitative", title: metric.title + (metric.unit ? ` (${metric.unit})` : ""), axis: metric.share ? { labelExpr: percentLabel } : {} });
      chart(box, `${metric.title} of each point`, {
        width: 430, height: { step: 26 },
        layer: [
          { mark: { type: "bar", opacity: 0.75 }, encoding: { y, x: x(metric.key), tooltip: [{ field: "point" }, { field: metric.key, type: "quantitative", format: metric.share ? ".1%" : ".5~g" }] } },
          ...(known.length > 0 ? [{ data: { values: known }, mark: { type: "errorbar", ticks: true }, encoding: { y, x: x(low), x2: { field: high } } }] : []),
        ],
      }, values, [{ title: "point", text: (r) => r.point }, { title: metric.title, text: (r) => metric.text(r[metric.key]) },
        ...(known.length > 0 ? [[low, "at least"], [high, "at most"]] : []).map(([key, name]) => ({ title: name, text: (r) => (typeof r[key] === "number" ? metric.text(r[key]) : "-") }))]);
    }
  }

  // The best of points that no axis orders, by the first metric.
  function bestOf(rows, axes, metric) {
    const known = rows.filter((r) => typeof r[metric?.key] === "number");
    if (known.length === 0) return "";
    const best = known.reduce((a, b) => ((metric.less ? b[metric.key] < a[metric.key] : b[metric.key] > a[metric.key]) ? b : a));
    const value = `${metric.title.toLowerCase()} ${metric.text(best[metric.key])}`;
    return known.length === 1 ? `: ${value}` : `; best is ${pointName(best, axes)}, ${value}`;
  }

  function answerOf(data, found, role, failed, best) {
    const overtaken = found.filter((f) => f.at && f.other.startsWith("in_switch"));
    const where = (f) => (f.at.always ? "from the smallest size on" : `from ${role.x.unit === "B" ? size(f.at.x) : significant(f.at.x, 3)} on`);
    const main = overtaken.length > 0
      ? "In-switch reduction is faster than " + overtaken[0].base + " " + overtaken.map((f) => `${where(f)}${f.facet ? ` (${f.facet})` : ""}`).join("; ") + "."
      : `${data.points} point${data.points === 1 ? "" : "s"} over ${data.axes.map((a) => a.name).join(", ")}${best}.`;
    return failed > 0 ? `${main} ${failed} of ${data.points} points failed.` : main;
  }

  function rowsOf(data) {
    return data.rows.map((values) => Object.fromEntries(data.columns.map((c, i) => [c, values[i]])));
  }

  switchfold.kinds.sweep = (data) => {
    const rows = rowsOf(data).filter((r) => r.status === "done");
    data.axes.forEach((a) => { a.field = a.name + "_number"; });
    const axes = [...data.axes];
    const scenarios = [...new Set(rows.map((r) => r.scenario))];
    if (scenarios.length > 1) axes.push({ name: "scenario", unit: null, values: scenarios.map((label) => ({ label, number: null })) });
    const names = metricsOf(data, rows);
    const role = roles(axes);
    let found = [];
    if (role.x && names.length > 0) switchfold.gains(data, rows, role, names[0], { groupBy, crossover, xEncoding, base: baseOf(role.series) });
    if (role.x && names.length > 0) found = curves(data, rows, role, names);
    const mostBars = 200;  // more are not read one by one
    if (!role.x && rows.length > 0 && rows.length <= mostBars) bars(data, rows, axes, names);
    begin(data.name, answerOf(data, found, role, data.points - data.done, role.x ? "" : bestOf(rows, axes, names[0])));
    if (found.length > 0) {
      const box = section("Where one overtakes the other", "By time, from the first size after which it stays ahead; between two sizes on a straight line of logarithms.");
      box.append(table(found, [
        { title: "where", text: (f) => f.facet || data.name },
        { title: "ahead", text: (f) => f.other },
        { title: "of", text: (f) => f.base },
        { title: role.x.name, text: (f) => (f.at === null ? "never" : f.at.always ? "always" : role.x.unit === "B" ? size(f.at.x) : significant(f.at.x, 4)) },
      ]));
    }
    const wide = axes.filter((a) => a.values.length > 1);
    if (wide.length > 1 && names.length > 0) heatMap(rows, wide, names);
    const failed = rowsOf(data).filter((r) => r.status !== "done");
    if (failed.length > 0)
      section("Points that failed").append(element("div", { class: "scroll", tabindex: "0" }, table(failed, [
        ...data.axes.map((a) => ({ title: a.name, text: (r) => r[a.name] })), { title: "error", text: (r) => r.error || "has not run" }])));
    if (data.left_out > 0) main.append(element("p", { class: "note" }, `${data.left_out} rows beyond the first ${data.rows.length} are left out; sweep.db holds all.`));
    main.append(element("p", { class: "note" }, `switchfold ${data.version}; ${data.done} of ${data.points} point${data.points === 1 ? "" : "s"}. ` +
      (rows.some((r) => names.some((m) => m.interval && typeof r[`${m.key}_at_least`] === "number")) ? "Whiskers: 90 % of such cases. " : "") +
      (data.measured.length > 0 ? `Crosses: ${data.measured.length} measured points of ${data.data_file}.` : "")));
  };
})();
