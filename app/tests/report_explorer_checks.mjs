// SPDX-License-Identifier: Apache-2.0
// What one explores in a report: map, timelines, waterfall, gains. They move by mouse and by keys, say what they show,
// and stand on paper.

import fs from "node:fs";
import path from "node:path";

// What pages of these runs have, by the folder of the run.
const MAPS = ["run", "plans", "joins", "averages", "tokens", "shared"];
const WATERFALLS = ["run"];
const GAINS = ["sizes", "three"];

async function checkMap(page, where, file, expect) {
  const panel = page.locator(".panel[aria-label^='The machine']");
  if (!expect((await panel.count()) === 1, `${where}: no map of the machine`)) return;
  if ((await panel.locator(".map").count()) === 0) {
    expect(!MAPS.includes(path.basename(path.dirname(file))), `${where}: no link's load is known`);
    expect((await panel.textContent()).includes("No link's load is known"), `${where}: the map is empty and does not say why`);
    return;
  }
  const told = () => panel.locator("output").textContent();
  const loads = () => page.evaluate(() => [...document.querySelectorAll(".map .link")].map((line) => line.dataset.load));
  const nodes = await page.evaluate(() => ({ drawn: document.querySelectorAll(".map .node").length, places: switchfold.machineMap.places.length,
    all: switchfold.machineMap.topology.nodes.length, off: [...document.querySelectorAll(".map .node")].filter((n) => {
      const [a, b] = [n.getBoundingClientRect(), n.ownerSVGElement.getBoundingClientRect()];
      return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1;
    }).length }));
  expect(nodes.drawn > 1 && nodes.drawn === nodes.places, `${where}: ${nodes.drawn} nodes on the map of ${nodes.places}`);
  expect(nodes.off === 0, `${where}: ${nodes.off} nodes stand beside the map`);
  const busiest = await loads();
  expect(busiest.some((load) => Number(load) > 0), `${where}: no link carries anything`);
  expect(busiest.every((load) => Number(load) <= 1.02), `${where}: a link carries more than it can: ${Math.max(...busiest)}`);
  const slider = panel.locator("input[type=range]");
  const bins = Number(await slider.getAttribute("max")) + 1;
  await slider.focus();
  await page.keyboard.press("Home");
  expect((await slider.inputValue()) === "-1" && (await told()).startsWith("whole run"), `${where}: the map does not show the whole run`);
  const mean = await loads();
  if (bins > 1) {
    await page.keyboard.press("ArrowRight");
    expect((await slider.inputValue()) === "0", `${where}: keys do not move the map's slider`);
    const seen = new Set();
    for (let bin = 0; bin < bins; ++bin) {
      await page.evaluate((b) => switchfold.machineMap.show(b), bin);
      seen.add(JSON.stringify(await loads()));
    }
    expect(seen.size > 1 && !(seen.size === 1 && seen.has(JSON.stringify(mean))), `${where}: loads do not change over time`);
  }
  const scenarios = panel.locator("select").first();
  const names = await scenarios.locator("option").allTextContents();
  for (const name of names) {
    await scenarios.selectOption(name);
    expect((await page.evaluate(() => switchfold.machineMap.scenario.scenario)) === name, `${where}: the map does not change to ${name}`);
  }
  await panel.locator("details > summary").click();
  await panel.locator("details tbody tr").first().waitFor();
}

