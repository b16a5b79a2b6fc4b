// SPDX-License-Identifier: Apache-2.0
// The report of a run: its answer, what slowed the backward pass and other phases, the worst stretch, use of the parts, kernels.
"use strict";
(() => {
  const { element, section, table, chart, time, timeUnit, size, percent, percentLabel, factor, begin, main, significant } = switchfold;
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

  // Which scenario is fastest, by samples where they are known, and by how much communication beside it slows the backward
  // pass of the first scenario that overlaps, and of the one that it slows least.
  function trainingAnswer(scenarios) {
    const sampled = scenarios.every((s) => s.samples_per_s);
    const pace = (s) => (sampled ? 1 / s.samples_per_s : s.iteration_us);
    const first = scenarios[0];
    const best = scenarios.reduce((a, b) => (pace(b) < pace(a) ? b : a));
    // Iterations of more ranks or samples do not compare by their times.
    const samples = (s) => s.samples_per_s * s.iteration_us;
    const alike = !sampled || Math.abs(samples(best) / samples(first) - 1) < 1e-3;
    let text = best === first
      ? `An iteration${scenarios.length > 1 ? ` of ${first.name}` : ""} takes ${time(first.iteration_us)}` + (scenarios.length > 1 ? ", and none is faster" : "")
      : alike
        ? `${best.name} is fastest: an iteration takes ${time(best.iteration_us)}, ${factor(pace(first) / pace(best))} the pace of ${first.name} (${time(first.iteration_us)})`
        : `${best.name} is fastest: ${best.samples_per_s.toFixed(1)} samples a second, ${factor(pace(first) / pace(best))} those of ${first.name} (${first.samples_per_s.toFixed(1)})`;
    const slowed = scenarios.filter((s) => s.overlap && s.backward_slowdown > 5e-3);
    if (slowed.length === 0) return text + ".";
    const told = (s) => {
      const by = s.slowdown_by_cause;
      const worst = by && causes.filter((c) => c !== "other").reduce((a, b) => (by[b] > by[a] ? b : a));
      const low = s.backward_slowdown_low;
      const [least, most] = [percent(low), percent(s.backward_slowdown)];
      const range = low === null || low === undefined || least === most ? most : `${least} to ${most}`;
      return `${range} in ${s.name}` + (worst && by[worst] > 0 ? `, most of it by ${causeNames[worst]} (${percent(by[worst])})` : "");
    };
    text += `. What runs beside it slows the backward pass by ${told(slowed[0])}`;
    const overlapped = scenarios.filter((s) => s.overlap && s.backward_slowdown > 5e-4);  // others have nothing beside it
    const least = overlapped.reduce((a, b) => (b.backward_slowdown < a.backward_slowdown ? b : a));
    return text + (least === slowed[0] ? "." : `; least in ${least.name}, by ${percent(least.backward_slowdown)}.`);
  }

  // Of runs in which members come and go: which trains most, and what each loses.
  function membersAnswer(scenarios) {
    const runs = scenarios.filter((s) => s.run_us);
    const best = runs.reduce((a, b) => (b.samples_per_s > a.samples_per_s ? b : a));
    const worst = runs.reduce((a, b) => (b.samples_per_s < a.samples_per_s ? b : a));
    const told = (s) => `${s.samples_per_s.toFixed(1)} samples a second over ${time(s.run_us)}, ${percent(s.run_training)} of the time in training that counts`;
    const lost = (s) => [[s.run_paused_us, "paused"], [s.run_checkpoints_us, "for checkpoints"], [s.run_lost_us, "done again"]]
      .filter(([us]) => us > 0).map(([us, what]) => `${time(us)} ${what}`).join(", ") || "nothing lost";
    return `${best.name} trains ${told(best)} (${lost(best)})` +
      (worst === best ? "." : `; ${worst.name} trains least, ${told(worst)} (${lost(worst)}).`);
  }

  // Of scenarios along which a small network is trained: who reaches the target first, otherwise the least loss.
  function learningAnswer(scenarios) {
    const learned = scenarios.filter((s) => s.learning);
    const reached = learned.filter((s) => s.time_to_target_us !== null);
    const text = (s) => `${s.name} reaches the target after ${time(s.time_to_target_us)} and ${s.steps_to_target.toFixed(1)} steps of ${time(s.iteration_us)}`;
    if (reached.length > 0) {
      const best = reached.reduce((a, b) => (b.time_to_target_us < a.time_to_target_us ? b : a));
      const first = reached[0];
      return text(best) + (best === first ? (reached.length > 1 ? ", before all others." : ".") : `; ${text(first)}.`);
    }
    const ended = learned.filter((s) => s.final_loss !== null);
    if (ended.length === 0) return "Every scenario diverged with some seed.";
    const best = ended.reduce((a, b) => (b.final_loss < a.final_loss ? b : a));
    const same = ended.filter((s) => s.final_loss === best.final_loss);
    return same.length === ended.length && ended.length > 1
      ? `All scenarios end at the same loss, ${significant(best.final_loss, 4)}; a step of ${best.name} takes ${time(best.iteration_us)}.`
      : `${best.name} ends at the least loss, ${significant(best.final_loss, 4)}, with steps of ${time(best.iteration_us)}.`;
  }

  // Of an exchange of tokens: the library whose dispatch, or only exchange, is fastest.
  function expertsAnswer(scenarios) {
    const all = scenarios.map((s) => ({ name: s.name, us: s.exchange_us, rate: s.collectives[0]?.algorithm_bandwidth_GBps ?? 0 }));
    const best = all.reduce((a, b) => (b.us < a.us ? b : a));
    const others = all.filter((x) => x !== best).map((x) => `${(x.us / best.us).toFixed(2)} times as fast as ${x.name} (${time(x.us)})`);
    return `${best.name} exchanges in ${time(best.us)}, the first at ${best.rate.toFixed(1)} GB/s` + (others.length ? `: ${others.join(", ")}.` : ".");
  }

  function planAnswer(scenarios) {
    const first = scenarios[0];
    const best = scenarios.reduce((a, b) => (b.samples_per_s > a.samples_per_s ? b : a));
    let text = `${best.name} trains ${best.samples_per_s.toFixed(1)} samples a second`;
    if (best !== first)
      text += `, ${factor(best.samples_per_s / first.samples_per_s)} those of ${first.name} (${first.samples_per_s.toFixed(1)})`;
    const [bubble, before] = [best, first].map((s) => percent(s.bubble_share));
    return text + (best === first ? `; its bubble is ${bubble}.` : bubble === before ? "." : `; its bubble is ${bubble} instead of ${before}.`);
  }

  // Of workloads that share a machine: who loses most to the others, and who nothing.
  function sharedAnswer(scenarios) {
    const worst = scenarios.reduce((a, b) => (b.lost_to_others > a.lost_to_others ? b : a));
    const free = scenarios.filter((s) => s.lost_to_others < 1e-3);
    if (free.length === scenarios.length) return `Of ${scenarios.map((s) => s.name).join(", ")}, none loses anything to the others.`;
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

  // By what the kind of workload tells first.
  const answers = {
    collective: collectiveAnswer, exchanges: expertsAnswer, loops: loopsAnswer, sharing: sharedAnswer,
    regions: (scenarios) => switchfold.regionsAnswer(scenarios),
  };

  function answer(data, scenarios) {
    const ofKind = answers[data.workload.told];
    if (ofKind) return ofKind(scenarios);
    if (scenarios.some((s) => s.run_us)) return membersAnswer(scenarios);
    if (scenarios.some((s) => s.learning)) return learningAnswer(scenarios);
    const pipelines = data.schedules.charts.some((chart) => chart.ranks.length > 1);
    return pipelines && scenarios.every((s) => s.samples_per_s !== null) ? planAnswer(scenarios) : trainingAnswer(scenarios);
  }

  const texts = { us: time, share: percent, factor, bytes: size, count: (v) => v?.toFixed(1) ?? "-" };
  // Of a figure in a table; what has many decimals is no count, and of any size.
  const textOf = (f, decimals = 1) => (s) => {
    const value = s[f.key];
    if (value === null || value === undefined) return "-";
    if (f.unit === "share" && decimals > 1) return `${(value * 100).toFixed(decimals)} %`;
    if (f.unit !== "count") return texts[f.unit](value);
    return f.decimals > 3 ? significant(value, 4) : value.toFixed(Math.min(f.decimals, 1));
  };

  // "(5.9 to 7.0 ms)": the unit once where both ends have the same.
  const rangeText = (low, high) => {
    const unit = high.match(/[^0-9.]*$/)[0];
    return ` (${unit && low.endsWith(unit) ? low.slice(0, -unit.length) : low} to ${high})`;
  };
  // The same with the interval in which 90 % of such cases lie, if there is one.
  const withInterval = (f, text) => (s) => {
    const interval = s.intervals?.[f.key];
    if (!interval || interval.low === null) return text(s);
    const [low, high] = [interval.low, interval.high].map((value) => text({ [f.key]: value }));
    return low === high && low === text(s) ? low : text(s) + rangeText(low, high);
  };

  // What is rare is left out where it is next to nothing, what not every workload has where none has it.
  const isShown = (f, s) => (f.shown_where_known ? s[f.shown_by] !== null : s[f.shown_by] > 1e-2 * s.iteration_us);
  const figuresOf = (data, scenarios) => data.figures
    .filter((f) => !f.shown_by || scenarios.some((s) => isShown(f, s)))
    .filter((f) => !f.of_gpus || data.workload.on_gpus)
    .filter((f) => data.run_figures.length === 0 || (!f.pace && !data.run_figures.some((above) => above.key === f.key)))
    .sort((a, b) => a.place - b.place);
  const columnsOf = (figures, decimals) => figures.map((f) => ({ title: f.title, text: withInterval(f, textOf(f, decimals)) }));
  // Likewise of a value of the first collective.
  const ofCollective = (key, text) => (s) => {
    const c = s.collectives[0];
    const interval = c?.intervals?.[key];
    return text(c?.[key]) + (interval && interval.low !== null ? rangeText(text(interval.low), text(interval.high)) : "");
  };
  const rateText = (value) => (value ?? 0).toFixed(1);

  function wide(scenarios, columns) {
    main.append(element("div", { class: "wide", tabindex: "0" }, table(scenarios, columns)));
  }

  // What intervals rest on: those of a scenario's time, which is of all its parts.
  function basesOf(scenarios) {
    const bases = new Map();
    for (const s of scenarios) {
      const basis = (s.collectives[0]?.intervals?.time_us ?? s.intervals?.iteration_us)?.like;
      if (basis) bases.set(basis, [...(bases.get(basis) || []), s.name]);
    }
    return bases;
  }

  // Of the workload and of scenarios; what all scenarios note is there once.
  function notesOf(workload, scenarios) {
    const notes = [...workload.notes];
    for (const s of scenarios)
      for (const note of s.workload?.notes ?? []) if (!workload.notes.includes(note)) notes.push(`${s.name}: ${note}`);
    for (const [i, s] of scenarios.entries())
      for (const note of s.notes)
        if (!scenarios.every((other) => other.notes.includes(note))) notes.push(`${s.name}: ${note}`);
        else if (i === 0) notes.push(note);
    return notes;
  }

  function summary(data, scenarios) {
    const columns = [{ title: "scenario", text: (s) => s.name }];
    const together = scenarios.some((s) => s.with_ranks_together !== null);
    if (data.workload.told === "collective")
      columns.push(
        { title: "algorithm", text: (s) => s.collectives[0]?.algorithm ?? "-" },
        { title: "protocol", text: (s) => s.collectives[0]?.protocol ?? "-" },
        { title: "time", text: ofCollective("time_us", time) },
        { title: "bus GB/s", text: ofCollective("bus_bandwidth_GBps", rateText) });
    else if (data.workload.told === "exchanges")
      columns.push(
        { title: "library", text: (s) => s.collectives[0]?.algorithm ?? "-" },
        { title: "SMs", text: (s) => String(s.collectives[0]?.channels ?? "-") },
        { title: "time of all exchanges", text: (s) => time(s.exchange_us) },
        { title: "GB/s of the first", text: ofCollective("algorithm_bandwidth_GBps", rateText) });
    else if (data.workload.told === "loops")
      columns.push(...columnsOf(data.loop_figures));
    else
      columns.push(
        ...columnsOf(figuresOf(data, scenarios)),
        ...causes.filter((c) => scenarios.some((s) => Math.abs(s.slowdown_by_cause?.[c] ?? 0) >= 5e-4)).map((c) => ({ title: c, text: (s) => percent(s.slowdown_by_cause?.[c]) })),
        ...(together ? [{ title: "iteration, all ranks together", text: (s) => time(s.with_ranks_together?.iteration_us) },
          { title: "slowdown, all ranks together", text: (s) => percent(s.with_ranks_together?.backward_slowdown) }] : []));
    if (data.run_figures.length > 0) {
      wide(scenarios, [columns[0], ...columnsOf(data.run_figures, 2)]);
      main.append(element("p", { class: "note" }, "Of the whole run; the next table is of one step."));
    }
    wide(scenarios, columns);
    for (const s of scenarios)
      if (s.set) {
        const sets = Object.entries(s.set).map(([pointer, value]) => `${pointer} = ${JSON.stringify(value)}`).join(", ");
        const ranks = s.workload && data.workload.has_ranks ? `${s.workload.ranks} rank${s.workload.ranks === 1 ? "" : "s"}, ` : "";
        const own = s.workload ? `: ${ranks}${s.workload.source}` : "";
        main.append(element("p", { class: "note" }, `${s.name} sets ${sets}${own}`));
      }
    for (const [basis, names] of basesOf(scenarios))
      main.append(element("p", { class: "note" }, `Intervals${names.length < scenarios.length ? ` of ${names.join(", ")}` : ""}: ` +
        (basis.startsWith("unmeasured") ? "" : "90 % of ") + basis));
    for (const note of notesOf(data.result.workload, scenarios)) main.append(element("p", { class: "note" }, note));
  }

  // Of the backward pass always, of the others where a scenario's is visibly slowed.
  function causeChart(scenarios, part) {
    const by = scenarios.map((s) => ({ name: s.name, causes: part.key === "backward" ? s.slowdown_by_cause : s.causes_by_phase?.[part.key], slowdown: s[`${part.key}_slowdown`] }));
    if (part.key !== "backward" && !by.some((s) => s.causes && s.slowdown >= 5e-3)) return;
    const values = by.flatMap((s) => (s.causes
      ? causes.map((c, i) => ({ scenario: s.name, cause: causeNames[c], order: i, share: s.causes[c] })) : []))
      .filter((v) => Math.abs(v.share) > 5e-4);
    if (values.length === 0) return;
    const whiskers = scenarios.map((s) => ({ scenario: s.name, ...s.intervals?.[`${part.key}_slowdown`] }))
      .filter((w) => typeof w.low === "number" && w.high > w.low && values.some((v) => v.scenario === w.scenario));
    const y = { field: "scenario", type: "nominal", sort: null, title: null };
    const title = `slowdown of the ${part.title} (%)`;
    const bars = {
      mark: "bar",
      encoding: {
        y, x: { field: "share", type: "quantitative", title, axis: { labelExpr: percentLabel } },
        color: { field: "cause", type: "nominal", title: "cause", sort: null }, order: { field: "order" },
        tooltip: [{ field: "scenario" }, { field: "cause" }, { field: "share", type: "quantitative", format: ".2%" }],
      },
    };
    chart(section(`What slows the ${part.title}`), `Slowdown of the ${part.title} by cause`, {
      width: 640, height: { step: 42 },
      layer: [bars, ...(whiskers.length === 0 ? [] : [{ data: { values: whiskers }, mark: { type: "errorbar", ticks: true },
        encoding: { y, x: { field: "low", type: "quantitative", title, axis: { labelExpr: percentLabel } }, x2: { field: "high" } } }])],
    }, values, [{ title: "scenario", text: (v) => v.scenario }, { title: "cause", text: (v) => v.cause }, { title: "share", text: (v) => percent(v.share) }]);
  }

  function stretchChart(data) {
    // Where nothing runs beside kernels, what they lost is a rounding of picoseconds.
    if (!data.stretch.bars.some((bar) => bar.slowdown !== null) || data.stretch.lost_us < 1e-3 * (data.stretch.end_us - data.stretch.start_us)) return;
    const box = section("The stretch that lost most",
      `Kernels that begin within ${time(data.stretch.end_us - data.stretch.start_us)} of rank ${data.stretch.rank} in ${data.stretch.scenario} lost ${time(data.stretch.lost_us)} to what ran beside them.`);
    chart(box, "Kernels and collectives of the worst stretch", {
      width: 960, height: { step: 30 },
      // A collective has no slowdown: it keeps its bar, in a colour of its own.
      mark: { type: "bar", stroke: "#00000044", strokeWidth: 0.5, invalid: null },
      encoding: {
        x: { field: "start_us", type: "quantitative", title: "time (us)", scale: { zero: false, nice: false } },
        x2: { field: "end_us" },
        y: { field: "track", type: "nominal", title: null, sort: null },
        color: { condition: { test: "datum.slowdown === null", value: "#56b4e9" },
          field: "slowdown", type: "quantitative", title: "slowdown", legend: { labelExpr: percentLabel },
          scale: { scheme: "orangered", domainMin: 0 } },
        tooltip: [{ field: "name" }, { field: "start_us", type: "quantitative", format: ".2f" },
          { field: "duration_us", type: "quantitative", format: ".2f" }, { field: "slowdown", type: "quantitative", format: ".1%" }],
      },
    }, data.stretch.bars, [{ title: "name", text: (b) => b.name }, { title: "start", text: (b) => time(b.start_us) },
      { title: "takes", text: (b) => time(b.duration_us) }, { title: "slowdown", text: (b) => percent(b.slowdown) }]);
  }

  function counterCharts(data) {
    if (data.counters.length === 0) {
      section("Use over time", "Was not sampled, because the run is long: run with --timeline to have it, the map and the timelines here.");
      return;
    }
    const box = section("Use over time, rank 0");
    for (const track of new Set(data.counters.map((c) => c.track))) {
      const values = data.counters.filter((c) => c.track === track);
      if (values.every((c) => c.value === 0)) continue;
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
        x: { field: "use", type: "quantitative", title: "busy (%)", axis: { labelExpr: percentLabel } },
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
      { title: "FLOP/B", text: (k) => significant(k.intensity, 3) }, { title: "GFLOP/s", text: (k) => significant(k.gflops, 4) }]);
  }

  switchfold.kinds.run = (data) => {
    const { result } = data;
    const scenarios = result.scenarios;
    causes = data.causes.map((c) => c.key);
    causeNames = Object.fromEntries(data.causes.map((c) => [c.key, c.title]));
    summary(data, scenarios);
    switchfold.times(data, scenarios);
    switchfold.waterfall(scenarios);
    for (const part of data.slowed) causeChart(scenarios, part);
    if (data.workload.on_gpus) {
      switchfold.map();
      switchfold.timelines();
    }
    switchfold.schedules(data, scenarios);
    switchfold.memory(data, scenarios);
    switchfold.learning(scenarios);
    switchfold.members(scenarios);
    switchfold.regions(scenarios);
    if (data.workload.on_gpus) {
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
