// SPDX-License-Identifier: Apache-2.0
// Runs in which members come and go: how many train and what they reach over time, and what each change cost.
"use strict";
(() => {
  const { section, chart, significant } = switchfold;

  const seconds = (s) => (s === 0 ? "0" : s < 1 ? `${significant(s * 1e3, 3)} ms` : `${significant(s, 4)} s`);

  function over_time(box, runs, title, axis, of) {
    // A step of the line at the begin and at the end of each stretch.
    const values = runs.flatMap((s) => s.run.stretches.flatMap((stretch) =>
      [stretch.begin_s, stretch.end_s].map((at) => ({ scenario: s.name, s: at, value: of(stretch), kind: stretch.kind }))));
    chart(box, title, {
      width: 720, height: 200,
      mark: { type: "line", interpolate: "step-after", strokeWidth: 1.5 },
      encoding: {
        x: { field: "s", type: "quantitative", title: "time of the run (s)" },
        y: { field: "value", type: "quantitative", title: axis },
        color: { field: "scenario", type: "nominal", sort: null, title: null },
        tooltip: [{ field: "scenario" }, { field: "s", type: "quantitative", format: ".6~g" }, { field: "value", type: "quantitative", format: ".4~g" }, { field: "kind" }],
      },
    }, values, [{ title: "scenario", text: (v) => v.scenario }, { title: "s", text: (v) => significant(v.s, 6) },
      { title: axis, text: (v) => significant(v.value, 4) }, { title: "what", text: (v) => v.kind }]);
  }

  function costs(box, runs) {
    const values = runs.flatMap((s) => s.run.changes.flatMap((c, i) => [["pause", c.pause_s], ["time to size", c.time_to_size_s]]
      .filter(([, value]) => value > 0).map(([what, value]) =>
        ({ scenario: s.name, change: `${i + 1}: ${c.method} ${c.members_before} to ${c.members_after}`, what, value, lost: c.gpu_seconds_lost }))));
    if (values.length === 0) return;
    chart(box, "Pause of the old members and time to the new size", {
      width: 360,
      mark: { type: "point", filled: true, size: 60 },
      encoding: {
        x: { field: "value", type: "quantitative", title: "seconds", scale: { type: "log" } },
        y: { field: "change", type: "nominal", sort: null, title: null },
        color: { field: "scenario", type: "nominal", sort: null, title: null }, shape: { field: "what", type: "nominal", title: null },
        tooltip: [{ field: "scenario" }, { field: "change" }, { field: "what" }, { field: "value", type: "quantitative", format: ".4~g" }],
      },
    }, values, [{ title: "scenario", text: (v) => v.scenario }, { title: "change", text: (v) => v.change }, { title: "what", text: (v) => v.what },
      { title: "time", text: (v) => seconds(v.value) }, { title: "GPU-seconds lost", text: (v) => significant(v.lost, 4) }]);
  }

  switchfold.members = (scenarios) => {
    const runs = scenarios.filter((s) => s.run);
    if (runs.length === 0) return;
    const box = section("Members over time", "A run over many steps in which GPUs come and go. Steps between changes repeat one simulated step.");
    over_time(box, runs, "Members", "GPUs", (stretch) => stretch.members);
    over_time(box, runs, "Throughput", "samples a second", (stretch) => stretch.samples_per_s);
    costs(box, runs);
  };
})();