async function checkTimelines(page, where, expect, causes) {
  const panel = page.locator(".panel[aria-label='Timelines of all ranks']");
  if (!expect((await panel.count()) === 1, `${where}: no timelines`)) return;
  const canvases = panel.locator(".pane:not([hidden]) canvas");
  const scenarios = await page.evaluate(() => switchfold.shownTimelines.scenarios.length);
  expect((await canvases.count()) === Math.min(2, scenarios), `${where}: ${await canvases.count()} timelines of ${scenarios} scenarios`);
  const view = () => page.evaluate(() => ({ ...switchfold.shownTimelines.view, end: switchfold.shownTimelines.end }));
  const settled = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const painted = await page.evaluate(() => switchfold.shownTimelines.panes.filter((p) => p.scenario).map((p) => {
    const { data: pixels } = p.context.getImageData(0, 0, p.canvas.width, p.canvas.height);
    const found = new Set();
    for (let i = 0; i < pixels.length; i += 4) found.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
    return found.size;
  }));
  expect(painted.every((colours) => colours > 6), `${where}: timelines are empty: ${painted}`);
  const texts = await page.evaluate(() => switchfold.shownTimelines.panes.filter((p) => p.scenario).map((p) => p.tickTexts));
  expect(texts.every((t) => t.length > 1 && new Set(t).size === t.length), `${where}: a timeline's axis repeats a tick: ${JSON.stringify(texts)}`);
  const whole = await view();
  expect(whole.from === 0 && whole.to === whole.end, `${where}: the timelines do not begin with everything`);
  const first = canvases.first();
  await first.scrollIntoViewIfNeeded();
  await first.focus();
  await page.keyboard.press("+");
  await page.keyboard.press("ArrowRight");
  const near = await view();
  expect(near.to - near.from < whole.end * 0.6 && near.from > whole.end * 0.25, `${where}: keys neither zoom nor pan: ${JSON.stringify(near)}`);
  await settled();
  const box = await first.boundingBox();
  const y = box.y + Math.min(60, box.height / 2);
  await page.mouse.move(box.x + box.width / 2, y);
  await page.mouse.wheel(0, -240);
  await settled();
  const nearer = await view();
  expect(nearer.to - nearer.from < (near.to - near.from) * 0.8, `${where}: the wheel does not zoom`);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 120, y, { steps: 4 });
  await page.mouse.up();
  await settled();
  const dragged = await view();
  expect(dragged.from < nearer.from && Math.abs(dragged.to - dragged.from - nearer.to + nearer.from) < 1e-6 * whole.end, `${where}: dragging does not pan`);
  await page.keyboard.press("0");
  expect((await view()).to === whole.end, `${where}: 0 does not show everything`);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("n");
  expect((await panel.locator(".details h3").count()) === 1, `${where}: keys choose no bar`);
  // A click on the most slowed kernel that has causes.
  const target = await page.evaluate(() => {
    const { shownTimelines: shown } = switchfold;
    let best = null;
    for (const pane of shown.panes.filter((p) => p.scenario))
      pane.scenario.ranks.forEach((rank, r) => rank.lanes.forEach((lane, l) => {
        for (const i of lane.caused.keys()) if (!best || lane.slowdown[i] > best.slowdown) best = { pane: shown.panes.indexOf(pane), r, l, i, slowdown: lane.slowdown[i] };
      }));
    if (!best) return null;
    const pane = shown.panes[best.pane];
    const lane = pane.scenario.ranks[best.r].lanes[best.l];
    shown.set(lane.start[best.i] - 4 * lane.duration[best.i], lane.start[best.i] + 5 * lane.duration[best.i]);
    pane.draw();
    pane.canvas.scrollIntoView({ block: "center" });
    const place = pane.canvas.getBoundingClientRect();
    return { name: lane.nameOf(best.i)[0], slowdown: best.slowdown, causes: lane.bar(best.i).causes,
      x: place.left + pane.x(lane.start[best.i] + lane.duration[best.i] / 2), y: place.top + pane.tops[best.r] + (best.l + 0.5) * pane.lane };
  });
  expect(!causes || target !== null, `${where}: no kernel has causes`);
  if (target === null) return;
  await settled();
  await page.mouse.click(target.x, target.y);
  await settled();
  expect((await panel.locator(".details h3").textContent()) === target.name, `${where}: a click does not choose the kernel under it`);
  const bars = await panel.locator(".details .causes tr").count();
  expect(bars > 0, `${where}: a slowed kernel without causes`);
  const sum = target.causes.reduce((a, b) => a + b, 0);
  expect(Math.abs(sum - target.slowdown) < 0.004 + 0.01 * target.slowdown, `${where}: causes add up to ${sum}, the slowdown is ${target.slowdown}`);
}

