// SPDX-License-Identifier: Apache-2.0
// The report of a run: its answer, what slowed the backward pass and other phases, the worst stretch, use of the parts, kernels.
"use strict";
(() => {
  const { element, section, table, chart, time, size, percent, factor, begin, main } = switchfold;
  // The simulator's own list, with what charts call them.
  let causes = [];
  let causeNames = {};

  function collectiveAnswer(scenarios) {
    const all = scenarios.map((s) => ({ name: s.name, c: s.collectives[0] })).filter((x) => x.c);
    const best = all.reduce((a, b) => (b.c.time_us < a.c.time_us ? b : a), all[0]);
    const others = all.filter((x) => x !== best)
      .map((x) => `${(x.c.time_us / best.c.time_us).toFixed(2)} times as fast as ${x.name} (${time(x.c.time_us)})`);
    return `${best.name} takes ${time(best.c.time_us)} for ${size(best.c.size_bytes)} on ${best.c.ranks} GPUs` +
      (others.length ? `: ${others.join(", ")}.` : ".");
  }

  function trainingAnswer(scenarios) {
    const slowed = scenarios.filter((s) => s.overlap && s.backward_slowdown !== null);
    if (slowed.length === 0) return `An iteration takes ${time(scenarios[0].iteration_us)}.`;
    const first = slowed[0];
    const by = first.slowdown_by_cause;
    const worst = by && causes.filter((c) => c !== "other").reduce((a, b) => (by[b] > by[a] ? b : a));
    const low = first.backward_slowdown_low;
    let text = `Overlapped all-reduces (${first.name}) slow the backward pass by ` +
      (low === null || low === undefined ? "" : `${percent(low)} to `) + percent(first.backward_slowdown);
    if (worst && by[worst] > 0) text += `, most of it by ${causeNames[worst]} (${percent(by[worst])})`;
    const better = slowed.slice(1).reduce((a, b) => (a === null || b.backward_slowdown < a.backward_slowdown ? b : a), null);
    if (better) {
      const back = first.backward_slowdown - better.backward_slowdown;
      text += back > 0
        ? `; ${better.name} gives ${percent(back)} of it back, and an iteration takes ${time(better.iteration_us)} instead of ${time(first.iteration_us)},` +
          ` with ${better.communication_blocks.toFixed(1)} thread blocks of communication on the SMs instead of ${first.communication_blocks.toFixed(1)}`
        : `; ${better.name} gives nothing back`;
    }
    return text + ".";
  }

  function planAnswer(scenarios) {
    const first = scenarios[0];
    const best = scenarios.reduce((a, b) => (b.samples_per_s > a.samples_per_s ? b : a));
    let text = `${best.name} trains ${best.samples_per_s.toFixed(1)} samples a second`;
    if (best !== first)
      text += `, ${factor(best.samples_per_s / first.samples_per_s)} those of ${first.name} (${first.samples_per_s.toFixed(1)})`;
    return text + `; its bubble is ${percent(best.bubble_share)}` + (best === first ? "." : ` instead of ${percent(first.bubble_share)}.`);
  }

  // Of workloads that share a machine: who loses most to the others, and who nothing.
  function sharedAnswer(scenarios) {
    const worst = scenarios.reduce((a, b) => (b.lost_to_others > a.lost_to_others ? b : a));
    const free = scenarios.filter((s) => s.lost_to_others < 1e-3);
    if (free.length === scenarios.length) return "No workload loses anything to the others.";
    return `${worst.name} loses most to the others: an iteration takes ${time(worst.iteration_us)} instead of ` +
      `${time(worst.alone_us)}, ${percent(worst.lost_to_others)} longer.` +
      (free.length > 0 ? ` Nothing is lost in ${free.map((s) => s.name).join(", ")}.` : "");
  }

  // Of a loop of kernels beside a loop of collectives: by how much each slows the other.
  function loopsAnswer(scenarios) {
    const beside = scenarios.filter((s) => s.overlap);
    if (beside.length === 0) return "Nothing ran beside another.";
    const told = (s) => `${s.name} slows the kernel by ${percent(s.kernel_slowdown)} and is slowed by ${percent(s.collective_slowdown)}`;
    const first = beside[0];
    const best = beside.reduce((a, b) => (b.iteration_us < a.iteration_us ? b : a));
    return best === first ? `${told(first)}.` : `${told(first)}; ${told(best)}, and both end after ${time(best.iteration_us)}.`;
  }

  const loops = (data) => data.result.workload.type === "kernel_beside_collective";
  const onCoprocessor = (data) => data.result.workload.type === "many_core";

  function answer(data, scenarios) {
    if (onCoprocessor(data)) return switchfold.regionsAnswer(scenarios);
    if (data.result.workload.type === "shared") return sharedAnswer(scenarios);
    if (data.result.workload.type === "collective") return collectiveAnswer(scenarios);
    if (loops(data)) return loopsAnswer(scenarios);
    const pipelines = data.schedules.charts.some((chart) => chart.ranks.length > 1);
    return pipelines && scenarios.every((s) => s.samples_per_s !== null) ? planAnswer(scenarios) : trainingAnswer(scenarios);
  }

  const texts = { us: time, share: percent, factor, count: (v) => v?.toFixed(1) ?? "-" };

  // What is rare is left out where it is next to nothing, what not every workload has where none has it.
  const isShown = (f, s) => (f.shown_where_known ? s[f.shown_by] !== null : s[f.shown_by] > 1e-2 * s.iteration_us);
  const figuresOf = (data, scenarios) => data.figures
    .filter((f) => !f.shown_by || scenarios.some((s) => isShown(f, s)))
    .filter((f) => !f.of_gpus || !onCoprocessor(data))
    .sort((a, b) => a.place - b.place);

  function summary(data, scenarios) {
    const columns = [{ title: "scenario", text: (s) => s.name }];
    const together = scenarios.some((s) => s.with_ranks_together !== null);
    if (data.result.workload.type === "collective")
      columns.push(
        { title: "algorithm", text: (s) => s.collectives[0]?.algorithm ?? "-" },
        { title: "protocol", text: (s) => s.collectives[0]?.protocol ?? "-" },
        { title: "time", text: (s) => time(s.collectives[0]?.time_us) },
        { title: "bus GB/s", text: (s) => (s.collectives[0]?.bus_bandwidth_GBps ?? 0).toFixed(1) });
    else if (loops(data))
      columns.push(...data.loop_figures.map((f) => ({
        title: f.title, text: (s) => (f.decimals === 0 ? s[f.key]?.toFixed(0) ?? "-" : texts[f.unit](s[f.key])),
      })));
    else
      columns.push(
        ...figuresOf(data, scenarios).map((f) => ({ title: f.title, text: (s) => texts[f.unit](s[f.key]) })),
        ...(scenarios.some((s) => s.slowdown_by_cause) ? causes : []).map((c) => ({ title: c, text: (s) => percent(s.slowdown_by_cause?.[c]) })),
        ...(together ? [{ title: "iteration, all ranks together", text: (s) => time(s.with_ranks_together?.iteration_us) },
          { title: "slowdown, all ranks together", text: (s) => percent(s.with_ranks_together?.backward_slowdown) }] : []));
    main.append(element("div", { class: "wide", tabindex: "0" }, table(scenarios, columns)));
    for (const s of scenarios)
      if (s.set) {
        const sets = Object.entries(s.set).map(([pointer, value]) => `${pointer} = ${JSON.stringify(value)}`).join(", ");
        const ranks = s.workload && !onCoprocessor(data) ? `${s.workload.ranks} rank${s.workload.ranks === 1 ? "" : "s"}, ` : "";
        const own = s.workload ? `: ${ranks}${s.workload.source}` : "";
        main.append(element("p", { class: "note" }, `${s.name} sets ${sets}${own}`));
      }
    for (const note of data.result.workload.notes) main.append(element("p", { class: "note" }, note));
  }

  // Of the backward pass always, of the others where a scenario's is visibly slowed.
  function causeChart(scenarios, part) {
    const by = scenarios.map((s) => ({ name: s.name, causes: part.key === "backward" ? s.slowdown_by_cause : s.causes_by_phase?.[part.key], slowdown: s[`${part.key}_slowdown`] }));
    if (part.key !== "backward" && !by.some((s) => s.causes && s.slowdown >= 5e-3)) return;
    const values = by.flatMap((s) => (s.causes
      ? causes.map((c, i) => ({ scenario: s.name, cause: causeNames[c], order: i, share: s.causes[c] })) : []))
      .filter((v) => Math.abs(v.share) > 5e-4);
    if (values.length === 0) return;
    chart(section(`What slows the ${part.title}`), `Slowdown of the ${part.title} by cause`, {
      width: 640, height: { step: 42 },
      mark: "bar",
      encoding: {
        y: { field: "scenario", type: "nominal", sort: null, title: null },
        x: { field: "share", type: "quantitative", title: `slowdown of the ${part.title} (%)`, axis: { format: ".1~%" } },
        color: { field: "cause", type: "nominal", title: "cause", sort: null }, order: { field: "order" },
        tooltip: [{ field: "scenario" }, { field: "cause" }, { field: "share", type: "quantitative", format: ".2%" }],
      },
    }, values, [{ title: "scenario", text: (v) => v.scenario }, { title: "cause", text: (v) => v.cause }, { title: "share", text: (v) => percent(v.share) }]);
  }

  function stretchChart(data) {
    if (data.stretch.bars.length === 0) return;
    const box = section("The stretch that lost most",
      `${time(data.stretch.end_us - data.stretch.start_us)} of rank ${data.stretch.rank} in ${data.stretch.scenario}, in which kernels lost ${time(data.stretch.lost_us)} to what ran beside them.`);
    chart(box, "Kernels and collectives of the worst stretch", {
      width: 960, height: { step: 30 },
      // A collective has no slowdown: it keeps its bar, in a colour of its own.
      mark: { type: "bar", stroke: "#00000044", strokeWidth: 0.5, invalid: null },
      encoding: {
        x: { field: "start_us", type: "quantitative", title: "time (us)", scale: { zero: false, nice: false } },
        x2: { field: "end_us" },
        y: { field: "track", type: "nominal", title: null, sort: null },
        color: { condition: { test: "datum.slowdown === null", value: "#56b4e9" },
          field: "slowdown", type: "quantitative", title: "slowdown", legend: { format: ".0%" },
          scale: { scheme: "orangered", domainMin: 0 } },
        tooltip: [{ field: "name" }, { field: "start_us", type: "quantitative", format: ".2f" },
          { field: "duration_us", type: "quantitative", format: ".2f" }, { field: "slowdown", type: "quantitative", format: ".1%" }],
      },
    }, data.stretch.bars, [{ title: "name", text: (b) => b.name }, { title: "start", text: (b) => time(b.start_us) },
      { title: "takes", text: (b) => time(b.duration_us) }, { title: "slowdown", text: (b) => percent(b.slowdown) }]);
  }

  function counterCharts(data) {
    if (data.counters.length === 0) {
      section("Use over time", "Was not sampled: run with --timeline to have it here.");
      return;
    }
    const box = section("Use over time, rank 0");
    for (const track of new Set(data.counters.map((c) => c.track))) {
      const values = data.counters.filter((c) => c.track === track);
      chart(box, track, {
        width: 500, height: 160, mark: { type: "line", interpolate: "step-after", strokeWidth: 1 },
        encoding: {
          x: { field: "time_us", type: "quantitative", title: "time (us)" },
          y: { field: "value", type: "quantitative", title: track },
          color: { field: "scenario", type: "nominal", title: "scenario", sort: null },
          tooltip: [{ field: "scenario" }, { field: "time_us", type: "quantitative", format: ".1f" }, { field: "value", type: "quantitative", format: ".4~g" }],
        },
      }, values, [{ title: "scenario", text: (v) => v.scenario }, { title: "time", text: (v) => time(v.time_us) }, { title: track, text: (v) => String(v.value) }]);
    }
  }

  function partChart(data, scenarios) {
    const values = scenarios.flatMap((s) => ["links", "reduction_units", "gpus", "memory"].flatMap((kind) =>
      (s[kind] || []).filter((part) => part.utilization !== undefined)
        .map((part) => ({ scenario: s.name, kind: kind.replace("_", " "), part: part.name, use: part.utilization }))));
    if (values.length === 0) return;
    chart(section("How busy the parts were, of the whole run"), "Share of the time that parts were busy", {
      width: 900, height: { step: 26 },
      mark: { type: "tick", thickness: 2 },
      encoding: {
        x: { field: "use", type: "quantitative", title: "busy (%)", axis: { format: ".0%" } },
        y: { field: "scenario", type: "nominal", sort: null, title: null },
        row: { field: "kind", type: "nominal", title: null },
        tooltip: [{ field: "part" }, { field: "scenario" }, { field: "use", type: "quantitative", format: ".1%" }],
      },
    }, values, [{ title: "part", text: (v) => v.part }, { title: "scenario", text: (v) => v.scenario }, { title: "busy", text: (v) => percent(v.use) }]);
  }

  function rooflineChart(data) {
    const values = data.kernels.filter((k) => k.flops > 0 && k.bytes > 0)
      .map((k) => ({ ...k, intensity: k.flops / k.bytes, gflops: k.flops / k.isolated_us / 1e3 }));
    if (values.length === 0) return;
    const xs = values.map((v) => v.intensity);
    const roof = [Math.min(...xs), Math.max(...xs)].map((x) => ({ intensity: x, gflops: x * data.memory_GBps }));
    const box = section("Roofline of the kernels", "Each point is all kernels of one name, alone on the GPU. The line is the memory's peak bandwidth times the intensity; kernels above it find part of their bytes in the L2.");
    chart(box, "Rate against arithmetic intensity", {
      width: 700, height: 380,
      layer: [
        { data: { values: roof }, mark: { type: "line", strokeDash: [6, 3], color: "#8c8c8c" },
          encoding: { x: { field: "intensity", type: "quantitative" }, y: { field: "gflops", type: "quantitative" } } },
        { mark: { type: "point", filled: true, opacity: 0.7 },
          encoding: {
            x: { field: "intensity", type: "quantitative", scale: { type: "log" }, title: "arithmetic intensity (FLOP/B)" },
            y: { field: "gflops", type: "quantitative", scale: { type: "log" }, title: "rate (GFLOP/s)" },
            size: { field: "isolated_us", type: "quantitative", title: "time alone (us)" },
            color: { field: "class", type: "nominal", title: "class" },
            tooltip: [{ field: "name" }, { field: "kernels" }, { field: "isolated_us", type: "quantitative", format: ".5~g" },
              { field: "intensity", type: "quantitative", format: ".3~g" }, { field: "gflops", type: "quantitative", format: ".4~g" }],
          } },
      ],
    }, values, [{ title: "kernel", text: (k) => k.name }, { title: "class", text: (k) => k.class }, { title: "time alone", text: (k) => time(k.isolated_us) },
      { title: "FLOP/B", text: (k) => k.intensity.toPrecision(3) }, { title: "GFLOP/s", text: (k) => k.gflops.toPrecision(4) }]);
  }

  switchfold.kinds.run = (data) => {
    const { result } = data;
    const scenarios = result.scenarios;
    causes = data.causes.map((c) => c.key);
    causeNames = Object.fromEntries(data.causes.map((c) => [c.key, c.title]));
    summary(data, scenarios);
    for (const part of data.slowed) causeChart(scenarios, part);
    switchfold.schedules(data, scenarios);
    switchfold.memory(data, scenarios);
    switchfold.learning(scenarios);
    switchfold.members(scenarios);
    switchfold.regions(scenarios);
    if (!onCoprocessor(data)) {
      stretchChart(data);
      counterCharts(data);
    }
    partChart(data, scenarios);
    rooflineChart(data);
    begin(result.experiment, answer(data, scenarios));
    main.append(element("p", { class: "note" }, `switchfold ${result.version}, configuration ${result.config_digest}` +
      (result.workload.synthetic ? "; the workload is made up, no real run is behind it" : "")));
  };
})();
