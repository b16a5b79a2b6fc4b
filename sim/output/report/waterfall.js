// SPDX-License-Identifier: Apache-2.0
// From a step without overlap to one with it, and on to one that reduces in switches: what each part adds or takes away.
"use strict";
(() => {
  const { data, element, section, chart, select, time, timeUnit } = switchfold;
  const PHASES = ["forward", "backward", "optimizer", "other"];
  const number = (value) => value ?? 0;

  // The time that a scenario adds over another, by part. Phases are slowed against themselves without overlap, so their
  // causes are shares of `alone`. What is left is what no figure holds: gaps between kernels, waiting hosts.
  function parts(alone, s) {
    const found = { hidden: number(s.exposed_communication_us), copies: number(s.exposed_copies_us) };
    for (const { key } of data.causes) found[key] = 0;
    let told = true;
    for (const phase of PHASES) {
      const us = number(alone[`${phase}_us`]);
      const causes = s.causes_by_phase?.[phase];
      if (!causes && number(s[`${phase}_us`]) > us * 1.0005) told = false;
      for (const { key } of data.causes) found[key] += causes ? causes[key] * us : 0;
    }
    if (!told) {
      for (const { key } of data.causes) found[key] = 0;
      found.kernels = PHASES.reduce((sum, phase) => sum + number(s[`${phase}_us`]) - number(alone[`${phase}_us`]), 0);
    }
    return found;
  }

  const titles = () => ({ hidden: "exposed communication", ...Object.fromEntries(data.causes.map((c) => [c.key, c.key === "other" ? "kernels, other" : c.title])),
    kernels: "kernels take longer", copies: "exposed copies", rest: "gaps and the rest" });

  // Rows of the waterfall: totals of scenarios, and between two of them what changes. Small steps become one.
  switchfold.waterfallSteps = (alone, scenarios) => {
    const least = 2e-4 * alone.iteration_us;
    const rows = [{ what: alone.name, total: alone.iteration_us, scenario: alone }];
    let before = parts(alone, alone);
    let at = alone.iteration_us;
    for (const s of scenarios) {
      const into = scenarios.length > 1 ? `, ${s.name}` : "";
      const now = parts(alone, s);
      const changes = Object.keys(titles()).filter((key) => key !== "rest").map((key) => [key, number(now[key]) - number(before[key])]);
      const rest = s.iteration_us - at - changes.reduce((sum, [, us]) => sum + us, 0);
      let small = 0;
      for (const [key, us] of [...changes, ["rest", rest]]) {
        if (Math.abs(us) < least) small += us;
        else rows.push({ what: titles()[key] + into, us, key });
      }
      if (Math.abs(small) >= least / 4) rows.push({ what: `smaller ones${into}`, us: small, key: "small" });
      rows.push({ what: s.name, total: s.iteration_us, scenario: s });
      at = s.iteration_us;
      before = now;
    }
    return rows;
  };

  function draw(box, alone, scenarios) {
    const rows = switchfold.waterfallSteps(alone, scenarios);
    const unit = timeUnit(Math.max(...rows.map((r) => r.total ?? 0)));
    const ends = [];
    let at = 0;
    const values = rows.map((row, i) => {
      const from = row.total === undefined ? at : null;
      at = row.total ?? at + row.us;
      ends.push(at);
      const interval = row.scenario && row.scenario !== alone ? row.scenario.intervals?.speedup : null;
      const known = interval && interval.low > 0;
      return { order: i, what: row.what, from, to: at, us: row.total ?? row.us, kind: row.total !== undefined ? "a step" : row.us < 0 ? "less time" : "more time",
        label: row.total !== undefined ? time(at) : `${row.us < 0 ? "−" : "+"}${time(Math.abs(row.us), 3)}`,
        low: known ? alone.iteration_us / interval.high / unit.us : null, high: known ? alone.iteration_us / interval.low / unit.us : null };
    });
    // Steps are small beside the whole: the axis begins below the lowest of them.
    const span = Math.max(...ends) - Math.min(...ends);
    const begin = Math.max(0, Math.min(...ends) - 0.4 * span - 0.002 * Math.max(...ends));
    const end = Math.max(...ends) + 0.3 * span;
    for (const v of values) {
      v.left = Math.min(v.from ?? begin, v.to) / unit.us;
      v.right = Math.max(v.from ?? begin, v.to) / unit.us;
      v.place = Math.max(v.right, v.high === null ? 0 : Math.min(v.high, end / unit.us));
    }
    const y = { field: "order", type: "ordinal", title: null, axis: { labelExpr: `${JSON.stringify(rows.map((r) => r.what))}[datum.value]`, ticks: false, labelLimit: 260 }, scale: { paddingInner: 0.22 } };
    const x = (field, more = {}) => ({ field, type: "quantitative", title: `time of a step (${unit.name})${begin > 0 ? "; the axis does not begin at 0" : ""}`,
      scale: { domain: [begin / unit.us, end / unit.us], nice: false, zero: false }, axis: { tickCount: 8 }, ...more });
    const marks = values.filter((v) => v.kind === "a step" && v.low !== null);
    chart(box, `From ${alone.name} to ${scenarios.map((s) => s.name).join(" to ")}`, {
      width: 760, height: { step: 30 },
      layer: [
        { mark: { type: "bar" }, encoding: { y, x: x("left"), x2: { field: "right" },
          color: { field: "kind", type: "nominal", title: null, scale: { domain: ["a step", "more time", "less time"], range: ["#0072b2", "#d55e00", "#009e73"] }, legend: { orient: "top" } },
          tooltip: [{ field: "what" }, { field: "label", title: "time" }] } },
        ...(marks.length > 0 ? [{ data: { values: marks }, mark: { type: "errorbar", ticks: true, clip: true }, encoding: { y, x: x("low"), x2: { field: "high" } } }] : []),
        { mark: { type: "text", align: "left", dx: 6, tooltip: null }, encoding: { y, x: x("place"), text: { field: "label" } } },
      ],
    }, values, [{ title: "what", text: (v) => v.what }, { title: "time", text: (v) => v.label }, { title: "step then", text: (v) => time(v.to) },
      { title: "at least", text: (v) => (v.low === null ? "-" : time(v.low * unit.us)) }, { title: "at most", text: (v) => (v.high === null ? "-" : time(v.high * unit.us)) }]);
  }

  switchfold.waterfall = (scenarios) => {
    if (data.workload.told !== "steps") return;
    const steps = scenarios.filter((s) => s.iteration_us > 0 && !s.run_us && !s.workload);
    const serial = steps.filter((s) => !s.overlap);
    const overlapped = steps.filter((s) => s.overlap);
    if (serial.length === 0 || overlapped.length === 0) return;
    const box = section("From serial to overlapped to in-switch", "Overlap hides communication and slows kernels, by cause; the second scenario gives some of that back. " +
      "Whiskers: where 90 % of such steps lie if the first takes what it takes here, cut where the axis ends.");
    const controls = element("p", { class: "controls" });
    box.before(controls);
    const first = overlapped[0];
    const best = overlapped.filter((s) => s !== first).reduce((a, b) => (a === null || b.iteration_us < a.iteration_us ? b : a), null);
    const by = (name) => steps.find((s) => s.name === name);
    const redraw = () => {
      box.replaceChildren();
      draw(box, by(from.list.value), [by(over.list.value), ...(then.list.value === "none" ? [] : [by(then.list.value)])]);
    };
    const from = select("from", serial.map((s) => s.name), serial[0].name, redraw);
    const over = select("overlapped", overlapped.map((s) => s.name), first.name, redraw);
    const then = select("then", ["none", ...overlapped.map((s) => s.name)], best ? best.name : "none", redraw);
    controls.append(from.node, over.node, then.node);
    redraw();
  };
})();
