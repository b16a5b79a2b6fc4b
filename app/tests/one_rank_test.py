# SPDX-License-Identifier: Apache-2.0
"""A plan's own timelines are replayed: those of all ranks take the plan's time, with overlap and without it, and one
rank of several parallelisms stands for all.

usage: one_rank_test.py PROGRAM SOURCE
"""
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = sys.argv[1:3]
GPT = {"type": "gpt", "layers": 4, "hidden": 1024, "heads": 16, "sequence": 512, "vocabulary": 8192}
MOE = {"type": "moe", "layers": 2, "hidden": 512, "heads": 8, "kv_heads": 4, "sequence": 512, "vocabulary": 8192,
       "feed_forward": 1792, "experts": 8, "top_k": 2}
PLANS = {
    "data": (GPT, {"data": 8}),
    "tensor_data": (GPT, {"tensor": 2, "data": 4}),
    "data_in_pairs": (GPT, {"tensor": 4, "data": 2}),
    "sharded": (GPT, {"data": 8, "sharding": "parameters"}),
    "sharded_gradients": (GPT, {"data": 8, "sharding": "gradients"}),
    "context": (GPT, {"context": 2, "data": 4}),
    "expert": (MOE, {"data": 8, "expert": 4}),
    "pipeline": ({**GPT, "layers": 8}, {"pipeline": 4, "data": 2, "accumulate": 8}),
    "pipeline_of_like_stages": ({**GPT, "layers": 8, "vocabulary": 128}, {"pipeline": 4, "data": 2, "accumulate": 8}),
    "tensor_pipeline": ({**GPT, "layers": 8}, {"pipeline": 4, "tensor": 2, "accumulate": 8}),
}
# Hosts that launch one kernel after another, so that the GPU is idle where no collective is waited for.
WITH_HOSTS = {"data": "pytorch_eager", "sharded": "pytorch_eager", "tensor_data": "megatron_lm",
              "pipeline": "megatron_lm"}
# The first and the last stage do what the middle ones, of which one is given, do not: embeddings, the loss, and their
# all-reduces. With overlap the messages' traced times hold what this delays; without it, it delays by other times.
OVERLAPPED_ALONE = {"pipeline", "tensor_pipeline"}
# The first and the last stage reduce the tied embedding's gradients in a group that no layout repeats.
MIDDLE = {"pipeline", "pipeline_of_like_stages", "tensor_pipeline"}


RANGES = 10  # random plans whose ranges are looked at


