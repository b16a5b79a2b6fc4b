#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One timeline per rank in the format of torch.profiler. The files must follow the rules of Holistic Trace Analysis and
of Chrome's trace events, and switchfold's own reader must find the simulated kernels and collectives in them.

usage: rank_timelines_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import collections
import csv
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
RANKS = 4
WAITS = ("cudaStreamSynchronize", "cudaStreamWaitEvent")  # calls that launch nothing


def switchfold(*words, code=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == code, done.stderr
    return done


class RankTimelines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        cls.out = cls.folder / "traced"
        switchfold("run", SOURCE / "configs/experiments/example.json", "--set", f"/workload/ranks={RANKS}", "--set",
                   "/causes=false", "--out", cls.out, "--rank-timelines")
        cls.planned = cls.folder / "planned"
        plan = {
            "name": "planned", "system": str(SOURCE / "configs/systems/hgx_h100.json"), "causes": False,
            "workload": {
                "type": "training", "gradient": "bfloat16", "plan": {"data": 2, "pipeline": 2, "micro_batch": 1, "accumulate": 2},
                "network": {"type": "gpt", "layers": 4, "hidden": 512, "heads": 8, "sequence": 256, "vocabulary": 2048}},
            "scenarios": [{"name": "a/b: c"}],
        }
        (cls.folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        switchfold("run", cls.folder / "plan.json", "--out", cls.planned, "--rank-timelines")

    def trace(self, folder, rank):
        return json.loads(gzip.decompress((folder / f"rank{rank}.json.gz").read_bytes()))

    def folders(self):
        return [*sorted((self.out / "rank-timelines").iterdir()), *(self.planned / "rank-timelines").iterdir()]

    def test_a_folder_a_scenario_and_a_file_a_rank(self):
        names = [f.name for f in self.folders()]
        self.assertEqual(names, ["in_switch", "ring", "serial", "a_b__c"])
        for folder in self.folders():
            files = sorted(p.name for p in folder.iterdir())
            self.assertEqual(files, [f"rank{rank}.json.gz" for rank in range(RANKS)])

    def test_holistic_trace_analysis_finds_the_ranks(self):
        # create_rank_to_trace_dict() needs a JSON object with a different rank in every file of the folder.
        for folder in self.folders():
            ranks = [json.loads(gzip.decompress(p.read_bytes()))["distributedInfo"]["rank"] for p in folder.iterdir()]
            self.assertTrue(all(isinstance(rank, int) for rank in ranks))
            self.assertEqual(sorted(ranks), list(range(RANKS)))

    def test_events_are_what_its_parser_and_perfetto_keep(self):
        for folder in self.folders():
            trace = self.trace(folder, 1)
            correlations, launched, steps = [], [], []
            tracks = collections.defaultdict(list)
            for event in trace["traceEvents"]:
                self.assertIsInstance(event["pid"], int)
                self.assertIsInstance(event["tid"], int)
                if event["ph"] != "X":
                    self.assertEqual(event["ph"], "M")
                    self.assertNotIn("dur", event)  # metadata: Holistic Trace Analysis drops it
                    continue
                self.assertGreater(event["dur"], 0)
                self.assertGreaterEqual(event["ts"], 0)
                tracks[event["pid"], event["tid"], event["cat"]].append((event["ts"], event["ts"] + event["dur"]))
                arguments = event["args"]
                if event["cat"] in ("kernel", "gpu_memcpy"):
                    self.assertEqual(arguments["stream"], event["tid"])  # stream >= 0 marks GPU events
                    correlations.append(arguments["correlation"])
                elif event["cat"] == "cuda_runtime":
                    self.assertIn(event["name"], ("cudaLaunchKernel", "cudaMemcpyAsync", *WAITS))
                    self.assertNotIn("stream", arguments)
                    if event["name"] not in WAITS:
                        launched.append(arguments["correlation"])
                else:
                    self.assertEqual(event["cat"], "user_annotation")
                    steps.append(event["name"])
            self.assertEqual(len(correlations), len(set(correlations)))
            self.assertLessEqual(set(launched), set(correlations))
            self.assertEqual(steps[0], "ProfilerStep#0")
            for spans in tracks.values():  # slices of a thread must not overlap
                spans.sort()
                for (_, end), (start, _) in zip(spans, spans[1:]):
                    self.assertLessEqual(end, start + 2e-6)
            named = [e for e in trace["traceEvents"] if "Collective name" in e.get("args", {})]
            self.assertTrue(named)
            for event in named:
                self.assertTrue(event["name"].startswith("nccl"))  # the prefix marks communication

    def test_launches_are_those_of_the_trace(self):
        trace = self.trace(self.out / "rank-timelines/ring", 0)
        launches = {e["args"]["correlation"]: e for e in trace["traceEvents"]
                    if e.get("cat") == "cuda_runtime" and e["name"] not in WAITS}
        self.assertGreater(len(launches), 1000)
        for event in trace["traceEvents"]:
            launch = launches.get(event.get("args", {}).get("correlation"))
            if launch is not None and event["cat"] != "cuda_runtime":
                self.assertLessEqual(launch["ts"] + launch["dur"], event["ts"] + 1e-6)

    def rows(self, folder, scenario, rank):
        with (folder / "kernels.csv").open(encoding="utf-8", newline="") as file:
            rows = [r for r in csv.DictReader(file) if (r["scenario"], r["rank"]) == (scenario, str(rank))]
        return [(r["name"], float(r["duration_us"])) for r in rows]

    def test_our_reader_finds_the_kernels_and_collectives_that_ran(self):
        for out, scenario, folder in ((self.out, "ring", "ring"), (self.planned, "a/b: c", "a_b__c")):
            files = [out / "rank-timelines" / folder / f"rank{rank}.json.gz" for rank in range(RANKS)]
            self.assertIn("verdict:", switchfold("trace", "check", *files).stdout)
            again = self.folder / "again.jsonl"
            switchfold("trace", "convert", *files, "--out", again)
            records = [json.loads(line) for line in again.read_text(encoding="utf-8").splitlines()]
            result = json.loads((out / "result.json").read_text(encoding="utf-8"))
            simulated = next(s for s in result["scenarios"] if s["name"] == scenario)
            # A collective has one part per rank. The reader cannot match sends and receives, which have no group.
            read = collections.Counter(
                (r["kind"], r["bytes"]) for r in records if r["type"] == "collective" and r["kind"] != "all_to_all")
            told = collections.Counter()
            for collective in simulated["collectives"]:
                if "all_reduce" in collective["name"]:
                    told["all_reduce", collective["size_bytes"]] += collective["ranks"]
            self.assertTrue(told)
            self.assertEqual(read, told)
            kernels = [r for r in records if r["type"] == "kernel"]
            rows = [row for rank in range(RANKS) for row in self.rows(out, scenario, rank)]
            self.assertEqual(len(kernels), len(rows))
            took = sorted(r["duration_ps"] * 1e-6 for r in kernels)
            self.assertLess(max(abs(a - b) for a, b in zip(took, sorted(row[1] for row in rows))), 3e-6)

    def test_without_the_option_an_old_folder_goes(self):
        out = self.folder / "again"
        small = ("run", SOURCE / "configs/experiments/all_reduce_256MiB.json", "--set", "/workload/size=1 MiB", "--out", out)
        switchfold(*small, "--rank-timelines")
        self.assertTrue((out / "rank-timelines").is_dir())
        first = {p.relative_to(out): p.read_bytes() for p in (out / "rank-timelines").rglob("*.gz")}
        switchfold(*small, "--rank-timelines")
        self.assertEqual({p.relative_to(out): p.read_bytes() for p in (out / "rank-timelines").rglob("*.gz")}, first)
        switchfold(*small)
        self.assertFalse((out / "rank-timelines").exists())

    def test_refusals(self):
        small = SOURCE / "configs/experiments/all_reduce_256MiB.json"
        self.assertIn("--rank-timelines: /: needs a folder", switchfold("run", small, "--rank-timelines", code=2).stderr)
        many_core = SOURCE / "configs/experiments/autoencoder_on_phi.json"
        done = switchfold("run", many_core, "--rank-timelines", "--out", self.folder / "phi", code=2)
        self.assertIn("--rank-timelines: /: is for one workload on GPUs", done.stderr)


if __name__ == "__main__":
    unittest.main()
