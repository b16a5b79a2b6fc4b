// SPDX-License-Identifier: Apache-2.0
// What map and timelines share: the unpacked data, their place on the page, controls, colours of loads and slowdowns.
"use strict";
(() => {
  const { data, element, main, ready } = switchfold;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }
  const unpacked = data.explorer ? unpack(data.explorer) : Promise.resolve(null);

  // A section whose data are there a little later; `fill` says whether it has anything to show.
  function later(title, note, fill) {
    const heading = element("h2", {}, title);
    const text = element("p", { class: "note" }, note);
    const panel = element("div", { class: "panel", role: "group", "aria-label": title });
    main.append(heading, text, panel);
    ready.push(unpacked.then((explorer) => {
      if (explorer && fill(explorer, panel, text)) return;
      for (const node of [heading, text, panel]) node.remove();
      switchfold.contents();
    }));
  }

  function select(label, values, chosen, change) {
    const list = element("select", {}, ...values.map((v) => element("option", { value: v }, v)));
    if (chosen !== undefined) list.value = chosen;
    list.addEventListener("change", () => change(list.value));
    return { node: element("label", {}, label + " ", list), list };
  }
  function button(text, label, press) {
    const node = element("button", { type: "button", "aria-label": label, title: label }, text);
    node.addEventListener("click", press);
    return node;
  }

  // Lightness tells load and slowdown, so that colours hold in print and for eyes that see fewer of them.
  const ramps = {
    light: [[233, 236, 239], [253, 220, 175], [244, 165, 80], [215, 80, 30], [120, 0, 15]],
    dark: [[48, 54, 61], [96, 55, 15], [176, 92, 10], [240, 160, 40], [255, 243, 190]],
  };
  const steps = 24;
  const mixed = Object.fromEntries(Object.entries(ramps).map(([scheme, ramp]) => [scheme, Array.from({ length: steps + 1 }, (_, i) => {
    const at = i / steps * (ramp.length - 1);
    const low = Math.min(Math.floor(at), ramp.length - 2);
    return "rgb(" + [0, 1, 2].map((c) => Math.round(ramp[low][c] + (ramp[low + 1][c] - ramp[low][c]) * (at - low))).join(",") + ")";
  })]));
  let printing = false;
  const scheme = () => (dark.matches && !printing ? "dark" : "light");
  // A share of 0 to 1; more has the colour of 1.
  const heat = (share) => mixed[scheme()][Math.round(Math.max(0, Math.min(1, share)) * steps)];

  function legend(low, high) {
    const bar = element("span", { class: "ramp", "aria-hidden": "true" });
    const colour = () => { bar.style.background = `linear-gradient(to right, ${Array.from({ length: 9 }, (_, i) => heat(i / 8)).join(", ")})`; };
    colour();
    repaint.push(colour);
    return element("span", { class: "legend" }, low, bar, high);
  }

  // Called when colours change: by scheme, and for paper, which is white.
  const repaint = [];
  const paint = () => repaint.forEach((draw) => draw());
  dark.addEventListener("change", paint);
  window.addEventListener("beforeprint", () => { printing = true; paint(); });
  window.addEventListener("afterprint", () => { printing = false; paint(); });

  // Ticks of a time axis between two moments (us), at most `most` of them, and how to write them: each differs.
  function ticks(from, to, most) {
    const rough = (to - from) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
    const unit = switchfold.timeUnit(to);
    const decimals = Math.max(0, -Math.floor(Math.log10(step / unit.us) + 1e-9));
    const all = [];
    for (let i = Math.ceil(from / step); i * step <= to; ++i) all.push({ us: i * step, text: (i * step / unit.us).toFixed(decimals) });
    return { all, unit: unit.name };
  }

  Object.assign(switchfold, { later, select, button, heat, legend, repaint, ticks, scheme });
})();
