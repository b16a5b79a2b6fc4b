# SPDX-License-Identifier: Apache-2.0
"""Traces that are broken in one of the ways in which real ones are: `trace check` and `run` agree on each, and no
figure moves by more than 1 % without a sentence that says why.

usage: broken_traces_test.py PROGRAM SOURCE [COUNT]
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

import trace_maker
from trace_maker import Recording, collective, gemm, recordings

PROGRAM, SOURCE = sys.argv[1:3]
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 200


def plain(draw):
    """Operations of one step, the same on all ranks."""
    size = draw.choice([1, 2, 4]) * 1048576
    work = [gemm(draw.randint(100, 400)), collective("allreduce", draw.randint(150, 300), size)]
    for _ in range(draw.randint(1, 3)):
        work.append(gemm(draw.randint(100, 400)))
    return lambda rank: work


def made(draw, world=2, steps=3):
    return recordings(world, steps, plain(draw))


def iteration(ranks):
    return max(mean_step(recording) for recording in ranks)


def mean_step(recording):
    marks = [e for e in recording.events if e["name"].startswith("ProfilerStep")]
    return sum(e["dur"] for e in marks) / len(marks)


# Ways to break a trace. Each takes a source of random numbers and returns recordings and, where one is known, the
# iteration that is right.
def whole(draw):
    ranks = made(draw)
    return ranks, iteration(ranks)


def empty_mark(draw):
    ranks = made(draw)
    right = iteration(ranks)
    for recording in ranks:
        recording._event("user_annotation", "ProfilerStep#9", recording.time, draw.randint(20, 4000), {})
    return ranks, right


def empty_mark_between(draw):
    work = plain(draw)(0)
    ranks = []
    for rank in range(2):
        recording = Recording(rank, 2)
        recording.step(0, work)
        recording._event("user_annotation", "ProfilerStep#1", recording.time, 900, {})
        recording.time += 905
        recording.step(2, work)
        ranks.append(recording)
    return ranks, min(mean_of(r, (0, 2)) for r in ranks)


def mean_of(recording, numbers):
    marks = [e["dur"] for e in recording.events if e["name"] in {f"ProfilerStep#{n}" for n in numbers}]
    return sum(marks) / len(marks)


def work_between(draw):
    work = plain(draw)(0)
    ranks = []
    for rank in range(2):
        recording = Recording(rank, 2)
        for number in range(2):
            recording.step(number, work)
            recording.run([gemm(draw.randint(300, 900), "evaluation") for _ in range(3)])
            recording.time = max(recording.time, recording.gpu_end) + 200
        ranks.append(recording)
    return ranks, iteration(ranks)


def work_before(draw):
    work = plain(draw)(0)
    ranks = []
    for rank in range(2):
        recording = Recording(rank, 2)
        recording.run([gemm(500, "warm_up") for _ in range(4)])
        recording.time += 300
        for number in range(2):
            recording.step(number, work)
        ranks.append(recording)
    return ranks, iteration(ranks)


def lost_kernels(draw):
    ranks = made(draw)
    right = iteration(ranks)
    for recording in ranks:
        end = next(e for e in recording.events if e["name"] == "ProfilerStep#0")
        limit = end["ts"] + end["dur"]
        recording.events = [e for e in recording.events if e["cat"] != "kernel" or e["ts"] > limit]
    return ranks, right


def without_time(draw):
    ranks = made(draw)
    right = iteration(ranks)
    kernel = draw.choice([e for e in ranks[0].events if e["cat"] == "kernel" and e["name"] == trace_maker.GEMM])
    kernel["ts"] = draw.choice([0, 3.5, 5e9])
    kernel["dur"] = 0
    return ranks, right


def negative_operator(draw):
    ranks = made(draw)
    right = iteration(ranks)
    operator = draw.choice([e for e in ranks[0].events if e["cat"] == "cpu_op"])
    operator["dur"] = -7
    return ranks, right


def text_for_grid(draw):
    ranks = made(draw)
    right = iteration(ranks)
    for e in ranks[0].events:
        if e["cat"] == "cpu_op":
            e["args"].update({"grid": "grid(64, 1)", "block": None, "stream": {"id": 7}})
    return ranks, right


def only_optimizer(draw):
    work = plain(draw)(0)
    ranks = []
    for rank in range(2):
        recording = Recording(rank, 2)
        for number in range(4):
            recording.step(number, work, mark=False)
            recording._event("user_annotation", "Optimizer.step#SGD.step", recording.time - 6, 5, {})
        ranks.append(recording)
    return ranks, sum(op["us"] for op in work) + 18


def updated(recording, work, optimizer="SGD"):
    recording.run(work)
    recording._event("user_annotation", f"Optimizer.step#{optimizer}.step", recording.time - 6, 5, {})


def extra_before_update(draw):
    """Without marks, what runs between two optimizers' steps is no part of them."""
    work = plain(draw)(0)
    extra = draw.choice([[gemm(700, "evaluation")] * 4, work])  # the latter: a step whose optimizer was skipped
    at = draw.randrange(4)
    ranks = []
    for rank in range(2):
        recording = Recording(rank, 2)
        for number in range(4):
            if number == at:
                recording.run(extra)
            updated(recording, work)
        ranks.append(recording)
    return ranks, sum(op["us"] for op in work) + 18


