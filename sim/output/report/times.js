// SPDX-License-Identifier: Apache-2.0
// The time of each scenario and its speed-up, with whiskers where 90 % of such cases lie.
"use strict";
(() => {
  const { section, chart, time, timeUnit, factor } = switchfold;
  const known = (interval) => interval && interval.low !== null && interval.low !== undefined;

  // A bar a scenario. `values`: scenario, value, low and high, which may be null.
  function bars(box, title, axis, values, text, scale = {}) {
    const y = { field: "scenario", type: "nominal", sort: null, title: null };
    const x = (field) => ({ field, type: "quantitative", title: axis, ...scale });
    chart(box, title, {
      width: 520, height: { step: 34 },
      layer: [
        { mark: { type: "bar", opacity: 0.75 }, encoding: { y, x: x("value"),
          tooltip: [{ field: "scenario" }, ...["value", "low", "high"].map((field) => ({ field, type: "quantitative", format: ".5~g" }))] } },
        { transform: [{ filter: "datum.low !== null" }], mark: { type: "errorbar", ticks: true }, encoding: { y, x: x("low"), x2: { field: "high" } } },
      ],
    }, values, [{ title: "scenario", text: (v) => v.scenario }, { title: axis, text: (v) => text(v.value) },
      { title: "at least", text: (v) => (v.low === null ? "-" : text(v.low)) }, { title: "at most", text: (v) => (v.high === null ? "-" : text(v.high)) }]);
  }

  switchfold.times = (data, scenarios) => {
    const one = !data.workload.computes && scenarios.every((s) => s.collectives.length > 0);
    const of = (s) => (one ? { us: s.collectives[0].time_us, interval: s.collectives[0].intervals?.time_us } : { us: s.iteration_us, interval: s.intervals?.iteration_us });
    const all = scenarios.map((s) => ({ scenario: s.name, ...of(s) }));
    if (!all.some((v) => known(v.interval))) return;
    const unit = timeUnit(Math.max(...all.map((v) => v.us)));
    const what = one ? "time of the collective" : "iteration";
    const box = section(`The ${what}, and where 90 % of such cases lie`);
    bars(box, `The ${what} by scenario`, `${what} (${unit.name})`, all.map((v) => ({ scenario: v.scenario, value: v.us / unit.us,
      low: known(v.interval) ? v.interval.low / unit.us : null, high: known(v.interval) ? v.interval.high / unit.us : null })), (v) => time(v * unit.us));
    const faster = scenarios.filter((s) => s.speedup);
    if (faster.length > 1 && faster.some((s) => known(s.intervals?.speedup)))
      bars(box, "Speed-up by scenario", "speed-up over the first without overlap", faster.map((s) => ({ scenario: s.name, value: s.speedup,
        low: known(s.intervals?.speedup) ? s.intervals.speedup.low : null, high: known(s.intervals?.speedup) ? s.intervals.speedup.high : null })), factor);
  };
})();