// `drawn`: the same steps as the README's picture has them.
async function checkWaterfall(page, where, expect, drawn) {
  expect((await page.locator("figure[aria-label^='From '] svg.marks .mark-rect path").count()) > 5, `${where}: no waterfall`);
  const steps = await page.evaluate(() => {
    const { scenarios } = switchfold.data.result;
    const alone = scenarios.find((s) => !s.overlap);
    return switchfold.waterfallSteps(alone, scenarios.filter((s) => s.overlap)).map(({ what, us, total }) => ({ what, us, total }));
  });
  let at = 0;
  for (const step of steps) {
    if (step.total !== undefined) expect(at === 0 || Math.abs(at - step.total) < 1e-3, `${where}: the waterfall reaches ${at} instead of ${step.total} in ${step.what}`);
    at = step.total ?? at + step.us;
  }
  expect(drawn.length === steps.length && drawn.every(([, us, total], i) => Math.abs((us ?? total) - (steps[i].us ?? steps[i].total)) < 1e-6),
    `${where}: the waterfall is not that of the picture: ${JSON.stringify(steps)}`);
  expect(steps.filter((s) => s.total !== undefined).length === 3, `${where}: the waterfall has not three totals`);
  expect((await page.locator("figure[aria-label^='From '] svg.marks .mark-rule.role-mark line").count()) >= 2, `${where}: the waterfall has no whiskers`);
}

async function checkGains(page, where, expect, folder) {
  const charts = page.locator("figure[aria-label^='Gain over']");
  expect((await charts.count()) > 0, `${where}: no gain over the baseline`);
  if (folder !== "sizes") return;
  expect((await charts.first().getAttribute("data-crossovers")) > 0, `${where}: no crossover is marked`);
  const labels = await charts.first().locator("svg.marks .mark-text.role-mark text").allTextContents();
  expect(labels.some((text) => /[KM]iB$/.test(text)), `${where}: a crossover without its size: ${labels}`);
  expect((await charts.first().locator("svg.marks .mark-rule.role-mark line").count()) > 10, `${where}: gains without whiskers`);
  await page.locator("label:has-text('baseline') select").selectOption("in_switch");
  await page.evaluate(() => Promise.all(switchfold.ready).then(() => null));
  await page.locator("figure[aria-label^='Gain over in_switch'] svg.marks").first().waitFor();
}

// Everything that is used has a name; keys reach the contents first; ends of links are there.
async function checkKeys(page, where, expect) {
  await page.evaluate(() => { document.activeElement?.blur(); window.scrollTo(0, 0); });
  const nameless = await page.evaluate(() => [...document.querySelectorAll("select, input, button, canvas, [role=button]")].filter((node) =>
    !(node.getAttribute("aria-label") || node.labels?.[0]?.textContent.trim() || node.textContent.trim())).length);
  expect(nameless === 0, `${where}: ${nameless} controls have no name`);
  const broken = await page.evaluate(() => [...document.querySelectorAll("nav a")].filter((a) => !document.getElementById(a.getAttribute("href").slice(1))).length);
  expect(broken === 0, `${where}: ${broken} links of the contents lead nowhere`);
  const positive = await page.evaluate(() => document.querySelectorAll("[tabindex]:not([tabindex='0']):not([tabindex='-1'])").length);
  expect(positive === 0, `${where}: the order of tabs is not that of the page`);
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement.closest("nav") !== null), `${where}: the first tab does not reach the contents`);
}

async function checkPaper(page, where, expect) {
  await page.emulateMedia({ media: "print" });
  const { wider, colour } = await page.evaluate(() => ({ wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    colour: getComputedStyle(document.body).backgroundColor }));
  expect(colour === "rgb(255, 255, 255)", `${where}: paper is ${colour}`);
  expect(wider <= 0, `${where}: ${wider} pixels are cut on paper`);
  await page.emulateMedia({ media: "screen" });
}

export async function checkExplorer(page, where, file, problems) {
  const folder = path.basename(path.dirname(file));
  const expect = (condition, what) => {
    if (!condition) problems.push(what);
    return condition;
  };
  await checkKeys(page, where, expect);
  // Pages of other runs have them too, where their files are there.
  const has = async (name) => (await page.locator(`.panel[aria-label^='${name}']`).count()) > 0;
  if (MAPS.includes(folder) || (await has("The machine"))) await checkMap(page, where, file, expect);
  if (MAPS.includes(folder) || (await has("Timelines"))) await checkTimelines(page, where, expect, folder === "run");
  if (WATERFALLS.includes(folder)) await checkWaterfall(page, where, expect, JSON.parse(fs.readFileSync(path.join(path.dirname(file), "waterfall.json"), "utf8")));
  if (GAINS.includes(folder)) await checkGains(page, where, expect, folder);
  await checkPaper(page, where, expect);
}
