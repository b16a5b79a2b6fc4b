// SPDX-License-Identifier: Apache-2.0
// Opens reports in a headless Chromium: charts draw, nothing is complained of, keys reach everything, nothing is cut, axes
// repeat no tick and print none over another, the first sentence names a scenario.
// usage: node report_browser_test.mjs NODE_MODULES CHROMIUM SCREENSHOT_FOLDER PAGE...
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { checkExplorer } from "./report_explorer_checks.mjs";

const [modules, chromium, shots, ...pages] = process.argv.slice(2);
const playwright = createRequire(path.join(path.resolve(modules), "here.js"))("playwright-core");

const problems = [];
function expect(condition, what) {
  if (!condition) problems.push(what);
}

// The page is as wide as the window, whatever its charts and tables: those scroll, with their first column in place.
async function checkWidth(page, where) {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(wider <= 0, `${where}: ${wider} pixels are cut at the right edge`);
  for (const box of await page.locator("div.wide").all()) {
    const { moved, hidden, left, shown } = await box.evaluate((node) => {
      node.scrollLeft = node.scrollWidth;
      const cell = node.querySelector("tbody th").getBoundingClientRect();
      const last = node.querySelector("thead th:last-child").getBoundingClientRect();
      const frame = node.getBoundingClientRect();
      const told = { moved: node.scrollLeft, hidden: node.scrollWidth - node.clientWidth, left: cell.left - frame.left, shown: last.right <= frame.right + 1 };
      node.scrollLeft = 0;
      return told;
    });
    expect(Math.abs(moved - hidden) <= 1 && shown, `${where}: a table does not scroll to its last column`);
    expect(Math.abs(left) <= 1, `${where}: the first column of a table leaves with the others`);
  }
}

// No tick of an axis, and no entry of a legend, has the label of another.
async function checkTicks(page, where) {
  const repeated = await page.evaluate(() => [...document.querySelectorAll("figure g.role-axis-label, figure g.role-legend-label")].map((labels) =>
    [...labels.querySelectorAll("text")].map((text) => text.textContent).filter((text) => text !== ""))
    .filter((texts) => new Set(texts).size < texts.length));
  expect(repeated.length === 0, `${where}: an axis repeats a tick: ${JSON.stringify(repeated)}`);
}

// Texts end within their cell, their drawing and the page; what scrolls by itself may be wider.
async function checkCut(page, where) {
  const cut = await page.evaluate(() => {
    const told = (node) => `${node.tagName} "${node.textContent.trim().slice(0, 40)}"`;
    const scrolls = (node) => node && (/auto|scroll/.test(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
    const within = (inner, outer) => inner.left >= outer.left - 1 && inner.right <= outer.right + 1 && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
    const found = [...document.querySelectorAll("th, td, p, h1, h2, figcaption, summary")].filter((n) => n.scrollWidth > n.clientWidth + 1).map((n) => `${told(n)} in its box`);
    const width = document.documentElement.clientWidth;
    for (const node of document.querySelectorAll("main *"))
      if (node.getBoundingClientRect().right > width + 1 && !scrolls(node.parentElement)) found.push(`${told(node)} at the page's edge`);
    for (const svg of document.querySelectorAll("svg.marks"))
      for (const text of svg.querySelectorAll("text"))
        if (text.textContent && text.getAttribute("opacity") !== "0" && !within(text.getBoundingClientRect(), svg.getBoundingClientRect())) found.push(`${told(text)} at its drawing's edge`);
    return found;
  });
  expect(cut.length === 0, `${where}: cut: ${cut.slice(0, 4).join("; ")}`);
}

// Labels of one axis or legend do not lie over each other.
async function checkOverlaps(page, where) {
  const over = await page.evaluate(() => {
    for (const labels of document.querySelectorAll("figure g.role-axis-label, figure g.role-legend-label, figure g.role-axis")) {
      const boxes = [...labels.querySelectorAll("text")].filter((t) => t.textContent && t.getAttribute("opacity") !== "0" && getComputedStyle(t).opacity !== "0")
        .map((t) => ({ text: t.textContent, box: t.getBoundingClientRect() }));
      for (const [i, a] of boxes.entries())
        for (const b of boxes.slice(i + 1))
          if (Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left) > 2 && Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top) > 4)
            return [a.text, b.text];
    }
    return null;
  });
  expect(over === null, `${where}: texts lie over each other: ${JSON.stringify(over)}`);
}

