// SPDX-License-Identifier: Apache-2.0
// Runs on a many-core coprocessor or its host: what a step consists of, and how long each parallel region takes.
"use strict";
(() => {
  const { section, chart, time, factor } = switchfold;

  const PARTS = { work: "work", begin_and_end: "fork and last barrier", sums: "sums of gradients", bare: "transfers not hidden" };

  function parts(box, scenarios) {
    const sum = (s, key) => s.regions.reduce((all, region) => all + region[key], 0);
    const values = scenarios.flatMap((s) => Object.entries(PARTS).map(([key, what], order) =>
      ({ scenario: s.name, what, order, us: key === "bare" ? s.exposed_copies_us : sum(s, key) })));
    chart(box, "Parts of a step", {
      width: 640, height: { step: 24 },
      mark: "bar",
      encoding: {
        y: { field: "scenario", type: "nominal", sort: null, title: null },
        x: { field: "us", type: "quantitative", title: "time of a step (us)" },
        color: { field: "what", type: "nominal", sort: Object.values(PARTS), title: null }, order: { field: "order" },
        tooltip: [{ field: "scenario" }, { field: "what" }, { field: "us", type: "quantitative", format: ".5~g" }],
      },
    }, values, [{ title: "scenario", text: (v) => v.scenario }, { title: "part", text: (v) => v.what }, { title: "time", text: (v) => time(v.us) }]);
  }

  function regions(box, scenarios) {
    const values = scenarios.flatMap((s) => s.regions.map((region) => ({ scenario: s.name, region: region.name, us: region.time })));
    chart(box, "Parallel regions of a step", {
      width: 640, height: { step: 18 },
      mark: { type: "point", filled: true },
      encoding: {
        y: { field: "region", type: "nominal", sort: null, title: null },
        x: { field: "us", type: "quantitative", title: "time (us)", scale: { type: "log" } },
        color: { field: "scenario", type: "nominal", sort: null, title: "scenario" },
        tooltip: [{ field: "scenario" }, { field: "region" }, { field: "us", type: "quantitative", format: ".5~g" }],
      },
    }, values, [{ title: "scenario", text: (v) => v.scenario }, { title: "region", text: (v) => v.region }, { title: "time", text: (v) => time(v.us) }]);
  }

  switchfold.regions = (scenarios) => {
    const ran = scenarios.filter((s) => s.regions);
    if (ran.length === 0) return;
    const box = section("Parallel regions", "A step is one region a layer and direction, and an update. Work is that of the busiest cores.");
    parts(box, ran);
    regions(box, ran);
  };

  // The fastest scenario against the first without overlap.
  switchfold.regionsAnswer = (scenarios) => {
    const best = scenarios.reduce((a, b) => (b.samples_per_s > a.samples_per_s ? b : a));
    const baseline = scenarios.find((s) => !s.overlap);
    return `${best.name} is the fastest: a step takes ${time(best.iteration_us)}` +
      (baseline && baseline !== best ? `, ${factor(best.speedup)} as fast as ${baseline.name} (${time(baseline.iteration_us)}).` : ".");
  };
})();