def optimizers_in_turn(draw):
    first, second = plain(draw)(0), [gemm(150, "critic") for _ in range(3)]
    ranks = []
    for rank in range(2):
        recording = Recording(rank, 2)
        for _ in range(3):
            updated(recording, first)
            updated(recording, second, "Adam")
        ranks.append(recording)
    return ranks, sum(op["us"] for op in first + second) + 36


def mark_of_evaluation(draw):
    work = plain(draw)(0)
    ranks = []
    for rank in range(2):
        recording = Recording(rank, 2)
        for number in range(3):
            begin = recording.time
            recording.step(number, work)
            recording._event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", begin - 2,
                             recording.time - begin - 20, {})
        recording.step(3, [gemm(draw.randint(300, 900), "evaluation") for _ in range(3)])
        ranks.append(recording)
    return ranks, min(mean_of(r, (0, 1, 2)) for r in ranks)


def middle_stage(draw):
    """One rank of a pipeline: ranks that do as it does would wait for each other."""
    def arrives(peer):
        return collective("recv", 60, 1048576, ranks=[0, 1, 2, 3], **{"Src Rank": peer})

    def leaves(peer):
        return collective("send", 60, 1048576, ranks=[0, 1, 2, 3], **{"Dst Rank": peer})
    work = []
    for _ in range(draw.randint(1, 3)):
        work += [arrives(0), gemm(draw.randint(100, 300)), leaves(2)]
    for _ in range(draw.randint(1, 3)):
        work += [arrives(2), gemm(draw.randint(100, 300)), leaves(0)]
    recording = Recording(1, 4)
    for number in range(2):
        recording.step(number, work)
    return [recording], mean_step(recording)


def uneven(draw):
    parts = [[draw.randint(0, 4) * 524288 for _ in range(2)] for _ in range(2)]

    def work(rank):
        sent, came = parts[rank], [parts[other][rank] for other in range(2)]
        return [gemm(200), collective(
            "all_to_allv", 100, sum(sent), **{"In split size": json.dumps(sent), "Out split size": json.dumps(came),
                                              "Out msg nelems": sum(came)}), gemm(200)]
    return recordings(2, 2, work), None


def sends(draw):
    size = draw.choice([1, 8]) * 1048576

    def work(rank):
        call = collective("send", 80, size, **{"Dst Rank": 1}) if rank == 0 else \
            collective("recv", 80, size, **{"Src Rank": 0})
        return [gemm(200), call, gemm(200)]
    return recordings(2, 2, work), None


def sends_without_peer(draw):
    def work(rank):
        return [gemm(200), collective("send" if rank == 0 else "recv", 80), gemm(200)]
    return recordings(2, 2, work), None


def several_kernels(draw):
    call = {**collective("all_to_allv", 160, 2097152), "kernels": draw.choice([2, 4])}
    return recordings(2, 2, lambda rank: [gemm(200), call, gemm(200)]), None


def no_header(draw):
    return recordings(2, 3, plain(draw), distributed=False), None


def other_steps(draw):
    work = plain(draw)(0)
    ranks = []
    for rank in range(2):
        recording = Recording(rank, 2)
        for number in range(2):
            recording.step(number + rank * draw.choice([1, 7]), work)
        ranks.append(recording)
    return ranks, None