// The first sentence speaks of scenarios of this experiment, if there are several to choose from.
async function checkAnswer(page, where) {
  const { answer, names } = await page.evaluate(() => ({
    answer: document.getElementById("answer").textContent,
    names: (switchfold.data.result?.scenarios ?? []).map((s) => s.name),
  }));
  expect(names.length < 2 || names.some((name) => answer.includes(name)), `${where}: the sentence names no scenario: ${answer}`);
}

// The labels of shares tell ticks apart over any range, not only those that happen to be drawn.
async function checkShares(page, where) {
  const repeated = await page.evaluate(() => {
    const label = new Function("datum", "format", `return ${switchfold.percentLabel}`);
    const textOf = (value) => label({ value, label: "x" }, (number, how) => vega.defaultLocale().format(how)(number));
    for (let power = -7; power <= 1; ++power)
      for (let low = 0; low < 30; ++low)
        for (let high = low + 1; high < 31; ++high)
          for (const count of [4, 10, 20]) {
            const ticks = vega.scale("linear")().domain([low * 10 ** power / 7, high * 10 ** power / 7]).ticks(count);
            const texts = ticks.map(textOf);
            if (new Set(texts).size < texts.length) return texts;
          }
    return null;
  });
  expect(repeated === null, `${where}: shares repeat a tick: ${JSON.stringify(repeated)}`);
}

// Intervals are whiskers at bars and bars at points, in those pages that have some.
async function checkWhiskers(page, where, folder) {
  const drawn = (label, width) => page.locator(`figure[aria-label^='${label}'] svg.marks .mark-rule.role-mark line[stroke-width='${width}']`).count();
  if (folder === "run") {
    expect((await drawn("The iteration by scenario", 1.5)) >= 3, `${where}: times without whiskers`);
    expect((await drawn("Speed-up by scenario", 1.5)) >= 3, `${where}: speed-ups without whiskers`);
    expect((await drawn("Slowdown of the backward pass by cause", 1.5)) >= 2, `${where}: slowdowns without whiskers`);
    expect((await page.locator("td", { hasText: / \(.* to .*\)$/ }).count()) > 6, `${where}: a table without intervals`);
  }
  if (folder === "sizes") expect((await drawn("Time against size", 1.5)) > 20, `${where}: points without intervals`);
}

// What the sentence of each kind of run speaks of, by the folder of the run.
const sentences = {
  sizes: /^In-switch reduction is faster than ring /, run: /slows the backward pass by .* in .*; least in /,
  plans: /trains .* samples a second.*bubble/, regions: / as fast as /, joins: /samples a second over .*in training that counts/,
  averages: /^(every|All scenarios end)/, tokens: /exchanges in .* GB\/s.* times as fast as /,
};

