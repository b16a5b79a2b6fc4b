#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks that were not traced, and scenarios that a machine cannot run.

usage: late_peers_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
MS = 1_000_000_000  # ps
STEPS = 3


def trace(rank=0, synthetic=False, resident=3 * MS):
    """A trace of one rank of two: each step has four backward kernels of 1 ms and a 4 MiB all-reduce in 8 blocks."""
    records = [
        {"type": "trace", "version": 2, "world_size": 2, "traced_ranks": 1, "steps": STEPS, "synthetic": synthetic},
        {"type": "name", "text": "gemm"},
        {"type": "name", "text": "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
        {"type": "group", "name": "world", "ranks": [0, 1]},
        {"type": "rank", "rank": rank, "world_size": 2, "steps": STEPS, "synthetic": synthetic},
        {"type": "stream", "name": "7"},
        {"type": "stream", "name": "20"},
    ]
    operation = 0
    for step in range(STEPS):
        common = {"step": step, "phase": "backward"}
        for kernel in range(4):
            # The first kernel of a step waits for the previous step; the others do not.
            after = {"after": [1]} if kernel == 0 and step > 0 else {}
            records.append({"type": "kernel", "name": 0, "stream": 0, "duration_ps": MS, "grid": [432],
                            "block": [256], "registers_per_thread": 64, **common, **after})
            operation += 1
        records.append({"type": "collective", "name": 1, "stream": 1, "kind": "all_reduce", "bytes": 4 << 20,
                        "datatype": "float32", "group": 0, "sequence": step, "duration_ps": resident,
                        "thread_blocks": 8, "after": [4], **common})
    records.append({"type": "end", "records": len(records)})
    return "\n".join(json.dumps(r, separators=(",", ":")) for r in records) + "\n"


class LatePeers(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "rank0.jsonl").write_text(trace())
        (self.folder / "rank1.jsonl").write_text(trace(rank=1))
        (self.folder / "made_up.jsonl").write_text(trace(synthetic=True))
        (self.folder / "timeless.jsonl").write_text(trace(resident=0))

    def switchfold(self, workload, system="dgx_a100", scenarios=None):
        experiment = {"name": "late", "system": str(SOURCE / f"configs/systems/{system}.json"),
                      "workload": {"type": "trace", **workload}, "causes": False}
        if scenarios is not None:
            experiment["scenarios"] = scenarios
        path = self.folder / "experiment.json"
        path.write_text(json.dumps(experiment))
        return subprocess.run([PROGRAM, "run", path, "--json"], capture_output=True, text=True, timeout=100,
                              check=False)

    def result(self, *arguments, **options):
        run = self.switchfold(*arguments, **options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def refused(self, says, *arguments, **options):
        run = self.switchfold(*arguments, **options)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertIn(says, run.stderr)

    @staticmethod
    def one(**more):
        return {"files": ["rank0.jsonl"], "ranks": 2, **more}

    def test_the_others_come_as_late_as_the_traced_rank_saw(self):
        result = self.result(self.one())
        for scenario in result["scenarios"]:
            for collective in scenario["collectives"]:
                # The collective is resident for as long as traced: it waits 3 ms less the transfer of about 50 us.
                self.assertGreater(collective["ready_us"] - collective["start_us"], 2800)
                self.assertAlmostEqual(
                    collective["ready_us"] + collective["time_us"] - collective["start_us"], 3000, delta=100)
            self.assertAlmostEqual(scenario["waiting_for_late_ranks_us"], 2950, delta=100)
        note = " ".join(result["workload"]["notes"])
        self.assertIn("the others are as late as it saw: of 3 collectives 3 were resident for longer", note)

    def sizeless(self, gpu):
        """rank0.jsonl, but the trace does not say how large its collectives are."""
        records = [json.loads(line) for line in trace(resident=MS // 2).splitlines()]
        for record in records:
            if record["type"] == "collective":
                del record["bytes"]
                record["thread_blocks"] = 0
            if record["type"] in ("trace", "rank"):
                record["gpu"] = gpu
        (self.folder / "sizeless.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
        return {"files": ["sizeless.jsonl"], "ranks": 2}

    def test_sizes_and_late_ranks_are_those_of_the_machine_that_was_traced(self):
        def sizes(result):
            return {c["size_bytes"] for scenario in result["scenarios"] for c in scenario["collectives"]}

        def machine(name):
            return str(SOURCE / f"configs/systems/{name}.json")

        workload = self.sizeless("NVIDIA A100-SXM4-80GB")
        here = self.result(workload)
        there = self.result({**workload, "traced_on": machine("dgx_a100")}, system="hgx_b200")
        unknown = self.result(workload, system="hgx_b200")
        self.assertEqual(len(sizes(here)), 1)
        self.assertEqual(sizes(there), sizes(here))
        # The faster machine would move more in the traced time, and its own transfer would be shorter.
        self.assertGreater(min(sizes(unknown)), 1.5 * max(sizes(here)))
        faster = there["scenarios"][1]["collectives"][0]["time_us"]
        self.assertLess(faster, 0.7 * here["scenarios"][1]["collectives"][0]["time_us"])
        self.assertIn("estimated from their shortest durations on dgx_a100", " ".join(there["workload"]["notes"]))
        for result, says in ((here, None), (there, "on NVIDIA B200 as where the trace was recorded"),
                             (unknown, "unless /workload/traced_on")):
            notes = [n for n in result["workload"]["notes"] if "kernels alone take" in n]
            self.assertEqual(len(notes), 0 if says is None else 1)
            if says is not None:
                self.assertIn("recorded, on NVIDIA A100 SXM4", notes[0])
                self.assertIn(says, notes[0])
        self.assertNotIn("unless", " ".join(there["workload"]["notes"]))

        # Scenarios on other machines move the same bytes as the experiment's own.
        ring = {"all_reduce": {"algorithm": "ring"}}
        both = self.result(workload, scenarios=[
            {"name": "a100", **ring}, {"name": "b200", "set": {"/system": machine("hgx_b200")}, **ring}])
        self.assertEqual(sizes(both), sizes(here))

        # The two ranks that ran tell what eight leave open: any machine will do that has two GPUs.
        eight = self.result({**workload, "ranks": 8, "traced_on": machine("gh200_4gpu")})
        self.assertIn("on gh200_4gpu", " ".join(eight["workload"]["notes"]))
        with open(os.path.join(self.folder, workload["files"][0]), encoding="utf-8") as two:
            of_eight = two.read().replace('"world_size": 2', '"world_size": 8')
        with open(os.path.join(self.folder, "of_eight.jsonl"), "w", encoding="utf-8") as out:
            out.write(of_eight)
        self.refused("experiment.json: /workload/traced_on: is gh200_4gpu with 4 GPUs, and the run has 8 ranks; "
                     "expected at least those",
                     {"files": ["of_eight.jsonl"], "ranks": 8, "traced_on": machine("gh200_4gpu")})
        self.refused("/workload/traced_on", {**workload, "traced_on": "nowhere.json"})

    def test_waiting_is_told_from_transfer_where_it_is_exposed(self):
        serial, ring = self.result(self.one())["scenarios"]
        self.assertAlmostEqual(serial["exposed_waiting_us"], serial["waiting_for_late_ranks_us"], delta=1)
        transfer = serial["exposed_communication_us"] - serial["exposed_waiting_us"]
        self.assertGreater(transfer, 10)
        self.assertLess(transfer, 200)
        self.assertLess(ring["exposed_waiting_us"], ring["waiting_for_late_ranks_us"])

    def test_the_result_says_what_it_would_be_with_all_together(self):
        late = self.result(self.one())["scenarios"]
        together = self.result(self.one(peers="together"))
        for scenario, alone in zip(late, together["scenarios"]):
            self.assertIsNone(alone["with_ranks_together"])
            self.assertLess(alone["waiting_for_late_ranks_us"], 1)
            for key, value in scenario["with_ranks_together"].items():
                self.assertEqual(value, alone[key], key)
        self.assertIn("no rank is ever late", " ".join(together["workload"]["notes"]))
        self.assertLess(together["scenarios"][1]["iteration_us"], late[1]["iteration_us"])

    def test_transfers_run_alone_within_the_limits_and_with_progress(self):
        self.result(self.one())  # writes the experiment
        command = [PROGRAM, "run", self.folder / "experiment.json"]
        limited = subprocess.run([*command, "--set", '/limits/simulated_time="10 us"'],
                                 capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual((limited.returncode, limited.stdout), (3, ""), limited.stderr)
        self.assertIn("the trace's all_reduce of 4 MiB over 2 ranks, simulated alone", limited.stderr)
        self.assertIn("(/limits/simulated_time)", limited.stderr)
        try:
            mine, its = os.openpty()
        except OSError:
            self.skipTest("progress goes to terminals alone, and the system has none to give")
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=its, timeout=100, check=True)
        os.close(its)
        shown = os.read(mine, 65536).decode()
        os.close(mine)
        self.assertRegex(shown, r"\r\x1b\[K *[0-9]+ % of the workload prepared  [0-9.]+ M events")

    def test_waiting_does_not_add_up_from_step_to_step(self):
        late, = (s for s in self.result(self.one())["scenarios"] if s["name"] == "serial")
        # Kernels (4 ms), then wait and transfer (3 ms).
        self.assertAlmostEqual(late["iteration_us"], 7000, delta=100)

    def test_what_no_real_run_waited_for_is_not_made_up(self):
        for file in ("made_up.jsonl", "timeless.jsonl"):
            workload = {"files": [file], "ranks": 2}
            for scenario in self.result(workload)["scenarios"]:
                self.assertLess(scenario["waiting_for_late_ranks_us"], 1)
            self.refused("/workload/peers: is as_traced, and the trace says of no collective",
                         {**workload, "peers": "as_traced"})

    def test_traced_ranks_are_as_late_as_they_are(self):
        both = {"files": ["rank0.jsonl", "rank1.jsonl"]}
        self.assertIsNone(self.result({**both, "peers": "as_traced"})["scenarios"][0]["with_ranks_together"])
        self.refused("/workload/peers: is together, and 2 ranks were traced", {**both, "peers": "together"})

    def test_a_wrong_word_is_found_out(self):
        self.refused("/workload/peers", self.one(peers="as_trace"))
        self.refused('did you mean "peers"', self.one(peer="together"))

    def test_a_default_scenario_that_the_machine_cannot_run_is_left_out(self):
        result = self.result(self.one())
        self.assertEqual([s["name"] for s in result["scenarios"]], ["serial", "ring"])
        self.assertIn("in_switch was left out: dgx_a100 cannot do it", " ".join(result["workload"]["notes"]))
        able = self.result(self.one(), system="hgx_h100")
        self.assertEqual([s["name"] for s in able["scenarios"]], ["serial", "ring", "in_switch"])
        asked = [{"name": "mine", "all_reduce": {"algorithm": "in_switch"}}]
        self.refused("/scenarios/0/all_reduce/algorithm: is in_switch", self.one(), scenarios=asked)


if __name__ == "__main__":
    unittest.main()
