// SPDX-License-Identifier: Apache-2.0
// Opens reports in a headless Chromium: charts draw, nothing is complained of, keys reach everything.
// usage: node report_browser_test.mjs NODE_MODULES CHROMIUM SCREENSHOT_FOLDER PAGE...
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";

const [modules, chromium, shots, ...pages] = process.argv.slice(2);
const playwright = createRequire(path.join(path.resolve(modules), "here.js"))("playwright-core");

const problems = [];
function expect(condition, what) {
  if (!condition) problems.push(what);
}

async function check(browser, file, colorScheme) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1300, height: 900 } });
  const where = `${file} (${colorScheme})`;
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
  expect((await page.locator("figure[tabindex='0'][aria-label]").count()) === figures, `${where}: a chart that keys do not reach`);
  const exports = await page.locator(".vega-actions a").allTextContents();
  expect(exports.some((t) => t.includes("SVG")) && exports.some((t) => t.includes("PNG")), `${where}: no download`);
  const stretch = page.locator("figure[aria-label^='Kernels and collectives'] svg.marks path[fill='#56b4e9']");
  if ((await page.locator("figure[aria-label^='Kernels and collectives']").count()) > 0)
    expect((await stretch.count()) > 0, `${where}: the worst stretch shows no collective`);
  for (const chart of await page.locator("figure.schedule").all())
    expect((await chart.locator("svg.marks .mark-rect path").count()) > 2, `${where}: a schedule without passes`);
  for (const chart of await page.locator("figure.memory").all()) {
    expect((await chart.locator("svg.marks .mark-area path").count()) > 2, `${where}: memory without classes`);
    expect(/ peak [0-9.]+ [GM]iB at .* in [A-Z]+[0-9]/.test(await chart.locator("figcaption").textContent()), `${where}: memory without its peak`);
    expect((await chart.locator("svg.marks .mark-symbol.role-mark path").count()) === 1, `${where}: a peak without a mark`);
  }
  const parts = page.locator("figure[aria-label^='Parts of a step']");
  if ((await parts.count()) > 0) {
    expect((await parts.locator("svg.marks .mark-rect path").count()) > 12, `${where}: a step without parts`);
    expect((await page.locator("th").allTextContents()).every((t) => !/comm|GPU/.test(t)), `${where}: figures of GPUs on a coprocessor`);
    expect(/ as fast as /.test(await page.locator("#answer").textContent()), `${where}: no speed-up in the answer`);
  }
  const untitled = await page.locator("figcaption:empty").count();
  expect(untitled === 0, `${where}: a chart without a title`);
  const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect((background === "rgb(255, 255, 255)") === (colorScheme === "light"), `${where}: colours of the other scheme`);
  await page.screenshot({ path: path.join(shots, `${path.basename(path.dirname(path.resolve(file)))}-${colorScheme}.png`), fullPage: true });
  await page.close();
  console.log(`${where}: ${figures} charts in ${seconds.toFixed(2)} s`);
}

const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
try {
  for (const file of pages) for (const scheme of ["light", "dark"]) await check(browser, file, scheme);
} finally {
  await browser.close();
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