def random_plan(draw):
    network = {"type": "gpt", "layers": draw.choice([4, 8]), "hidden": draw.choice([512, 1024, 2048]), "heads": 16,
               "sequence": draw.choice([256, 512, 1024]), "vocabulary": draw.choice([128, 8192, 32000])}
    if draw.random() < 0.4:
        plan = {"data": 8, "sharding": "parameters", "accumulate": draw.choice([1, 2])}
    else:
        tensor = draw.choice([1, 2])
        plan = {"pipeline": 2, "tensor": tensor, "data": 4 // tensor, "accumulate": draw.choice([4, 8])}
    return network, {"micro_batch": draw.choice([1, 2, 4]), **plan}


class OneRank(unittest.TestCase):
    def run_program(self, *arguments):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def replay(self, folder, name, files, ranks, system="hgx_h100", **workload):
        experiment = {
            "name": name, "system": os.path.join(SOURCE, f"configs/systems/{system}.json"), "causes": False,
            "workload": {"type": "trace", "files": files, "ranks": ranks, **workload},
            "scenarios": [{"name": "serial", "overlap": False}, {"name": "ring", "all_reduce": {"algorithm": "ring"}}]}
        path = os.path.join(folder, f"{name}.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump(experiment, out)
        return json.loads(self.run_program("run", path, "--json"))["scenarios"]

    def timelines(self, folder, network, plan, system=os.path.join(SOURCE, "configs/systems/hgx_h100.json")):
        """Traces of all eight ranks of a generated step."""
        path = os.path.join(folder, "plan.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({
                "name": "plan", "system": system, "causes": False,
                "exact": True,  # what is replayed does not depend on what a simulation leaves out
                "workload": {"type": "training", "gradient": "bfloat16", "network": network,
                             "plan": {"micro_batch": 2, **plan}},
                "scenarios": [{"name": "serial", "overlap": False},
                              {"name": "ring", "all_reduce": {"algorithm": "ring"}}]}, out)
        made = os.path.join(folder, "plan")
        self.run_program("run", path, "--out", made, "--rank-timelines")
        return [os.path.join(made, "rank-timelines", "ring", f"rank{r}.json.gz") for r in range(8)]

    def test_the_traces_of_all_ranks_take_the_time_of_their_plan(self):
        """Kernels ran beside collectives each time; no call says when they were launched, or hosts launched them."""
        hosts = [(name, {"launches": os.path.join(SOURCE, "configs/launches", f"{host}.json")})
                 for name, host in WITH_HOSTS.items()]
        for name, launches in [*((name, {}) for name in PLANS), *hosts]:
            with self.subTest(plan=name, **launches), tempfile.TemporaryDirectory() as folder:
                network, plan = PLANS[name][0], {**PLANS[name][1], **launches}
                files = self.timelines(folder, network, plan)
                with open(os.path.join(folder, "plan", "result.json"), encoding="utf-8") as made:
                    generated = {one["name"]: one["iteration_us"] for one in json.load(made)["scenarios"]}
                # The profiler's clocks are good to a microsecond. Hosts that are known hold up what runs too early.
                for label, traces in (("exact", files), ("noisy", self.noisy(folder, files))):
                    for one in self.replay(folder, label, traces, 8):
                        blurred = 0.015 if label == "exact" else 0.02
                        most = 0.01 if launches else blurred if one["name"] == "ring" else 0.03
                        self.assertLess(abs(one["iteration_us"] / generated[one["name"]] - 1), most,
                                        f"{name}, {label}, {one['name']}: {one['iteration_us']} for "
                                        f"{generated[one['name']]} us")

    def test_traces_of_slow_links_tell_of_fast_ones(self):
        """No call says when kernels were launched, or the host waits for them: it does not hold them where they waited
        for slow links, and kernels that never ran alone do not keep what these cost them."""
        with open(os.path.join(SOURCE, "configs/systems/hgx_h100.json"), encoding="utf-8") as source:
            slow = json.load(source)
        slow["topology"]["link"]["lane_bandwidth"] = "3.3 GB/s"  # an eighth
        slow["gpu"] = os.path.join(SOURCE, "configs/systems/gpus/h100.json")
        waits = {"launches": os.path.join(SOURCE, "configs/launches/megatron_lm.json")}  # after each pass
        for name, host in (("data", {}), ("sharded", {}), ("tensor_data", {}), ("pipeline", {}), ("data", waits),
                           ("pipeline", waits)):
            with self.subTest(plan=name, **host), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "slow.json")
                with open(path, "w", encoding="utf-8") as out:
                    json.dump(slow, out)
                network, plan = PLANS[name][0], {**PLANS[name][1], **host}
                self.timelines(folder, network, plan)
                with open(os.path.join(folder, "plan", "result.json"), encoding="utf-8") as made:
                    fast = {one["name"]: one["iteration_us"] for one in json.load(made)["scenarios"]}
                files = self.timelines(folder, network, plan, path)
                for one in self.replay(folder, "fast", files, 8, traced_on=path):
                    self.assertLess(abs(one["iteration_us"] / fast[one["name"]] - 1), 0.07,
                                    f"{name}, {one['name']}: {one['iteration_us']} for {fast[one['name']]} us")

    def test_other_forms_of_the_traces_take_the_same_time(self):
        """Graphs of Chakra (in whole microseconds, without launch shapes), and three steps in a row."""
        for name, host in WITH_HOSTS.items():
            with self.subTest(plan=name), tempfile.TemporaryDirectory() as folder:
                network, plan = PLANS[name]
                launches = os.path.join(SOURCE, "configs/launches", f"{host}.json")
                files = self.timelines(folder, network, {**plan, "launches": launches})
                once = self.replay(folder, "once", files, 8)
                self.run_program("trace", "convert", *files, "--to", "chakra", "--out", os.path.join(folder, "run"))
                graphs = [os.path.join(folder, f"run.{rank}.et") for rank in range(8)]
                for one, graph in zip(once, self.replay(folder, "graphs", graphs, 8)):
                    self.assertLess(abs(graph["iteration_us"] / one["iteration_us"] - 1), 0.002, one["name"])
                overlapped, = (one for one in self.replay(folder, "thrice", self.thrice(folder, files), 8)
                               if one["name"] == "ring")  # without overlap, hosts run ahead into the next step
                self.assertLess(abs(overlapped["iteration_us"] / once[1]["iteration_us"] - 1), 0.002)

    @staticmethod
    def changed(folder, name, files, change):
        """The same traces, each through `change`, which also gets a source of random numbers."""
        made = []
        for rank, file in enumerate(files):
            with gzip.open(file, "rt", encoding="utf-8") as source:
                trace = json.load(source)
            change(trace, random.Random(rank))
            made.append(os.path.join(folder, f"{name}{rank}.json"))
            with open(made[-1], "w", encoding="utf-8") as out:
                json.dump(trace, out)
        return made

    def thrice(self, folder, files):
        """Three marked steps, each as the one traced, with a microsecond of noise."""
        def repeat(trace, draw):
            step = [event for event in trace["traceEvents"] if event["ph"] == "X"]
            long = max(event["ts"] + event["dur"] for event in step)
            ids = 1 + max(event["args"].get("correlation", 0) for event in step)
            trace["traceEvents"] = []
            for number in range(3):
                for event in step:
                    event = {**event, "args": dict(event["args"]), "ts": event["ts"] + number * long}
                    for key in {"correlation", "External id"} & set(event["args"]):
                        event["args"][key] += number * ids
                    if event["cat"] == "user_annotation":
                        event["name"] = f"ProfilerStep#{number}"
                    elif event["cat"] == "kernel":
                        event["dur"] -= min(draw.uniform(0, 0.5), 0.2 * event["dur"])
                    trace["traceEvents"].append(event)
        return self.changed(folder, "thrice", files, repeat)

    def test_ranks_stand_for_twice_as_many(self):
        for name in ("data", "sharded", "tensor_data"):
            with self.subTest(plan=name), tempfile.TemporaryDirectory() as folder:
                network, plan = PLANS[name]
                files = self.timelines(folder, network, plan)
                with open(os.path.join(folder, "plan.json"), encoding="utf-8") as made:
                    experiment = json.load(made)
                experiment["system"] = os.path.join(SOURCE, "configs/systems/dgx_h100_ndr.json")
                experiment["workload"]["plan"]["data"] *= 2
                with open(os.path.join(folder, "twice.json"), "w", encoding="utf-8") as out:
                    json.dump(experiment, out)
                twice = json.loads(self.run_program("run", os.path.join(folder, "twice.json"), "--json"))["scenarios"]
                for label, traces in (("all", files), ("one", files[3:4])):
                    replayed = self.replay(folder, label, traces, 16, "dgx_h100_ndr")
                    for a, b in zip(twice, replayed):
                        self.assertLess(abs(b["iteration_us"] / a["iteration_us"] - 1), 0.03,
                                        f"{name}, {label}, {a['name']}: {b['iteration_us']} for "
                                        f"{a['iteration_us']} us")

    def noisy(self, folder, files):
        """The same traces, in which kernels begin and end up to half a microsecond apart."""
        def blur(trace, draw):
            for event in trace["traceEvents"]:
                if event.get("cat") == "kernel":
                    less = min(draw.uniform(0, 0.5), 0.2 * event["dur"])
                    event["ts"] += less if draw.random() < 0.5 else 0
                    event["dur"] -= less
        return self.changed(folder, "noisy", files, blur)

    def test_the_range_of_one_rank_holds_the_time_of_all(self):
        told = 0
        for seed in range(RANGES):
            draw = random.Random(seed)
            network, plan = random_plan(draw)
            with self.subTest(seed=seed, plan=plan), tempfile.TemporaryDirectory() as folder:
                files = self.timelines(folder, network, plan)
                every = self.replay(folder, "all", files, 8)
                one = self.replay(folder, "one", [files[draw.randrange(8)]], 8)
                for a, b in zip(every, one):
                    interval = b["intervals"]["iteration_us"]
                    self.assertLessEqual(interval["low"], a["iteration_us"], f"{a['name']}: {b['iteration_us']}")
                    self.assertGreaterEqual(interval["high"], a["iteration_us"], f"{a['name']}: {b['iteration_us']}")
                told += any("one rank's trace leaves open" in note for note in one[0]["notes"])
                self.assertFalse(any("leaves open" in note for note in one[1]["notes"]), "overlap is as traced")
        self.assertGreater(told, 0)

    def test_one_rank_takes_the_time_of_all(self):
        for name, (network, plan) in PLANS.items():
            with self.subTest(plan=name), tempfile.TemporaryDirectory() as folder:
                files = self.timelines(folder, network, plan)
                every = self.replay(folder, "all", files, 8)
                for rank in (3, 5) if name in MIDDLE else (0, 5):
                    one = self.replay(folder, f"one{rank}", [files[rank]], 8)
                    for a, b in list(zip(every, one))[1 if name in OVERLAPPED_ALONE else 0:]:
                        self.assertLess(abs(b["iteration_us"] / a["iteration_us"] - 1), 0.02,
                                        f"{name}, rank {rank}, {a['name']}: {b['iteration_us']} for "
                                        f"{a['iteration_us']} us")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
