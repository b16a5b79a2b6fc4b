// SPDX-License-Identifier: Apache-2.0
// One scenario's timeline on a canvas: rows of ranks, with a view of time that panes share.
"use strict";
(() => {
  const { element, heat, ticks, scheme, percent, time } = switchfold;
  const AXIS = 22;
  const LABEL = 46;
  const PHASES = { forward: "#0072b2", backward: "#e69f00", optimizer: "#009e73", other: "#8c8c8c" };
  const COMMUNICATION = { collective: "#56b4e9", send: "#56b4e9", receive: "#7a5195", copy: "#8c8c8c" };

  // Columns of numbers as they are drawn, in us. Columns that are alike are there once.
  class Lane {
    constructor(lane, columns, names, first) {
      // Those of a rank that does what the first does are differences from its columns.
      const of = (key, relative) => {
        const own = columns[lane[key]] || [];
        return relative ? own.map((value, i) => value + columns[first[key]][i]) : own;
      };
      Object.assign(this, { stream: lane.stream, holds: lane.holds, names, name: of("names"), alone: of("alone"), beside: of("beside", lane.like_first), causes: of("causes", lane.causes_like_first) });
      this.count = this.name.length;
      this.start = new Float64Array(this.count);
      this.duration = new Float64Array(this.count);
      this.slowdown = new Float32Array(this.count);
      const [gaps, durations] = [of("gaps", lane.like_first), of("durations", lane.like_first)];
      let at = 0;
      let last = 0;
      for (let i = 0; i < this.count; ++i) {
        at += gaps[i];
        this.start[i] = at / 1000;
        this.duration[i] = durations[i] / 1000;
        at += durations[i];
        last = Math.max(last, at);
        if (this.alone.length > 0) this.slowdown[i] = this.alone[i] > 0 ? durations[i] / this.alone[i] - 1 : 0;
      }
      this.end = last / 1000;
      this.caused = new Map(of("caused").map((place, i) => [place, i]));
    }
    nameOf(i) { return this.names[this.name[i]]; }
    bar(i) {
      const words = this.nameOf(i);
      const cause = this.caused.get(i);
      const known = switchfold.data.causes.length;
      return { lane: this, index: i, name: words[0], words, start: this.start[i], end: this.start[i] + this.duration[i], alone: this.alone[i] / 1000, slowdown: this.slowdown[i],
        beside: this.beside[i], causes: cause === undefined ? null : this.causes.slice(cause * known, (cause + 1) * known).map((c) => c / 1000) };
    }
    // The first bar that does not end before a moment; bars of a lane do not overlap by much.
    from(us) {
      let [low, high] = [0, this.count];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.start[middle] + this.duration[middle] < us) low = middle + 1;
        else high = middle;
      }
      return low;
    }
  }

  // A scenario's lanes are unpacked when it is shown.
  class Scenario {
    constructor(packed, columns, names) {
      Object.assign(this, { name: packed.name, packed, columns, names });
    }
    get ranks() {
      if (!this.unpacked) {
        const { packed, columns, names } = this;
        const first = (l) => packed.ranks[0].lanes.find((f) => f.stream === l.stream && f.holds === l.holds);
        this.unpacked = packed.ranks.map((r) => ({ rank: r.rank, lanes: r.lanes.map((l) => new Lane(l, columns, names, first(l))).sort((a, b) => (b.holds === "kernels") - (a.holds === "kernels")) }));
      }
      return this.unpacked;
    }
    get end() { return Math.max(0, ...this.ranks.flatMap((r) => r.lanes.map((l) => l.end))); }
  }

  switchfold.unpackTimelines = ({ scenarios, columns, names }) => scenarios.map((s) => new Scenario(s, columns, names));

  class Pane {
    constructor(owner, place) {
      this.owner = owner;
      this.title = element("p", { class: "pane_title" });
      this.canvas = element("canvas", { tabindex: "0", role: "application" });
      this.tip = element("p", { class: "tip", "aria-hidden": "true" });
      this.node = element("div", { class: "pane" }, this.title, this.canvas, this.tip);
      this.row = 0;
      this.listen(place);
    }

    choose(scenario) {
      this.scenario = scenario;
      this.chosen = null;
      this.node.hidden = !scenario;
      if (!scenario) return;
      this.row = 0;
      this.title.textContent = `${scenario.name}: ${scenario.ranks.length} rank${scenario.ranks.length === 1 ? "" : "s"}, ${time(scenario.end)}`;
      this.canvas.setAttribute("aria-label", `Timeline of ${scenario.name}. Arrow keys pan and choose a rank, plus and minus zoom, n and p go from bar to bar.`);
    }

    // A rank's lanes lie below each other, kernels first; many ranks get thin ones.
    measure() {
      const lanes = this.scenario.ranks.reduce((sum, r) => sum + r.lanes.length, 0);
      const gap = this.scenario.ranks.length > 40 ? 1 : 4;
      const lane = Math.max(2, Math.min(16, Math.floor((640 - gap * this.scenario.ranks.length) / Math.max(1, lanes))));
      let y = AXIS;
      this.tops = this.scenario.ranks.map((r) => {
        const top = y;
        y += r.lanes.length * lane + gap;
        return top;
      });
      this.lane = lane;
      this.height = y + 2;
      const ratio = window.devicePixelRatio || 1;
      const width = this.canvas.clientWidth || this.node.clientWidth;
      this.width = width;
      this.canvas.style.height = `${this.height}px`;
      if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(this.height * ratio)) {
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(this.height * ratio);
      }
      this.context = this.canvas.getContext("2d");
      this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    x(us) { return LABEL + (us - this.owner.view.from) / (this.owner.view.to - this.owner.view.from) * (this.width - LABEL); }
    us(x) { return this.owner.view.from + (x - LABEL) / (this.width - LABEL) * (this.owner.view.to - this.owner.view.from); }

    colour(lane, i) {
      if (lane.holds === "communication") return COMMUNICATION[lane.nameOf(i)[1]] || COMMUNICATION.collective;
      return this.owner.colour === "phase" ? PHASES[lane.nameOf(i)[2]] || PHASES.other : heat(0.18 + 0.82 * Math.max(0, lane.slowdown[i]));
    }

    draw() {
      if (!this.scenario) return;
      this.measure();
      const dark = scheme() === "dark";
      const ink = { text: dark ? "#e6edf3" : "#1b1f24", faint: dark ? "#3d444d" : "#d0d7de", back: dark ? "#0d1117" : "#ffffff", chosen: dark ? "#ffffff" : "#000000" };
      const { context } = this;
      context.fillStyle = ink.back;
      context.fillRect(0, 0, this.width, this.height);
      this.drawAxis(ink);
      context.save();
      context.beginPath();
      context.rect(LABEL, 0, this.width - LABEL, this.height);
      context.clip();
      this.scenario.ranks.forEach((rank, r) => rank.lanes.forEach((lane, l) => this.drawLane(lane, this.tops[r] + l * this.lane)));
      if (this.chosen) this.frame(this.chosen, ink.chosen);
      context.restore();
      this.drawLabels(ink);
    }

    drawAxis(ink) {
      const { context } = this;
      const { from, to } = this.owner.view;
      const { all, unit } = ticks(from, to, Math.max(2, (this.width - LABEL) / 90));
      context.font = "11px system-ui, sans-serif";
      context.textBaseline = "middle";
      context.textAlign = "center";
      this.tickTexts = all.map((t) => t.text);
      all.forEach((tick, i) => {
        const x = this.x(tick.us);
        context.fillStyle = ink.faint;
        context.fillRect(Math.round(x), AXIS - 4, 1, this.height - AXIS + 4);
        context.fillStyle = ink.text;
        const text = i === all.length - 1 ? `${tick.text} ${unit}` : tick.text;
        context.fillText(text, Math.max(LABEL + 12, Math.min(this.width - context.measureText(text).width / 2 - 2, x)), 9);
      });
    }

    drawLane(lane, y) {
      const { context } = this;
      const height = Math.max(1, this.lane - (this.lane > 4 ? 1 : 0));
      const scale = (this.width - LABEL) / (this.owner.view.to - this.owner.view.from);
      let before = -1;  // bars within one pixel are one: the darkest of them
      let worst = -1;
      for (let i = lane.from(this.owner.view.from); i < lane.count && lane.start[i] <= this.owner.view.to; ++i) {
        const x = LABEL + (lane.start[i] - this.owner.view.from) * scale;
        const w = lane.duration[i] * scale;
        if (w < 1) {
          const pixel = Math.floor(x);
          if (pixel === before && lane.slowdown[i] <= worst) continue;
          before = pixel;
          worst = lane.slowdown[i];
          context.fillStyle = this.colour(lane, i);
          context.fillRect(pixel, y, 1, height);
          continue;
        }
        context.fillStyle = this.colour(lane, i);
        context.fillRect(x, y, w > 3 ? w - 0.6 : w, height);
        if (w > 60 && height >= 11) this.write(lane, i, Math.max(x, LABEL), Math.min(w, x + w - LABEL), y + height / 2);
      }
    }

    // The name in a bar that has room for it.
    write(lane, i, x, w, y) {
      const { context } = this;
      context.font = "10px system-ui, sans-serif";
      context.textAlign = "left";
      // A canvas writes every opaque colour as #rrggbb.
      const lightness = [1, 3, 5].map((at) => parseInt(context.fillStyle.slice(at, at + 2), 16));
      context.fillStyle = 0.3 * lightness[0] + 0.59 * lightness[1] + 0.11 * lightness[2] > 130 ? "#000000" : "#ffffff";
      const room = Math.floor((w - 6) / 5.6);
      const name = lane.nameOf(i)[0];
      context.fillText(name.length > room ? name.slice(0, Math.max(0, room - 1)) + "…" : name, x + 3, y);
    }

    frame({ rank, bar }, colour) {
      const r = this.scenario.ranks.indexOf(rank);
      const l = rank.lanes.indexOf(bar.lane);
      const [x, w] = [this.x(bar.start), Math.max(2, this.x(bar.end) - this.x(bar.start))];
      this.context.strokeStyle = colour;
      this.context.lineWidth = 2;
      this.context.strokeRect(x - 1, this.tops[r] + l * this.lane - 1, w + 2, this.lane + 1);
    }

    drawLabels(ink) {
      const { context } = this;
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.font = "11px system-ui, sans-serif";
      let last = -20;
      this.scenario.ranks.forEach((rank, r) => {
        const middle = this.tops[r] + rank.lanes.length * this.lane / 2;
        if (middle - last < 12) return;
        last = middle;
        context.fillStyle = ink.text;
        context.fillText(`${this.row === r && document.activeElement === this.canvas ? "▸" : ""}${rank.rank}`, LABEL - 6, middle);
      });
    }

    // The bar at a place, or the nearest within a few pixels.
    at(x, y) {
      const r = this.tops.findLastIndex((top) => y >= top);
      if (r < 0) return null;
      const rank = this.scenario.ranks[r];
      const lane = rank.lanes[Math.floor((y - this.tops[r]) / this.lane)];
      if (!lane) return null;
      const us = this.us(x);
      const near = (this.owner.view.to - this.owner.view.from) / this.width * 3;
      let best = null;
      for (let i = Math.max(0, lane.from(us) - 2); i < lane.count && lane.start[i] <= us + near; ++i) {
        const off = Math.max(0, lane.start[i] - us, us - lane.start[i] - lane.duration[i]);
        if (off <= near && (!best || off < best.off)) best = { i, off };
      }
      return best ? { rank, bar: lane.bar(best.i), row: r } : null;
    }

    listen() {
      const place = (e) => {
        const box = this.canvas.getBoundingClientRect();
        return [e.clientX - box.left, e.clientY - box.top];
      };
      let drag = null;
      this.canvas.addEventListener("pointerdown", (e) => {
        this.canvas.focus({ preventScroll: true });
        drag = { x: place(e)[0], view: { ...this.owner.view }, moved: false };
        this.canvas.setPointerCapture(e.pointerId);
      });
      this.canvas.addEventListener("pointermove", (e) => {
        const [x, y] = place(e);
        if (!drag) return this.hint(x, y);
        if (Math.abs(x - drag.x) > 3) drag.moved = true;
        if (!drag.moved) return undefined;
        const by = (drag.x - x) / (this.width - LABEL) * (drag.view.to - drag.view.from);
        return this.owner.set(drag.view.from + by, drag.view.to + by);
      });
      this.canvas.addEventListener("pointerup", (e) => {
        const found = drag && !drag.moved ? this.at(...place(e)) : null;
        drag = null;
        if (!found) return;
        this.row = found.row;
        this.owner.choose(this, found.rank, found.bar);
      });
      this.canvas.addEventListener("pointerleave", () => { this.tip.textContent = ""; });
      this.canvas.addEventListener("wheel", (e) => {
        if (!(e.ctrlKey || e.metaKey || document.activeElement === this.canvas)) return;
        e.preventDefault();
        if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.owner.pan((e.deltaX || e.deltaY) / this.width);
        else this.owner.zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY / 300))), this.us(place(e)[0]));
      }, { passive: false });
      this.canvas.addEventListener("keydown", (e) => this.key(e));
      this.canvas.addEventListener("focus", () => this.owner.draw());
      this.canvas.addEventListener("blur", () => this.owner.draw());
    }

    hint(x, y) {
      const found = this.at(x, y);
      this.tip.textContent = found ? `rank ${found.rank.rank}, ${time(found.bar.start)}: ${found.bar.name.slice(0, 90)}, ${time(found.bar.end - found.bar.start)}` +
        (found.bar.lane.holds === "kernels" ? `, slowdown ${percent(found.bar.slowdown)}` : "") : "";
    }

    key(e) {
      const { owner } = this;
      const keys = {
        ArrowLeft: () => owner.pan(-0.2), ArrowRight: () => owner.pan(0.2), "+": () => owner.zoom(0.5), "=": () => owner.zoom(0.5), "-": () => owner.zoom(2),
        0: () => owner.set(0, owner.end), Home: () => owner.set(0, owner.view.to - owner.view.from), End: () => owner.set(owner.end, owner.end + owner.view.to - owner.view.from),
        ArrowUp: () => this.go(-1), ArrowDown: () => this.go(1), n: () => this.step(1), p: () => this.step(-1),
      };
      if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      keys[e.key]();
    }
    go(by) {
      this.row = Math.max(0, Math.min(this.scenario.ranks.length - 1, this.row + by));
      const lane = this.scenario.ranks[this.row].lanes[0];
      const near = this.chosen ? this.chosen.bar.start : this.owner.view.from;
      if (lane) this.show(lane, Math.min(lane.count - 1, lane.from(near)));
    }
    step(by) {
      const rank = this.scenario.ranks[this.row];
      const lane = this.chosen?.rank === rank ? this.chosen.bar.lane : rank.lanes[0];
      if (!lane) return;
      const at = this.chosen?.rank === rank ? this.chosen.bar.index + by : lane.from(this.owner.view.from);
      if (at >= 0 && at < lane.count) this.show(lane, at);
    }
    // Chooses a bar and brings it into view.
    show(lane, i) {
      const bar = lane.bar(i);
      const { from, to } = this.owner.view;
      if (bar.start < from || bar.end > to) this.owner.set(bar.start - (to - from) / 2, bar.start + (to - from) / 2);
      this.owner.choose(this, this.scenario.ranks[this.row], bar);
    }
  }

  switchfold.timelinePane = (owner, place) => new Pane(owner, place);
})();
