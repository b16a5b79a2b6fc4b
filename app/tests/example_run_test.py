#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shipped example as the README runs it: its table, its folder, its page, its timeline.

usage: example_run_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import csv
import gzip
import json
import pathlib
import tempfile
import unittest

from command_line_checks import EXAMPLE, Folder, SOURCE, TRACE, switchfold


class Example(Folder):
    """The shipped example, run once as described in the README."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.out = pathlib.Path(holder.name, "a", "b")
        cls.ran = switchfold("run", EXAMPLE, "--out", cls.out, "--timeline", "--jobs", "2")
        cls.result = json.loads((cls.out / "result.json").read_text())
        cls.documented = (SOURCE / "docs/results.md").read_text()
        cls.documented += (SOURCE / "docs/statistics.md").read_text()

    def test_the_table_names_the_scenarios_and_says_that_the_trace_is_made_up(self):
        self.assertEqual(self.ran.returncode, 0, self.ran.stderr)
        for word in ("serial", "ring", "in_switch", "synthetic", str(self.out / "result.json")):
            self.assertIn(word, self.ran.stdout)

    def test_its_figures_have_intervals(self):
        if not (SOURCE / "validation/data/residuals.csv").is_file():
            self.assertIn("note: no intervals: validation/data/residuals.csv was not found", self.ran.stdout)
            return
        self.assertRegex(self.ran.stdout, r"(?m)^90 % of such cases .* iteration ")
        self.assertRegex(self.ran.stdout, r"(?m)^intervals( of .*)?: 90 % of .*measured collectives")
        for scenario in self.result["scenarios"]:
            for figure in ("iteration_us", "backward_slowdown", "speedup"):
                interval = scenario["intervals"][figure]
                self.assertTrue(interval["measured"], interval)
                self.assertLessEqual(interval["low"], scenario[figure] + 1e-6)
                self.assertGreaterEqual(interval["high"], scenario[figure] - 1e-6)
        ring = self.result["scenarios"][1]
        share = {f: ring["intervals"][f]["high"] / ring["intervals"][f]["low"] for f in ("iteration_us", "speedup")}
        self.assertLess(share["speedup"], share["iteration_us"])  # what both scenarios share cancels

    def test_the_readme_names_the_largest_cause(self):
        # scripts/quoted_output compares the table itself.
        causes = self.result["scenarios"][1]["slowdown_by_cause"]
        self.assertEqual(max(causes, key=causes.get), "completion")
        ring, in_switch = (s["backward_slowdown"] for s in self.result["scenarios"][1:])
        self.assertLess(in_switch, 0.6 * ring)
        readme = " ".join((SOURCE / "README.md").read_text().split())
        low = [100 * s["backward_slowdown_low"] for s in self.result["scenarios"][1:]]
        self.assertIn(f"the slowdown is a range: {low[0]:.1f} to {100 * ring:.1f} %, and {low[1]:.1f} to "
                      f"{100 * in_switch:.1f} % with reduction in the switch", readme)
        self.assertIn("**The largest cause is the wait of completions**", readme)

    def test_the_folder_holds_what_the_manual_says(self):
        names = ["causes.csv", "communication.csv", "counters.csv", "effective-config.json", "kernels.csv", "links.json",
                 "result.json", "timeline.json.gz"]
        written = sorted(p.name for p in self.out.iterdir() if p.name != "report.html")
        self.assertEqual(written, names)
        for name in names:
            self.assertRegex(self.documented, rf"(?m)^(## {name}|\| `{name}` \|)")

    def test_report_prints_the_same_table_again(self):
        table = self.ran.stdout[: self.ran.stdout.index("\nresults: ")]
        self.assertEqual(self.done("report", "--text", self.out), table)
        self.assertEqual(self.done("report", "--text", self.out, self.out), table + "\n" + table)

    def test_report_writes_a_page_or_says_what_is_missing(self):
        result = switchfold("report", self.out)
        if result.returncode == 2:
            self.assertRegex(result.stderr, r"^report: /: cannot draw charts: npm .*build again")
            return
        self.assertEqual(result.returncode, 0, result.stderr)
        page = (self.out / "report.html").read_text(encoding="utf-8")
        self.assertIn(f"report: {self.out}/report.html", result.stdout)
        self.assertLess(len(page), 5_000_000)
        # The page is self-contained: nothing is fetched.
        self.assertNotRegex(page[: page.index("vega-lite")], r'(src|href)="')
        self.refused("report", self.out, "--data", TRACE, says="--data")

    def test_report_of_what_is_no_finished_run(self):
        self.refused("report", "--text", self.out, self.folder, says=[str(self.folder), "finished run"])

    def test_every_field_and_column_is_documented(self):
        def keys(value):
            if isinstance(value, dict):
                for key, inner in value.items():
                    yield key
                    if not (key.startswith("events_") or key in ("kernel_durations", "kernel_bytes",
                                                                 "collective_sizes")):
                        yield from keys(inner)
            elif isinstance(value, list):
                for inner in value[:1]:
                    yield from keys(inner)

        with open(self.out / "kernels.csv", newline="", encoding="utf-8") as file:
            columns = next(csv.reader(file))
        for key in {*keys(self.result), *keys(self.result["scenarios"][2]), *columns}:
            self.assertRegex(self.documented, rf"`(host\.)?{key}`", key)

    def test_serial_is_the_measure_and_overlap_hides_communication(self):
        serial, ring, in_switch = self.result["scenarios"]
        self.assertEqual(serial["backward_slowdown"], 0)
        for overlapped in (ring, in_switch):
            self.assertGreater(overlapped["backward_slowdown"], 0)
            causes = overlapped["slowdown_by_cause"]
            self.assertAlmostEqual(sum(causes.values()), overlapped["backward_slowdown"], places=5)
            exposed = "exposed_communication_us"
            self.assertLess(overlapped[exposed], serial[exposed])
        self.assertEqual({c["algorithm"] for c in in_switch["collectives"]}, {"in_switch"})
        self.assertTrue(in_switch["reduction_units"])
        self.assertFalse(ring["reduction_units"])

    def test_components_say_what_they_did_and_what_that_means(self):
        _, ring, in_switch = self.result["scenarios"]
        declared = {
            table["kind"]: {value["name"] for value in table["values"]}
            for table in self.result["statistics"]
        }
        self.assertEqual(set(declared), {"links", "switches", "reduction_units", "gpus", "memory", "host_copies"})
        for scenario in (ring, in_switch):
            for kind, names in declared.items():
                for component in scenario[kind]:
                    self.assertEqual(set(component), {"name"} | names)
            kernels = self.result["workload"]["events_used"]["kernels"]
            self.assertEqual([gpu["kernels"] for gpu in scenario["gpus"]], 8 * [kernels])
            self.assertEqual(len(scenario["memory"]), 8)
            entered = sum(link["packets"] for link in scenario["links"] if "_to_gpu" not in link["name"])
            self.assertEqual(sum(node["packets"] for node in scenario["switches"]), entered)
        self.assertTrue(all(node["multicast_copies"] > 0 for node in in_switch["switches"]))
        self.assertTrue(all(node["multicast_copies"] == 0 for node in ring["switches"]))

    def test_every_kernel_of_every_rank_is_there_and_alone_takes_its_isolated_time(self):
        with open(self.out / "kernels.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 3 * 8 * self.result["workload"]["events_used"]["kernels"])
        for row in rows:
            self.assertGreater(float(row["duration_us"]), 0)
            if row["scenario"] == "serial":
                self.assertEqual(float(row["overlapped_share"]), 0)
                self.assertLess(abs(float(row["slowdown"])), 1e-4, row)

    def test_the_timeline_is_a_kineto_trace(self):
        trace = json.loads(gzip.decompress((self.out / "timeline.json.gz").read_bytes()))
        self.assertEqual(trace["schemaVersion"], 1)
        self.assertTrue(trace["deviceProperties"] and "distributedInfo" in trace)
        tracks = {}
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                self.assertGreater(event["dur"], 0)
                if event["cat"] not in ("user_annotation", "switch"):
                    self.assertIsInstance(event["args"]["stream"], int)
                    self.assertIn("correlation", event["args"])
                track = tracks.setdefault((event["pid"], event["tid"]), [])
                track.append((event["ts"], event["ts"] + event["dur"]))
        for spans in tracks.values():
            spans.sort()
            for (_, end), (start, _) in zip(spans, spans[1:]):
                self.assertLessEqual(end, start + 1e-6)
        names = {
            event["pid"]: event["args"]["name"]
            for event in trace["traceEvents"]
            if event["name"] == "process_name"
        }
        ranks = {0: "serial rank 0", 100000: "ring rank 0", 200000: "in_switch rank 0"}
        self.assertEqual(names, ranks | {299999: "in_switch switches"})
        self.assertIn("C", {event["ph"] for event in trace["traceEvents"]})
        steps = [e["name"] for e in trace["traceEvents"] if e.get("cat") == "user_annotation"]
        self.assertEqual(steps, 3 * ["ProfilerStep#0", "ProfilerStep#1"])

    def test_twice_gives_the_same_bytes(self):
        self.done("run", EXAMPLE, "--out", self.folder, "--timeline", "--jobs", "1")
        again = json.loads((self.folder / "result.json").read_text())
        again["host"] = self.result["host"]
        self.assertEqual(json.dumps(again), json.dumps(self.result))
        for name in ("kernels.csv", "effective-config.json", "timeline.json.gz"):
            same = (self.folder / name).read_bytes() == (self.out / name).read_bytes()
            self.assertTrue(same, name)


if __name__ == "__main__":
    unittest.main()
