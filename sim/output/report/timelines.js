// SPDX-License-Identifier: Apache-2.0
// Timelines of all ranks of two scenarios beside each other, with one view of time; a bar's causes where one clicks.
"use strict";
(() => {
  const { data, element, later, select, button, legend, repaint, time, percent, timelinePane, unpackTimelines } = switchfold;

  const NOTE = "A row is a rank: kernels, the darker the more they are slowed, above collectives and sends (blue), receives (violet) and copies (grey). Drag to pan; wheel to zoom, " +
    "once a timeline has the focus or with Ctrl. Keys: left and right pan, + and - zoom, 0 shows everything, up and down choose a rank, n and p its next and previous bar.";

  // How long other bars of a rank ran beside this one.
  function besides(rank, bar) {
    const found = new Map();
    for (const lane of rank.lanes)
      if (lane.holds === "communication")
        for (let i = 0; i < lane.count; ++i) {
          const beside = Math.min(bar.end, lane.start[i] + lane.duration[i]) - Math.max(bar.start, lane.start[i]);
          const name = lane.nameOf(i)[0];
          if (beside > 0 && !(lane === bar.lane && i === bar.index)) found.set(name, (found.get(name) || 0) + beside);
        }
    return [...found].sort((a, b) => b[1] - a[1]).slice(0, 4);
  }

  // The same bar in another scenario: of the same place among those of its lane, if it has the same name.
  function twin(other, rank, bar) {
    const same = other?.ranks.find((r) => r.rank === rank.rank)?.lanes.find((l) => l.stream === bar.lane.stream && l.holds === bar.lane.holds);
    if (!same || bar.index >= same.count || same.nameOf(bar.index)[0] !== bar.name) return null;
    return same.bar(bar.index);
  }

  function rows(pairs) {
    return element("table", { class: "facts" }, element("tbody", {}, ...pairs.filter(Boolean).map(([key, value]) =>
      element("tr", {}, element("th", { scope: "row" }, key), element("td", {}, value)))));
  }

  // A kernel's causes as bars, what one adds to the right and what it takes away to the left.
  function causeBars(bar) {
    const causes = bar.causes;
    if (!causes) return element("p", { class: "note" }, bar.slowdown > 2e-3
      ? "Its causes are not known: they are found on the first steps, and of experiments that ask for causes." : "Nothing slows it.");
    const most = Math.max(...causes.map(Math.abs), 1e-9);
    const list = element("table", { class: "facts causes" });
    data.causes.forEach((cause, i) => {
      if (Math.abs(causes[i]) < 5e-4) return;
      list.append(element("tr", {}, element("th", { scope: "row" }, cause.title), element("td", {}, percent(causes[i])),
        element("td", { class: "bar" }, element("span", { style: `width:${(Math.abs(causes[i]) / most * 100).toFixed(1)}%`, class: causes[i] < 0 ? "less" : "" }))));
    });
    return list;
  }

  class Timelines {
    constructor(scenarios, meta, panel) {
      this.scenarios = scenarios;
      const names = scenarios.map((s) => s.name);
      const overlapping = data.result.scenarios.filter((s) => s.overlap).map((s) => s.name).filter((n) => names.includes(n));
      const first = overlapping[0] ?? names[0];
      const second = overlapping.at(-1) !== first ? overlapping.at(-1) : names.find((n) => n !== first);
      this.details = element("div", { class: "details", role: "status", "aria-live": "polite" }, element("p", { class: "note" }, "Click a bar for what slows it."));
      this.panes = [first, second].map((name, i) => {
        const pane = timelinePane(this, i);
        pane.choose(scenarios.find((s) => s.name === name));
        return pane;
      });
      this.measure();
      this.view = { from: 0, to: this.end };
      this.colour = "slowdown";
      const controls = element("p", { class: "controls" },
        ...this.panes.map((pane, i) => select(i === 0 ? "left or above" : "right or below", i === 0 ? names : ["none", ...names], pane.scenario?.name ?? "none", (name) => {
          pane.choose(scenarios.find((s) => s.name === name));
          const all = this.view.from === 0 && this.view.to === this.end;
          this.measure();
          this.set(this.view.from, all ? this.end : this.view.to);
        }).node),
        select("colour", ["slowdown", "phase"], "slowdown", (by) => { this.colour = by; this.draw(); }).node,
        button("+", "Zoom in", () => this.zoom(0.5)), button("−", "Zoom out", () => this.zoom(2)),
        button("all", "Show all of it", () => this.set(0, this.end)), legend("as alone", "twice as long"));
      this.box = element("div", { class: "panes" }, ...this.panes.map((p) => p.node));
      panel.append(controls, this.box, this.details);
      if (meta.every > 1) panel.append(element("p", { class: "note" }, `Of the ranks, every ${meta.every}th is here, so that the page stays small.`));
      if (meta.until_us) panel.append(element("p", { class: "note" }, `Only the first ${time(meta.until_us)} are here, so that the page stays small.`));
      this.draw();
      new ResizeObserver(() => this.draw()).observe(this.box);
      repaint.push(() => this.draw());
    }

    // The longer of both is the whole time.
    measure() { this.end = Math.max(...this.panes.filter((p) => p.scenario).map((p) => p.scenario.end)); }

    set(from, to) {
      const least = Math.max(this.end * 1e-6, 1e-3);
      const length = Math.min(this.end, Math.max(least, to - from));
      const start = Math.max(0, Math.min(this.end - length, from));
      this.view = { from: start, to: start + length };
      this.draw();
    }
    // Around a moment, by default the middle.
    zoom(factor, at = (this.view.from + this.view.to) / 2) {
      this.set(at - (at - this.view.from) * factor, at + (this.view.to - at) * factor);
    }
    pan(share) {
      const by = (this.view.to - this.view.from) * share;
      this.set(this.view.from + by, this.view.to + by);
    }

    draw() {
      if (this.waiting) return;
      this.waiting = requestAnimationFrame(() => {
        this.waiting = null;
        for (const pane of this.panes) pane.draw();
      });
    }

    choose(pane, rank, bar) {
      for (const p of this.panes) p.chosen = p === pane ? { rank, bar } : null;
      const other = this.panes.find((p) => p !== pane)?.scenario;
      const same = twin(other, rank, bar);
      const kernel = bar.lane.holds === "kernels";
      const place = `rank ${rank.rank} in ${pane.scenario.name}`;
      const beside = besides(rank, bar);
      this.details.replaceChildren(
        element("h3", {}, bar.name),
        rows([
          ["where", `${place}, ${kernel ? `${bar.words[1]}, ${bar.words[2]}` : bar.words[1]}, stream ${bar.lane.stream}`],
          ["from", `${time(bar.start)} for ${time(bar.end - bar.start)}`],
          kernel ? ["alone", time(bar.alone)] : ["bytes", switchfold.size(Number(bar.words[2]))],
          kernel && ["slowdown", `${percent(bar.slowdown)}, ${bar.beside} % of its time beside collectives`],
          beside.length > 0 && ["beside it", beside.map(([name, us]) => `${name} for ${time(us)}`).join("; ")],
          same && [`in ${other.name}`, time(same.end - same.start) + (kernel ? `, slowdown ${percent(same.slowdown)}` : "")],
        ]),
        ...(kernel ? [element("h4", {}, "Its slowdown by cause"), causeBars(bar)] : []));
      this.draw();
    }
  }

  switchfold.timelines = () => later("Timelines of all ranks", NOTE, (explorer, panel) => {
    const order = data.result.scenarios.map((s) => s.name);
    const scenarios = unpackTimelines(explorer.timelines).sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
    if (scenarios.length === 0) return false;
    switchfold.shownTimelines = new Timelines(scenarios, explorer.timelines, panel);
    return true;
  });
})();