async function check(browser, file, colorScheme, width) {
  const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
  page.setDefaultTimeout(180000);  // a busy machine takes many times as long as an idle one
  const where = `${file} (${colorScheme}, ${width} px)`;
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(`${where}: console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`${where}: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) problems.push(`${where}: asks the network for ${request.url()}`);
  });
  const start = Date.now();
  await page.goto("file://" + path.resolve(file));
  // What vegaEmbed hands out cannot be sent here.
  await page.evaluate(() => Promise.all(switchfold.ready).then(() => null));
  const seconds = (Date.now() - start) / 1000;
  const figures = await page.locator("figure").count();
  expect(figures > 0, `${where}: no chart`);
  expect((await page.locator("figure svg.marks").count()) === figures, `${where}: a chart did not draw`);
  expect((await page.locator("figure svg.marks path, figure svg.marks rect").count()) > figures, `${where}: charts are empty`);
  expect((await page.locator("#answer").textContent()).length > 20, `${where}: no answer`);
  const answer = await page.locator("#answer").textContent();
  const kind = sentences[path.basename(path.dirname(path.resolve(file)))];
  expect(!kind || kind.test(answer), `${where}: the sentence does not speak of its kind of run: ${answer}`);
  expect((await page.locator("figure[tabindex='0'][aria-label]").count()) === figures, `${where}: a chart that keys do not reach`);
  const exports = await page.locator(".vega-actions a").allTextContents();
  expect(exports.some((t) => t.includes("SVG")) && exports.some((t) => t.includes("PNG")), `${where}: no download`);
  await checkWidth(page, where);
  await checkTicks(page, where);
  await checkCut(page, where);
  await checkOverlaps(page, where);
  await checkAnswer(page, where);
  const exponents = (await page.locator("main").textContent()).match(/[0-9]e\+[0-9]+ ?[A-Za-z%]*/g);
  expect(exponents === null, `${where}: a number is written with an exponent: ${exponents}`);
  const stretch = page.locator("figure[aria-label^='Kernels and collectives'] svg.marks path[fill='#56b4e9']");
  const beside = await page.evaluate(() => switchfold.data.stretch?.bars.some((bar) => bar.slowdown === null));
  if (beside && (await page.locator("figure[aria-label^='Kernels and collectives']").count()) > 0)
    expect((await stretch.count()) > 0, `${where}: the worst stretch shows no collective`);
  const passes = await page.evaluate(() => (switchfold.data.schedules?.charts ?? []).map((chart) => chart.bars.length));
  for (const [index, chart] of (await page.locator("figure.schedule").all()).entries())
    expect((await chart.locator("svg.marks .mark-rect path").count()) >= Math.max(1, passes[index]), `${where}: a schedule without passes`);
  for (const chart of await page.locator("figure.memory").all()) {
    expect((await chart.locator("svg.marks .mark-area path").count()) > 2, `${where}: memory without classes`);
    expect(/ peak [0-9.]+ [GM]iB at .* in [A-Z]+[0-9]/.test(await chart.locator("figcaption").textContent()), `${where}: memory without its peak`);
    expect((await chart.locator("svg.marks .mark-symbol.role-mark path").count()) === 1, `${where}: a peak without a mark`);
  }
  await checkWhiskers(page, where, path.basename(path.dirname(path.resolve(file))));
  const parts = page.locator("figure[aria-label^='Parts of a step']");
  if ((await parts.count()) > 0) {
    expect((await parts.locator("svg.marks .mark-rect path").count()) > 12, `${where}: a step without parts`);
    expect((await page.locator("th").allTextContents()).every((t) => !/comm|GPU/.test(t)), `${where}: figures of GPUs on a coprocessor`);
    expect(/ as fast as /.test(await page.locator("#answer").textContent()), `${where}: no speed-up in the answer`);
  }
  await page.screenshot({ path: path.join(shots, `${path.basename(path.dirname(path.resolve(file)))}-${colorScheme}-${width}.png`), fullPage: true });
  await checkExplorer(page, where, path.resolve(file), problems);
  const untitled = await page.locator("figcaption:empty").count();
  expect(untitled === 0, `${where}: a chart without a title`);
  const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect((background === "rgb(255, 255, 255)") === (colorScheme === "light"), `${where}: colours of the other scheme`);
  await page.close();
  console.log(`${where}: ${figures} charts in ${seconds.toFixed(2)} s`);
}

const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
try {
  // Every page is seen narrow and dark; every other one wide too.
  for (const [index, file] of pages.entries())
    for (const [scheme, width] of [["light", 1024], ["dark", 1300], ...(index % 2 === 0 ? [["light", 1920]] : [])]) await check(browser, file, scheme, width);
  const page = await browser.newPage();
  page.setDefaultTimeout(180000);
  await page.goto("file://" + path.resolve(pages[0]));
  await checkShares(page, pages[0]);
} finally {
  await browser.close();
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
