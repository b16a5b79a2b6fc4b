// SPDX-License-Identifier: Apache-2.0
// Reads timelines with the trace engine of Chrome's DevTools and prints what it found in each, a line of JSON a file.
// usage: node parse_timelines.mjs NODE_MODULES TIMELINE.json.gz...
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import zlib from "node:zlib";

// The engine runs in a browser: it asks for these two.
globalThis.window ??= globalThis;
globalThis.DOMRect ??= class {
  constructor(x, y, width, height) {
    Object.assign(this, { x, y, width, height });
  }
  static fromRect({ x, y, width, height }) {
    return new DOMRect(x, y, width, height);
  }
};

const [modules, ...files] = process.argv.slice(2);
const entry = path.join(path.resolve(modules), "@paulirish/trace_engine/models/trace/trace.js");
const { Processor } = await import(pathToFileURL(entry).href);

for (const file of files) {
  const content = JSON.parse(zlib.gunzipSync(fs.readFileSync(file)).toString());
  const engine = Processor.TraceProcessor.createWithAllHandlers();
  await engine.parse(content.traceEvents ?? content, {});
  const threads = [];
  for (const [pid, one] of engine.data.Renderer.processes)
    for (const [tid, thread] of one.threads)
      threads.push({ pid, tid, name: thread.name, slices: thread.entries.length, depth: thread.tree?.maxDepth ?? 0 });
  console.log(JSON.stringify({ file, generic: engine.data.Meta.traceIsGeneric, threads }));
}
