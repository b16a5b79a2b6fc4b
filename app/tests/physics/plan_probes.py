# SPDX-License-Identifier: Apache-2.0
"""Probes of training steps, plans, runs of many steps and memory: what each place prints is what the scenario takes."""
import csv
import json
import pathlib
import re
import tempfile

import machines as m
from bench import Refused, turned
from contention_probes import endless
from probe import Probe, at_most, equals, holds, moves, never_falls, never_rises, same

PLAN = "/workload/plan/"
UNITS = {"ps": 1e-6, "ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


def probes(source):
    h100, pcie, host = (m.named(source, n) for n in ("hgx_h100", "v100_pcie", "hgx_h100_host"))
    out = []

    def add(name, why, values, measure, *laws):
        out.append(Probe(name, why, values, measure, list(laws)))

    def turning(pointer, experiment, scenario="s", key="iteration_us"):
        return lambda bench, value: m.figure(bench, turned(experiment, pointer, value), scenario, key)

    ddp = plain(h100, m.step(blocks=4))
    plan = plain(h100, m.planned(m.gpt(), data=2, micro_batch=4, accumulate=2))
    pipeline = plain(h100, m.planned(m.gpt(layers=8), pipeline=4, micro_batch=2, accumulate=4, partition="equal"))
    wide = plain(h100, m.planned(m.gpt(layers=8, hidden=2048, vocabulary=512), pipeline=4, micro_batch=4, schedule="gpipe"))
    averaged = averages(pcie)
    elastic = changes(source, h100)

    # Buckets and steps.
    many = plain(h100, {"type": "training", "network": "resnet50", "batch": 8, "ranks": 4})
    add("small_buckets_have_their_price",
        "Each bucket is launched and goes around the ring by itself: a hundred small ones take longer than a few large.",
        ["4 KiB", "256 KiB", "5 MiB"], lambda bench, size: m.figure(bench, turned(turned(
            many, "/workload/bucket", size), "/workload/first_bucket", size), "s", "iteration_us"), never_rises, moves(1.05))
    add("a_single_bucket_has_its_price",
        "One bucket of all gradients leaves when the last of them is there, and then nothing is left to hide it.",
        ["5 MiB", "1 GiB"], turning("/workload/bucket", many), never_falls)
    add("more_samples_never_take_less", "A sample more is work more.", [1, 2, 4, 8], turning("/workload/batch", ddp),
        never_falls)
    add("twice_the_layers_never_take_less", "A layer more is work more.", [1, 2, 4, 8],
        turning("/workload/transformer/blocks", ddp), never_falls)
    add("a_single_gpu_knows_no_links", "One GPU sends nothing.", ["10 GB/s", "26.5625 GB/s", "53 GB/s"],
        turning("/system/topology/link/lane_bandwidth", plain(h100, m.step(ranks=1))), same)
    add("micro_batches_take_as_often_as_they_are",
        "Each micro-batch that adds its gradients to those before takes as long as the other ones.",
        [2, 4, 8],
        lambda bench, n: without_update(bench, turned(plain(h100, m.planned(m.gpt(), micro_batch=4)), PLAN + "accumulate", n)) / n,
        same)
    add("a_slow_rank_sets_the_pace",
        "Replicas meet at the end of a step: with one whose kernels take twice as long it takes at most twice, and not less.",
        [1.0, 1.25, 1.5, 2.0],
        lambda bench, f: m.figure(bench, ddp | {"ranks": [{"rank": 0, "compute": f}]}, "s", "iteration_us") / m.figure(
            bench, ddp, "s", "iteration_us"), never_falls, at_most(lambda f: f, 0.02), moves(1.2))
    add("a_late_rank_delays_by_no_more_than_it_is_late_where_memory_has_no_limit",
        "Who waits for a rank waits as long as it is late, and its waiting blocks hold at most 24 of 132 SMs meanwhile.",
        [0, 50, 200, 1000], lambda bench, d: late(bench, endless(ddp), d) - late(bench, endless(ddp), 0) - d,
        at_most(lambda d: 1 + 24 / 132 * d, 0))
    add("a_late_rank_delays_by_little_more_than_it_is_late_where_kernels_do_not_wait_at_their_end",
        "The same with a memory that others share: ranks out of step meet other kernels beside their communication.",
        [0, 50, 200, 1000],
        lambda bench, d: late(bench, unwaited(ddp), d) - late(bench, unwaited(ddp), 0) - d, at_most(lambda d: 10 + 24 / 132 * d))
    add("a_late_rank_delays_by_no_more_than_its_full_buffers_cost",
        "Ranks that are ahead fill the late one's buffers: the kernel before each of its seven all-reduces ends beside a "
        "transfer of up to 0.2 of the memory, and a completion waits 26 us of the whole.",
        [0, 50, 200, 1000], lambda bench, d: late(bench, ddp, d) - late(bench, ddp, 0) - d,
        at_most(lambda d: 10 + 24 / 132 * d + 7 * 0.2 * 26))

    # Pipelines.
    add("bubble_of_a_pipeline",
        "Four stages wait for each other at least three passes of m + 3 (GPipe's closed form), beside messages.",
        [4, 8, 16], lambda bench, n: m.figure(bench, turned(wide, PLAN + "accumulate", n), "s", "bubble_share"),
        never_rises, lambda values, figures: (f"{f:.4f} of {n}, where the closed form gives {3 / (n + 3):.4f}"
                                              for n, f in zip(values, figures) if f < 0.99 * 3 / (n + 3)))
    add("more_micro_batches_never_take_less", "A micro-batch more is work more.", [1, 2, 4, 8],
        turning(PLAN + "accumulate", pipeline), never_falls)
    add("faster_links_never_slow_a_pipeline", "Messages that arrive sooner are waited for less.",
        ["1 GB/s", "5 GB/s", "26.5625 GB/s", "53 GB/s"], turning("/system/topology/link/lane_bandwidth", pipeline), never_rises)
    add("longer_links_never_speed_up_a_pipeline", "Messages that arrive later are waited for longer.",
        ["50 ns", "200 ns", "2 us", "20 us"], turning("/system/topology/link/latency", pipeline), never_falls)
    add("tensor_parallel_ranks_keep_the_bytes_of_the_step",
        "A layer that is divided over ranks is as much arithmetic, so it takes no longer than on one rank, without messages.",
        [1, 2, 4], lambda bench, n: m.figure(bench, turned(plain(h100, m.planned(m.gpt(hidden=2048), micro_batch=8)),
                                                           PLAN + "tensor", n), "s", "forward_us"), never_rises)

    # What is averaged, joined and shared stands in the first table too.
    add("averages_less_often_take_less", "An exchange every fourth step is a quarter of an exchange a step.",
        [1, 4, 16], lambda bench, n: m.figure(bench, turned(averaged, "/learning/averaging/every", n), "s", "iteration_us"),
        never_rises, moves(1.5))
    add("averages_less_often_show_in_the_table", "The first table is that of the scenario.",
        [1, 4, 16], lambda bench, n: shown(bench, turned(averaged, "/learning/averaging/every", n), "iteration"),
        never_rises, moves(1.5))
    add("the_first_figure_is_the_step_that_learning_counts", "A scenario has one time a step.",
        [1, 4, 16], lambda bench, n: ratio(bench, turned(averaged, "/learning/averaging/every", n), learned), equals(lambda _: 1))
    add("plan_and_learning_average_alike",
        "The same averages, written into the plan or into learning, are the same exchanges.",
        [4, 16], lambda bench, n: m.figure(bench, turned(averaged, "/learning/averaging/every", n), "s", "iteration_us") / m.figure(
            bench, plain(pcie, averaged["workload"] | {"plan": averaged["workload"]["plan"] | {
                "average": {"method": "periodic", "every": n}}}), "s", "iteration_us"), equals(lambda _: 1, 0.02))
    add("members_show_in_the_first_table", "More replicas that keep their samples do more a second.",
        [2, 4, 8], lambda bench, n: m.figure(bench, turned(turned(averages(h100), PLAN + "data", n), "/learning/batch", 4 * n),
                                             "s", "samples_per_s"), never_falls, moves(1.5))
    add("shares_show_in_the_first_table",
        "With shares of 4 : 2 : 1 : 1 the first replica has four times the samples of the last, and all wait for it.",
        [[1, 1, 1, 1], [4, 2, 1, 1]], lambda bench, shares: m.figure(bench, turned(turned(turned(averages(
            h100), PLAN + "data", 4), "/learning/batch", 64), "/learning/shares", shares), "s", "iteration_us"),
        never_falls, moves(1.1))
    add("ways_of_change_show_in_the_first_table",
        "A restart stops all members for seconds and a join does not: the run's samples a second differ.",
        ["join", "reconnect", "restart"], lambda bench, way: shown_rate(bench, turned(elastic, "/run/method", way)),
        never_rises, moves(1.1))
    add("more_state_never_joins_faster", "A joiner needs weights and moments, and they go over links.",
        [512, 1024, 4096], lambda bench, h: paused(bench, hidden(elastic, h), 0), never_falls, moves(1.2))
    add("more_state_never_leaves_faster", "Who stays wraps the network anew, which sends the first member's weights to all.",
        [512, 1024, 4096], lambda bench, h: paused(bench, hidden(elastic, h), 1), never_falls, moves(1.02))
    add("more_state_takes_a_restart_longer", "A restart writes and reads the state at the storage's rate.",
        [512, 1024, 4096], lambda bench, h: paused(bench, turned(hidden(elastic, h), "/run/method", "restart"), 0),
        never_falls, moves(1.2))
    add("sharded_members_can_change", "Replicas that share moments can give them away.",
        ["optimizer"], lambda bench, how: paused(bench, turned(elastic, PLAN + "sharding", how), 0) > 0, holds)
    add("columns_of_a_sweep_are_those_of_its_runs", "A point of a sweep is a run.",
        [1, 4], lambda bench, n: swept(bench, averaged, "/learning/averaging/every", [1, 4])[[1, 4].index(n)] / m.figure(
            bench, turned(averaged, "/learning/averaging/every", n), "s", "iteration_us"), equals(lambda _: 1))

    # Memory.
    large = plain(h100, m.step(batch=4096, ranks=2))
    add("what_does_not_fit_is_refused", "A GPU holds no more than its memory.",
        ["a step of 4096 samples", "a trace on 1 MiB", "a plan on 1 GiB"], lambda bench, what: refused(bench, {
            "a step of 4096 samples": large,
            "a trace on 1 MiB": turned(plain(h100, m.example(source, 2)), "/system/gpu/memory/capacity", "1 MiB"),
            "a plan on 1 GiB": turned(plain(h100, m.planned(m.gpt(vocabulary=50257), micro_batch=16)),
                                      "/system/gpu/memory/capacity", "1 GiB")}[what]), holds)
    add("more_samples_need_more_memory", "Activations of a sample more are bytes more.", [1, 2, 4, 8],
        turning(PLAN + "micro_batch", plain(h100, m.planned(m.gpt())), "s", "peak_memory_gib"), never_falls)
    offloaded = plain(host, m.planned("alexnet", micro_batch=64, optimizer="momentum", memory={
        "planner": "offload_all", "updates": "immediate"}) | {"precision": "single"})
    add("faster_copies_never_slow_an_offloaded_step", "Data that come sooner are waited for less.",
        ["10 GB/s", "25 GB/s", "55.4 GB/s", "100 GB/s"], turning("/system/gpu/copy/host_bandwidth", offloaded), never_rises)
    add("plan_memory_says_what_a_run_says", "A plan has one time.",
        ["offload_all", "first_fit", "optimal"], memory_planned(source), lambda values, figures: (
            f"{v}: plan memory {a:.2f} ms, run {b:.2f} ms" for v, (a, b) in zip(values, figures) if abs(a - b) > 0.01 * b))
    return out


def plain(system, workload):
    return {"name": "probe", "system": system, "workload": workload, "causes": False,
            "scenarios": [{"name": "s", "all_reduce": {"algorithm": "ring"}}]}


def averages(system):
    workload = m.planned(m.gpt(hidden=512, sequence=128, vocabulary=2000), data=2, micro_batch=4, overlap_gradients=False)
    return plain(system, workload) | {"learning": {
        "network": {"type": "mlp", "depth": 4, "width": 8}, "averaging": {"type": "periodic", "every": 1}, "learning_rate": 0.1,
        "batch": 8, "steps": 16, "evaluate_every": 8, "seeds": 1}}


def changes(source, system):
    return plain(system, m.planned(m.gpt(), data=2, micro_batch=4)) | {"run": {
        "time": "40 s", "keep": "per_gpu", "method": "join", "costs": str(source / "configs/costs/default.json"),
        "changes": [{"at": "5 s", "add": 2}, {"at": "30 s", "remove": 2, "method": "leave"}]}}


def hidden(experiment, width):
    return turned(turned(experiment, "/workload/network/hidden", width), "/workload/network/heads", width // 64)


def without_update(bench, experiment):
    return m.figure(bench, experiment, "s", "forward_us") + m.figure(bench, experiment, "s", "backward_us")


def learned(scenario):
    return scenario["learning"]["step_us"]


def ratio(bench, experiment, other):
    scenario = bench.result(experiment)["scenarios"][0]
    return scenario["iteration_us"] / other(scenario)


def shown(bench, experiment, column):
    """A time of the first table, in us."""
    number, unit = bench.table(experiment)[0][column].split()
    return float(number) * UNITS[unit]


def shown_rate(bench, experiment):
    return float(bench.table(experiment)[0]["samples/s"])


def paused(bench, experiment, change):
    return bench.result(experiment)["scenarios"][0]["run"]["changes"][change]["pause_s"]


def refused(bench, experiment):
    try:
        bench.result(experiment)
    except Refused as said:
        return True if "needs" in str(said) or "memory" in str(said) else f"refused for another reason: {said}"
    return "ran"


def swept(bench, experiment, pointer, values):
    """iteration_us of a sweep's points."""
    with tempfile.TemporaryDirectory() as folder:
        sweep = pathlib.Path(folder, "sweep.json")
        sweep.write_text(json.dumps({"name": "probe", "experiment": experiment, "axes": [
            {"name": "knob", "pointer": pointer, "values": values}]}), encoding="utf-8")
        bench.said("sweep", sweep, "--out", f"{folder}/out")
        with open(f"{folder}/out/results.csv", encoding="utf-8", newline="") as file:
            return [float(row["iteration_us"]) for row in csv.DictReader(file)]


def late(bench, experiment, us):
    """The time of an iteration whose first rank is so late."""
    return m.figure(bench, experiment | {"ranks": [{"rank": 0, "delay": f"{us} us"}]}, "s", "iteration_us")


def unwaited(experiment):
    """The experiment on a GPU whose kernels complete as soon as their last block ends."""
    return turned(experiment, "/system/gpu/completion_wait", "0 us")


MEMORY = "6500 MiB"
STAGING = {"offload_all": "window", "first_fit": "double_peak", "optimal": "window"}
LINE = re.compile(r"^  (\w+) +(\w+) .* ([0-9.]+) +[0-9.]+ +[0-9.]+$", re.M)


def memory_planned(source):
    experiment = json.loads((source / "configs/experiments/memory_planners.json").read_text(encoding="utf-8"))
    experiment |= {"system": m.named(source, "hgx_h100_host"), "causes": False, "scenarios": [{"name": "s"}]}
    del experiment["$schema"]

    def measure(bench, planner):
        text = bench.said("plan", "memory", "-", "--memory", MEMORY, given=json.dumps(experiment))
        said = {(name, staging): float(ms) for name, staging, ms in LINE.findall(text)}
        plan = turned(turned(turned(experiment, PLAN + "memory/planner", planner), PLAN + "memory/bytes", MEMORY),
                      PLAN + "memory/staging", STAGING[planner])
        return said[(planner, STAGING[planner])], m.figure(bench, plan, "s", "iteration_us") / 1000
    return measure