def one_of_groups(draw):
    tensor = draw.choice([2, 4])
    data = 8 // tensor
    work = [gemm(200), collective("allreduce", 60, group="1", ranks=list(range(tensor))), gemm(200),
            collective("allreduce", 90, group="2", ranks=list(range(0, 8, tensor)))]
    assert data > 1
    recording = Recording(0, 8)
    for number in range(2):
        recording.step(number, work)
    return [recording], None


def odd_group(draw):
    recording = Recording(0, 8)
    ranks = draw.choice([[0, 1, 5], [0, 3, 4, 6], [0, 6]])
    for number in range(2):
        recording.step(number, [gemm(200), collective("allreduce", 60, group="1", ranks=ranks)])
    return [recording], None


def unknown_sizes(draw):
    ranks = made(draw)
    for recording in ranks:
        for e in recording.events:
            for key in ("In msg nelems", "Out msg nelems"):
                e["args"].pop(key, None)
    return ranks, None


def other_library(draw):
    ranks = made(draw)
    name = draw.choice(["void vllm::cross_device_reduce_2stage<half, 8>()", "userbuffers_fp16_sum_inplace_gpu_rr<4>",
                        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_twoshot<2>()"])
    threads = draw.choice([512, 1024])
    for recording in ranks:
        recording.events = [e for e in recording.events if e["name"] != "record_param_comms"]
        for e in recording.events:
            if e["name"].startswith("nccl"):
                e["name"] = name
                e["args"]["block"] = [threads, 1, 1]
                e["args"] = {k: v for k, v in e["args"].items() if k[0].islower() or k == "External id"}
    return ranks, None


def another_order(draw):
    def work(rank):
        calls = [collective("allreduce", 90, group="0"), collective("_allgather_base", 90, group="1")]
        return [gemm(200)] + (calls if rank == 0 else calls[::-1]) + [gemm(200)]
    ranks = recordings(2, 2, work)
    for recording in ranks:
        for e in recording.events:
            if e["cat"] == "kernel" and "AllGather" in e["name"]:
                e["tid"] = e["args"]["stream"] = 24
    return ranks, None


def another_kind(draw):
    def work(rank):
        return [gemm(200), collective(draw.choice(["allreduce"]) if rank == 0 else "_reduce_scatter_base", 90)]
    return recordings(2, 2, work), None


def a_rank_missing(draw):
    ranks = recordings(4, 2, plain(draw))
    return [ranks[0], ranks[2]], None


WAYS = [whole, empty_mark, empty_mark_between, work_between, work_before, lost_kernels, without_time,
        negative_operator, text_for_grid, only_optimizer, extra_before_update, optimizers_in_turn,
        mark_of_evaluation, middle_stage, uneven, sends, sends_without_peer, several_kernels, no_header,
        other_steps, one_of_groups, odd_group, unknown_sizes, other_library, another_order, another_kind,
        a_rank_missing]


class BrokenTraces(unittest.TestCase):
    def call(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300, cwd=self.folder)

    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.folder = self.kept.name

    def tearDown(self):
        self.kept.cleanup()

    def write(self, ranks):
        files = []
        for i, recording in enumerate(ranks):
            files.append(os.path.join(self.folder, f"rank{i}.json"))
            with open(files[-1], "w", encoding="utf-8") as out:
                out.write(recording.text())
        return files

    def try_one(self, way, seed):
        ranks, right = way(random.Random(seed))
        files = self.write(ranks)
        checked = self.call("trace", "check", "--json", *files)
        self.assertIn(checked.returncode, (0, 2), checked.stderr)
        experiment = {
            "name": "broken", "system": os.path.join(SOURCE, "configs/systems/hgx_h100.json"),
            "workload": {"type": "trace", "files": files, "ranks": max(r.world for r in ranks)},
            "scenarios": [{"name": "serial", "overlap": False},
                          {"name": "ring", "all_reduce": {"algorithm": "ring"}}]}
        path = os.path.join(self.folder, "e.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump(experiment, out)
        ran = self.call("run", path, "--json")
        if checked.returncode == 0:
            self.assertEqual(ran.returncode, 0, f"check passed, and run says {ran.stderr}")
        else:
            self.assertNotEqual(ran.returncode, 0, f"run gives a result, and check says {checked.stderr}")
            return "refused"
        answer = json.loads(checked.stdout)
        self.assertEqual(answer["verdict"] == "replayable", not answer["assumptions"])
        if right is not None:
            inspected = json.loads(self.call("trace", "inspect", "--json", *files).stdout)
            off = abs(inspected["iteration_us"] / right - 1)
            self.assertLess(off, 0.04, f"{way.__name__} {seed}: {inspected['iteration_us']} us, right is {right}")
            if way not in (whole, text_for_grid):  # these change nothing
                said = answer["assumptions"] or any(f["dropped"] or f["mended"] for f in answer["files"])
                self.assertTrue(said, f"{way.__name__}: no word of what is broken")
        return "replayed"

    def test_check_tries_a_system_too(self):
        files = self.write(one_of_groups(random.Random(1))[0])
        small = self.call("trace", "check", "--json", *files, "--system",
                          os.path.join(SOURCE, "configs/systems/rtx2080ti_pcie.json"))
        self.assertEqual(small.returncode, 2)
        self.assertIn("has 4 GPUs", small.stderr)
        self.assertRegex(json.loads(small.stdout)["verdict"], "^replayable with .*, but not on .*rtx2080ti")
        large = self.call("trace", "check", *files, "--system",
                          os.path.join(SOURCE, "configs/systems/hgx_h100.json"))
        self.assertEqual(large.returncode, 0, large.stderr)
        self.assertIn("[2, 3]", large.stdout, "how the groups were laid out")

    def with_capacity(self, capacity):
        """A system whose GPUs have this much memory."""
        systems = os.path.join(SOURCE, "configs/systems")
        path = os.path.join(self.folder, "system.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"$base": os.path.join(systems, "hgx_h100.json"),
                       "gpu": {"$base": os.path.join(systems, "gpus/h100.json"), "memory": {"capacity": capacity}}}, out)
        return path

    def try_capacity(self, way, seed):
        draw = random.Random(seed)
        files = self.write(way(draw)[0])
        system = self.with_capacity(draw.choice(["1 B", "1 MiB", "3 MiB", "80 GiB"]))
        checked = self.call("trace", "check", "--json", *files, "--system", system)
        self.assertIn(checked.returncode, (0, 2), checked.stderr)
        ranks = max([1] + [one["world_size"] for one in json.loads(checked.stdout)["files"]])
        experiment = {"name": "memory", "system": system, "workload": {"type": "trace", "files": files, "ranks": ranks},
                      "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}]}
        path = os.path.join(self.folder, "e.json")
        answers = {}
        for memory in ("check", "ignore"):
            with open(path, "w", encoding="utf-8") as out:
                json.dump({**experiment, "memory": memory}, out)
            answers[memory] = self.call("run", path, "--json")
        self.assertEqual(checked.returncode == 0, answers["check"].returncode == 0,
                         f"check says {checked.stderr}, and run says {answers['check'].stderr}")
        if "expected GPUs with more memory" not in checked.stderr:
            return "runs" if checked.returncode == 0 else "refused otherwise"
        self.assertIn("/workload/files: state", answers["check"].stderr)
        self.assertEqual(answers["ignore"].returncode, 0, answers["ignore"].stderr)
        self.assertIn("memory is ignored", answers["ignore"].stdout)
        return "lacks memory"

    def test_check_and_run_agree_on_memory(self):
        count = set()
        for number in range(max(len(WAYS), COUNT // 4)):
            way = WAYS[number % len(WAYS)]
            with self.subTest(way=way.__name__, seed=number):
                count.add(self.try_capacity(way, number))
        self.assertLessEqual({"runs", "lacks memory"}, count)

    def test_check_and_run_agree(self):
        count = {}
        for number in range(COUNT):
            way = WAYS[number % len(WAYS)]
            with self.subTest(way=way.__name__, seed=number):
                count.setdefault(way.__name__, set()).add(self.try_one(way, number))
        self.assertEqual(count.get("odd_group"), {"refused"})
        self.assertEqual(count.get("another_kind"), {"refused"})
        self.assertEqual(count.get("a_rank_missing"), {"refused"})
        for way in ("uneven", "sends", "one_of_groups", "unknown_sizes", "other_library", "another_order",
                    "extra_before_update", "optimizers_in_turn", "mark_of_evaluation", "middle_stage"):
            self.assertEqual(count.get(way), {"replayed"}, way)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
