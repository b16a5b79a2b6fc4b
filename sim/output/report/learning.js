// SPDX-License-Identifier: Apache-2.0
// What the schedule does to the loss: against steps, against simulated time, and how far weights are from their target.
"use strict";
(() => {
  const { section, chart, significant } = switchfold;

  function curves(box, title, values, field, axis) {
    const x = { field, type: "quantitative", title: axis };
    const color = { field: "scenario", type: "nominal", sort: null, title: null, legend: { symbolOpacity: 1 } };
    const loss = { type: "quantitative", title: "loss (mean and 95 % interval of the seeds)", scale: { type: "log" } };
    chart(box, title, {
      width: 520, height: 320,
      layer: [
        { mark: { type: "area", opacity: 0.1, clip: true }, encoding: { x, color, y: { field: "low", ...loss }, y2: { field: "high" } } },
        { mark: { type: "line", clip: true },
          encoding: { x, color, y: { field: "loss", ...loss },
            tooltip: [{ field: "scenario" }, { field: "step" }, { field: "ms", type: "quantitative", format: ".4~g" },
              { field: "loss", type: "quantitative", format: ".4~g" }] } },
      ],
    }, values, [{ title: "scenario", text: (v) => v.scenario }, { title: "step", text: (v) => String(v.step) },
      { title: "ms", text: (v) => significant(v.ms, 4) }, { title: "loss", text: (v) => significant(v.loss, 4) }]);
  }

  function distances(box, learned) {
    const values = learned.flatMap((s) => s.learning.stages.flatMap((stage, i) => {
      const { used, stale } = stage.rmse_forward_to_batch_order;
      return stale > 0 ? [{ scenario: s.name, stage: i, weights: "seen", rmse: used }, { scenario: s.name, stage: i, weights: "current", rmse: stale }] : [];
    }));
    if (values.length === 0) return;
    chart(box, "Distance of a forward's weights from those of sequential training", {
      width: 150, height: 180,
      mark: { type: "point", filled: true, size: 60 },
      encoding: {
        x: { field: "stage", type: "ordinal", title: "stage" },
        y: { field: "rmse", type: "quantitative", title: "root-mean-square distance" },
        color: { field: "weights", type: "nominal", title: "weights" }, shape: { field: "weights", type: "nominal", title: "weights" },
        column: { field: "scenario", type: "nominal", sort: null, title: null },
        tooltip: [{ field: "scenario" }, { field: "stage" }, { field: "weights" }, { field: "rmse", type: "quantitative", format: ".3~g" }],
      },
    }, values, [{ title: "scenario", text: (v) => v.scenario }, { title: "stage", text: (v) => String(v.stage) },
      { title: "weights", text: (v) => v.weights }, { title: "distance", text: (v) => significant(v.rmse, 3) }]);
  }

  // Ratios to the same seeds of another scenario; the interval has 1 where the two do not differ.
  function comparisons(box, learned) {
    const kinds = [["final loss", "loss_ratio"], ["steps to target", "steps_ratio"], ["time to target", "seconds_ratio"]];
    const values = learned.filter((s) => s.learning.comparison).flatMap((s) => kinds.flatMap(([of, key]) => {
      const ratio = s.learning.comparison[key];
      if (!ratio) return [];
      const half = ratio.half_width ?? 0;
      return [{ scenario: s.name, of, ratio: ratio.mean, half, low: ratio.mean - half, high: ratio.mean + half, with: s.learning.comparison.with }];
    }));
    if (values.length === 0) return;
    const y = { field: "scenario", type: "nominal", sort: null, title: null };
    chart(box, "Against the same seeds of " + [...new Set(values.map((v) => v.with))].join(", "), {
      facet: { column: { field: "of", type: "nominal", sort: null, title: null } },
      resolve: { scale: { x: "independent" } },
      spec: {
        width: 200, height: { step: 20 },
        layer: [
          { mark: { type: "rule", strokeDash: [4, 3] }, encoding: { x: { datum: 1 } } },
          { mark: "rule", encoding: { y, x: { field: "low", type: "quantitative", title: "ratio (mean and 95 % interval)", scale: { zero: false } }, x2: { field: "high" } } },
          { mark: { type: "point", filled: true, size: 50 }, encoding: { y, x: { field: "ratio", type: "quantitative" } } },
        ],
      },
    }, values, [{ title: "scenario", text: (v) => v.scenario }, { title: "of", text: (v) => v.of },
      { title: "ratio", text: (v) => significant(v.ratio, 4) }, { title: "+-", text: (v) => significant(v.half, 2) }]);
  }

  switchfold.learning = (scenarios) => {
    const learned = scenarios.filter((s) => s.learning);
    if (learned.length === 0) return;
    const box = section("Learning", "Loss of a small network that was trained with the weights which the simulated passes saw: " +
      "its numbers are those of the schedule, not of the simulated network.");
    const values = learned.flatMap((s) => s.learning.curve.filter((p) => p.loss > 0).map((p) => ({
      scenario: s.name, step: p.step, ms: p.seconds * 1e3, loss: p.loss,
      low: Math.max(p.loss - (p.half_width ?? 0), p.loss / 10), high: p.loss + (p.half_width ?? 0),
    })));
    if (values.length > 0) {
      curves(box, "Loss against steps", values, "step", "steps");
      curves(box, "Loss against simulated time", values, "ms", "simulated time (ms)");
    }
    comparisons(box, learned);
    distances(box, learned);
  };
})();
