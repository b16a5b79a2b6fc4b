// SPDX-License-Identifier: Apache-2.0
// The map of the machine: nodes and links, links coloured by their load at a moment that a slider chooses.
"use strict";
(() => {
  const { element, table, later, select, button, heat, legend, repaint, time, percent, mapLayout, significant } = switchfold;
  const LETTERS = { gpu: "", switch: "", nic: "NIC", host: "host", memory: "mem", pcie: "PCIe", computer: "" };

  function svg(tag, attributes = {}, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  // The links between two places in one direction: each number of a link, and what all carry together.
  function bundles(topology, places) {
    const placeOf = new Map(places.flatMap((p, i) => p.nodes.map((id) => [id, i])));
    const found = new Map();
    topology.links.forEach((link, number) => {
      const [from, to] = [placeOf.get(link.from), placeOf.get(link.to)];
      if (from === undefined || to === undefined || from === to) return;
      const key = from * places.length + to;
      if (!found.has(key)) found.set(key, { from, to, links: [], rate: 0 });
      const bundle = found.get(key);
      bundle.links.push(number);
      bundle.rate += link.GBps;
    });
    return [...found.values()];
  }
  // Links within a place, whose load is its own colour.
  function inside(topology, places) {
    const placeOf = new Map(places.flatMap((p, i) => p.nodes.map((id) => [id, i])));
    const found = places.map(() => []);
    topology.links.forEach((link, number) => {
      const at = placeOf.get(link.from);
      if (at !== undefined && at === placeOf.get(link.to)) found[at].push(number);
    });
    return found;
  }

  // Loads of one scenario: of links at a bin, or over the whole run (bin -1).
  function loadsOf(topology, scenario) {
    const bins = Math.max(1, ...Object.values(scenario.load).map((b) => b.length));
    // What the last bin does not cover counts less.
    const covered = (i) => Math.min(1, scenario.end_us / scenario.bin_us - i);
    const weights = Array.from({ length: bins }, (_, i) => Math.max(covered(i), 1e-9));
    const all = weights.reduce((a, b) => a + b, 0);
    const at = (link, bin) => {
      const own = scenario.load[link];
      if (!own) return 0;
      return bin >= 0 ? (own[bin] || 0) / weights[bin] / 1000 : own.reduce((sum, v) => sum + v, 0) / all / 1000;
    };
    const of = (links, bin) => {
      let [sum, rate, most] = [0, 0, 0];
      for (const link of links) {
        const load = at(link, bin);
        sum += load * topology.links[link].GBps;
        rate += topology.links[link].GBps;
        most = Math.max(most, load);
      }
      return { mean: rate > 0 ? sum / rate : 0, most };
    };
    const used = Object.keys(scenario.load).map(Number);
    const profile = Array.from({ length: bins }, (_, bin) => of(used, bin).mean);
    return { bins, at, of, used, profile };
  }

  class MachineMap {
    constructor(map, panel) {
      this.map = map;
      this.open = null;
      const overlapping = switchfold.data.result.scenarios.filter((s) => s.overlap).map((s) => s.name);
      const moving = map.scenarios.filter((s) => Object.keys(s.load).length > 0);
      this.scenario = moving.find((s) => overlapping.includes(s.scenario)) || moving[0] || map.scenarios[0];
      this.drawing = element("div", { class: "map" });
      this.told = element("output", { "aria-live": "polite" });
      this.slider = element("input", { type: "range", min: -1, step: 1, "aria-label": "time" });
      this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
      this.back = button("all of it", "Show the whole machine", () => { this.open = null; this.redraw(); });
      this.play = button("play", "Run through time", () => this.toggle());
      this.strip = element("div", { class: "strip", "aria-hidden": "true" });
      this.busiest = element("div", { class: "scroll", tabindex: "0" });
      this.rows = element("details", {}, element("summary", {}, "busiest links as a table"), this.busiest);
      this.rows.addEventListener("toggle", () => this.list());
      panel.append(
        element("p", { class: "controls" }, select("scenario", map.scenarios.map((s) => s.scenario), this.scenario.scenario, (name) => {
          this.scenario = map.scenarios.find((s) => s.scenario === name);
          this.redraw();
        }).node, this.play, this.back, legend("idle", "full")),
        this.strip, this.slider, element("p", { class: "told" }, this.told), this.drawing, this.rows);
      this.redraw();
      repaint.push(() => this.redraw());
    }

    redraw() {
      this.topology = this.map.machines[this.scenario.machine];
      this.loads = loadsOf(this.topology, this.scenario);
      const across = Math.max(8, Math.min(32, Math.floor(this.drawing.clientWidth / 62)));
      const layout = mapLayout(this.topology, this.open, across, this.loads.used);
      this.places = layout.places;
      this.bundles = bundles(this.topology, layout.places);
      this.within = inside(this.topology, layout.places);
      this.back.hidden = this.open === null;
      this.slider.max = this.loads.bins - 1;
      this.draw(layout);
      this.drawStrip();
      // The busiest moment first: over a whole run most links are nearly idle.
      const busiest = this.loads.profile.indexOf(Math.max(...this.loads.profile));
      this.show(this.bin !== undefined && this.bin < this.loads.bins ? this.bin : busiest);
    }

    draw(layout) {
      const picture = svg("svg", { viewBox: `-4 -4 ${layout.width + 8} ${layout.height + 8}`, width: layout.width + 8, role: "group",
        "aria-label": `${this.places.length} places and ${this.bundles.length} links` });
      for (const box of layout.boxes)
        picture.append(svg("rect", { class: "box", x: box.x, y: box.y, width: box.w, height: box.h, rx: 6 }),
          svg("text", { class: "box_name", x: box.x + 8, y: box.y + 15 }, `machine ${box.machine}`));
      const width = this.bundles.length > 600 ? 1.2 : this.bundles.length > 200 ? 2.2 : 3.4;
      this.lines = this.bundles.map((bundle) => {
        const [a, b] = [this.places[bundle.from], this.places[bundle.to]];
        // Both directions beside each other, each on its right.
        const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
        const [dx, dy] = [-(b.y - a.y) / length * 2.2, (b.x - a.x) / length * 2.2];
        const line = svg("line", { x1: a.x + dx, y1: a.y + dy, x2: b.x + dx, y2: b.y + dy, class: "link", "stroke-width": width });
        line.addEventListener("pointerenter", () => this.tell(bundle));
        picture.append(line);
        return line;
      });
      this.marks = this.places.map((place, i) => this.mark(picture, place, i));
      this.drawing.replaceChildren(picture);
    }

    mark(picture, place, index) {
      const wide = place.kind === "computer" || place.key !== null;
      const [w, h] = wide ? [104, 34] : [46, 26];
      const group = svg("g", { class: `node ${place.kind}`, transform: `translate(${place.x} ${place.y})` });
      const shape = place.kind === "switch" && !wide
        ? svg("path", { d: `M${-w / 2} 0L${-w / 2 + 8} ${-h / 2}H${w / 2 - 8}L${w / 2} 0L${w / 2 - 8} ${h / 2}H${-w / 2 + 8}Z` })
        : svg("rect", { x: -w / 2, y: -h / 2, width: w, height: h, rx: place.kind === "gpu" ? 3 : 10 });
      const short = wide ? (place.kind === "computer" ? place.told.replace(/^machine (\d+): /, "machine $1, ") : place.name) : place.name.replace(/^.*?(gpu|nic|switch|pcie|host|memory|leaf|spine|core)/i, "$1");
      const label = svg("text", {}, (LETTERS[place.kind] && !short.toLowerCase().startsWith(LETTERS[place.kind].toLowerCase()) ? `${LETTERS[place.kind]} ` : "") + short);
      group.append(shape, label, svg("title", {}, place.told));
      if (short.length * 6 > w - 4) { label.setAttribute("textLength", w - 6); label.setAttribute("lengthAdjust", "spacingAndGlyphs"); }
      if (place.key) {
        for (const [key, value] of [["tabindex", "0"], ["role", "button"], ["aria-label", `open ${place.told}`]]) group.setAttribute(key, value);
        const open = () => { this.open = place.key; this.redraw(); this.back.focus(); };
        group.addEventListener("click", open);
        group.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); open(); } });
      }
      group.addEventListener("pointerenter", () => { this.told.textContent = this.when() + this.textOfPlace(place, index); });
      picture.append(group);
      return shape;
    }

    drawStrip() {
      const { profile } = this.loads;
      const most = Math.max(...profile, 1e-9);
      const points = profile.flatMap((v, i) => [[i, v], [i + 1, v]]).map(([x, v]) => `${x},${(1 - v / most) * 38 + 2}`).join(" ");
      this.cursor = svg("rect", { y: 0, height: 40, width: 1, class: "cursor" });
      const picture = svg("svg", { viewBox: `0 0 ${profile.length} 40`, preserveAspectRatio: "none" },
        svg("polygon", { points: `0,40 ${points} ${profile.length},40`, class: "profile" }), this.cursor);
      picture.addEventListener("pointerdown", (e) => {
        const box = picture.getBoundingClientRect();
        this.show(Math.max(0, Math.min(profile.length - 1, Math.floor((e.clientX - box.left) / box.width * profile.length))));
      });
      this.strip.replaceChildren(picture);
    }

    when() {
      if (this.bin < 0) return "whole run: ";
      const { bin_us: bin, end_us: end } = this.scenario;
      return `${time(this.bin * bin)} to ${time(Math.min(end, (this.bin + 1) * bin))}: `;
    }
    textOf(bundle) {
      const { mean, most } = this.loads.of(bundle.links, this.bin);
      const [from, to] = [this.places[bundle.from], this.places[bundle.to]].map((p) => p.name);
      const many = bundle.links.length > 1 ? `, ${bundle.links.length} links, the busiest ${percent(most)}` : "";
      return `${from} to ${to}: ${percent(mean)} of ${significant(bundle.rate, 4)} GB/s${many}; whole run ${percent(this.loads.of(bundle.links, -1).mean)}`;
    }
    textOfPlace(place, index) {
      const own = this.within[index];
      if (own.length === 0) return place.told;
      const { mean, most } = this.loads.of(own, this.bin);
      return `${place.told}, ${own.length} links inside: ${percent(mean)} of what they carry, the busiest ${percent(most)}`;
    }
    tell(bundle) { this.told.textContent = this.when() + this.textOf(bundle); }

    show(bin) {
      this.bin = bin;
      this.slider.value = bin;
      this.slider.setAttribute("aria-valuetext", this.when().slice(0, -2));
      this.cursor.setAttribute("x", Math.max(0, bin));
      this.cursor.setAttribute("width", bin < 0 ? this.loads.bins : 1);
      let worst = { mean: -1 };
      this.bundles.forEach((bundle, i) => {
        const load = this.loads.of(bundle.links, bin);
        this.lines[i].setAttribute("stroke", heat(load.mean));
        this.lines[i].setAttribute("data-load", load.mean.toFixed(3));
        if (load.mean > worst.mean) worst = { mean: load.mean, bundle };
      });
      this.places.forEach((place, i) => {
        if (this.within[i].length > 0) this.marks[i].style.fill = heat(this.loads.of(this.within[i], bin).mean);
      });
      this.told.textContent = this.when() + (worst.mean > 0 ? `busiest is ${this.textOf(worst.bundle)}` : "nothing moves between the places shown");
      this.list();
    }

    list() {
      if (!this.rows.open) return;
      const rows = this.loads.used.map((link) => ({ link, now: this.loads.at(link, this.bin), all: this.loads.at(link, -1) }))
        .sort((a, b) => b.now - a.now || b.all - a.all).slice(0, 40);
      this.busiest.replaceChildren(table(rows, [{ title: "link", text: (r) => this.topology.links[r.link].name },
        { title: "GB/s", text: (r) => significant(this.topology.links[r.link].GBps, 4) },
        { title: "load now", text: (r) => percent(r.now) }, { title: "whole run", text: (r) => percent(r.all) }]));
    }

    toggle() {
      if (this.playing) {
        clearInterval(this.playing);
        this.playing = null;
      } else {
        this.playing = setInterval(() => this.show(this.bin + 1 >= this.loads.bins ? 0 : this.bin + 1), 120);
      }
      this.play.textContent = this.playing ? "stop" : "play";
    }
  }

  switchfold.map = () => later("The machine, and how busy its links are",
    "Links are coloured by load, both directions beside each other, each to the right of its way. The curve is the mean of all " +
    "links that are used; the slider moves through time, its left end is the whole run.",
    (explorer, panel) => {
      if (!explorer.map || explorer.map.scenarios.length === 0) return false;
      if (explorer.map.scenarios.every((s) => Object.keys(s.load).length === 0)) {
        panel.append(element("p", { class: "told" }, "No link's load is known: with fold one rank stands for each device of " +
          "the pipeline, and collectives between ranks are timed beforehand. Without fold every link is simulated."));
        return true;
      }
      switchfold.machineMap = new MachineMap(explorer.map, panel);
      return true;
    });
})();
