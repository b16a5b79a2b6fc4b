// SPDX-License-Identifier: Apache-2.0
// Where a machine's nodes stand on its map. Few nodes stand alone; of many, a computer or a row of like nodes is one
// place, which can be opened.
"use strict";
(() => {
  const MOST_NODES = 160;
  const MOST_LINKS = 1000;
  const MOST_ALONE = 8;  // computers
  const CELL = { x: 58, y: 62 };
  // Rows of a computer from above: what leads out of it, its GPUs, their own switches.
  const ROWS = ["nic", "host", "memory", "pcie", "gpu", "switch"];
  const WORDS = { gpu: "GPUs", switch: "switches", nic: "NICs", host: "hosts", memory: "memories", pcie: "PCIe switches" };

  function groupBy(items, key) {
    const map = new Map();
    for (const item of items) map.set(key(item), [...(map.get(key(item)) || []), item]);
    return map;
  }

  // Like nodes in rows of at most `most` places.
  function chunks(nodes, most) {
    if (nodes.length <= most) return nodes.map((n) => [n]);
    const size = Math.ceil(nodes.length / most);
    return Array.from({ length: Math.ceil(nodes.length / size) }, (_, i) => nodes.slice(i * size, (i + 1) * size));
  }

  // Switches of a network by level, those next to the computers last, as far as their names tell: leaf, spine, core.
  function levels(nodes, links) {
    const byName = groupBy(nodes, (n) => n.kind + n.name.replace(/\d+/g, ""));
    const ids = new Set(nodes.map((n) => n.id));
    const out = (some) => {
      const own = new Set(some.map((n) => n.id));
      return links.some((l) => own.has(l.from) && !ids.has(l.to)) ? 1 : 0;
    };
    return [...byName.values()].sort((a, b) => out(a) - out(b) || a.length - b.length);
  }

  const named = (nodes) => (nodes.length === 1 ? nodes[0].name : `${nodes[0].name} to ${nodes.at(-1).name.replace(/^\D+(?=\d+$)/, "")}`);

  function place(some, row, machine) {
    const { kind } = some[0];
    return { nodes: some.map((n) => n.id), kind, row, machine, name: named(some), key: some.length > 1 ? `${kind} ${some[0].id}` : null,
      told: some.length > 1 ? `${some.length} ${WORDS[kind]}` : some[0].name };
  }
  // Places of nodes of one computer, kind by kind.
  function placesOf(nodes, machine, most) {
    return ROWS.flatMap((kind, row) => chunks(nodes.filter((n) => n.kind === kind), most).map((some) => place(some, row, machine)));
  }
  // Of the network between computers, level by level.
  const placesOfNetwork = (nodes, links, most) => levels(nodes, links).flatMap((level, row) => chunks(level, most).map((some) => place(some, row, null)));

  // What is drawn of a machine: everything, or what is open with what it is linked to.
  function placesIn(topology, open, used) {
    const nodes = topology.nodes.map((n, id) => ({ ...n, id }));
    const few = nodes.length <= MOST_NODES && topology.links.length <= MOST_LINKS;
    const moving = new Set(used.flatMap((l) => [topology.links[l].from, topology.links[l].to]));
    const computers = groupBy(nodes.filter((n) => n.machine !== null), (n) => n.machine);
    // What is idle of a large network is left out.
    const network = nodes.filter((n) => n.machine === null && (few || moving.size === 0 || moving.has(n.id)));
    if (open === null && few && computers.size <= MOST_ALONE)
      return [...placesOfNetwork(network, topology.links, MOST_NODES), ...[...computers].flatMap(([m, own]) => placesOf(own, m, MOST_NODES))];
    const overview = computers.size > 1
      ? [...placesOfNetwork(network, topology.links, 16), ...[...computers].map(([m, own]) => ({
          nodes: own.map((n) => n.id), kind: "computer", row: 99, machine: null, name: `machine ${m}`, key: `machine ${m}`,
          told: `machine ${m}: ${own.filter((n) => n.kind === "gpu").length} GPUs` }))]
      : placesOf(nodes, 0, 16);
    if (open === null) return overview;
    const opened = overview.find((p) => p.key === open);
    if (!opened) return overview;
    const inside = opened.nodes.map((id) => nodes[id]);
    const machine = inside[0].machine;
    const shown = placesOf(inside, machine, opened.nodes.length <= MOST_NODES ? MOST_NODES : 24).map((p) => ({ ...p, key: null }));
    const within = new Set(opened.nodes);
    const near = new Set(topology.links.flatMap((l) => (within.has(l.from) ? [l.to] : within.has(l.to) ? [l.from] : [])));
    return [...shown, ...overview.filter((p) => p !== opened && p.nodes.some((id) => near.has(id)))];
  }

  // Rows of at most `across` places, or a circle where GPUs are linked to each other alone.
  function arrange(places, across, direct) {
    const gpus = places.filter((p) => p.kind === "gpu");
    if (direct && gpus.length >= 3 && gpus.length <= 16) {
      const r = Math.max(110, gpus.length * 24);
      const others = places.filter((p) => p.kind !== "gpu");
      const above = others.length > 0 ? arrange(others, across, false) : { width: 0, height: 0 };
      const width = Math.max(2 * r + CELL.x, above.width);
      for (const p of others) p.x += (width - above.width) / 2;
      gpus.forEach((p, i) => {
        const turn = 2 * Math.PI * (i + 0.5) / gpus.length - Math.PI / 2;
        Object.assign(p, { x: width / 2 + r * Math.cos(turn), y: above.height + r + CELL.y / 2 + r * Math.sin(turn) });
      });
      return { width, height: above.height + 2 * r + CELL.y };
    }
    const rows = [...groupBy(places, (p) => p.row)].sort((a, b) => a[0] - b[0]).flatMap(([, of]) => {
      const most = Math.max(2, of.some((p) => p.kind === "computer" || p.key) ? Math.floor(across / 2) : across);
      // Rows of about the same length.
      const each = Math.ceil(of.length / Math.ceil(of.length / most));
      return Array.from({ length: Math.ceil(of.length / each) }, (_, i) => of.slice(i * each, (i + 1) * each));
    });
    const longest = Math.max(...rows.map((r) => r.length), 1);
    // Few nodes stand further apart; rows do where many links cross between them.
    const apart = Math.max(1, Math.min(1.6, across / 1.3 / longest));
    const down = CELL.y * Math.max(1, Math.min(2.4, longest / 4)) * (rows.length > 4 ? 0.8 : 1);
    const pitch = (p) => (p.kind === "computer" || p.key ? 2 : apart) * CELL.x;
    const width = Math.max(...rows.map((r) => r.reduce((sum, p) => sum + pitch(p), 0)));
    rows.forEach((row, i) => {
      // Fewer stand further apart, in line with those below them.
      const own = row.reduce((sum, p) => sum + pitch(p), 0);
      const gap = row.length > 0 ? (width - own) / row.length : 0;
      let x = 0;
      for (const p of row) {
        Object.assign(p, { x: x + (pitch(p) + gap) / 2, y: CELL.y / 2 + i * down });
        x += pitch(p) + gap;
      }
    });
    return { width, height: CELL.y + (rows.length - 1) * down };
  }

  // Places with their coordinates, boxes around computers, and the size of all.
  switchfold.mapLayout = (topology, open, across, used) => {
    const places = placesIn(topology, open, used);
    const kinds = topology.nodes.map((n) => n.kind);
    const direct = topology.links.some((l) => kinds[l.from] === "gpu" && kinds[l.to] === "gpu");
    const parts = groupBy(places, (p) => p.machine);
    const above = parts.get(null) || [];
    parts.delete(null);
    const framed = parts.size > 1 || above.length > 0;
    const margin = framed ? 14 : 0;
    const title = framed ? 16 : 0;
    const boxes = [...parts].map(([machine, own]) => {
      return { machine, own, ...arrange(own, parts.size > 1 ? 8 : across, direct && own.every((p) => p.kind !== "switch")) };
    });
    const width = across * CELL.x;
    let [x, y, tall, widest] = [0, 0, 0, 0];
    const top = above.length > 0 ? arrange(above, across, false) : { width: 0, height: 0 };
    y = above.length > 0 ? top.height + 2 * margin : 0;
    for (const box of boxes) {
      const [w, h] = [box.width + 2 * margin, box.height + 2 * margin + title];
      if (x > 0 && x + w > width) { x = 0; y += tall + 2 * margin; tall = 0; }
      for (const p of box.own) { p.x += x + margin; p.y += y + margin + title; }
      Object.assign(box, { x, y, w, h });
      x += w + 2 * margin;
      widest = Math.max(widest, x - 2 * margin);
      tall = Math.max(tall, h);
    }
    widest = Math.max(widest, top.width);
    for (const p of above) p.x += (widest - top.width) / 2;
    return { places, boxes: framed ? boxes : [], width: widest, height: Math.max(y + tall, top.height) };
  };
})();
