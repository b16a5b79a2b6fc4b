# SPDX-License-Identifier: Apache-2.0
"""Probes of what a GPU's parts do to kernels, alone and beside communication."""
import machines as m
from bench import turned
from probe import Probe, at_most, equals, holds, moves, never_falls, never_rises, same

GPU = "/system/gpu/"


def turning(pointer, experiment, scenario, key):
    return lambda bench, value: m.figure(bench, turned(experiment, pointer, value), scenario, key)


def slowed(bench, experiment):
    """Slowdown of the backward pass and its causes, in points."""
    scenario = bench.result(experiment)["scenarios"][-1]
    causes = scenario["slowdown_by_cause"]
    return 100 * scenario["backward_slowdown"], {cause: 100 * share for cause, share in causes.items()}


def probes(source):
    h100 = m.named(source, "hgx_h100")
    example = m.overlapped(h100, m.example(source) | {"traced_on": h100})
    step = m.overlapped(h100, m.step())
    vgg = m.overlapped(h100, m.planned("vgg16", data=2, micro_batch=32, optimizer="momentum"))
    streams = m.beside(h100, m.stream(32 * m.MIB, 32 * m.MIB))
    products = m.beside(h100, m.product(4096, 4096, 1024))
    out = []

    def add(name, why, values, measure, *laws):
        out.append(Probe(name, why, values, measure, list(laws)))

    # A cache.
    sizes = ["10 MiB", "50 MiB", "100 MiB", "1 GiB"]
    for name, experiment in (("traced", example), ("generated", step)):
        add(f"larger_l2_never_slows_the_backward_pass_{name}",
            "A larger cache holds all that a smaller one holds, so it saves accesses to memory or none.",
            sizes, turning(f"{GPU}memory/l2/capacity", experiment, "overlapped", "backward_us"), never_rises)
    add("l2_beyond_all_data_is_worth_nothing",
        "A cache that holds everything already cannot hold more.",
        ["4 GiB", "8 GiB", "32 GiB"], turning(f"{GPU}memory/l2/capacity", step, "overlapped", "iteration_us"), same)
    add("faster_l2_never_slows_kernel_and_communication_together",
        "Kernel and communication share the cache's bandwidth: more of it serves one or both, and takes from none.",
        ["3500 GB/s", "5 TB/s", "6950 GB/s", "14 TB/s"],
        lambda bench, rate: speeds(bench, turned(streams, f"{GPU}memory/l2/bandwidth", rate)), never_falls)

    # SMs.
    add("more_sms_never_slow_a_step",
        "More SMs hold at least the blocks that fewer hold, and communication takes a smaller part of them.",
        [66, 99, 132, 198, 264], turning(f"{GPU}sms", step, "overlapped", "backward_us"), never_rises)
    add("more_sms_never_slow_a_trace",
        "More SMs hold at least the blocks that fewer hold, and communication takes a smaller part of them.",
        [66, 132, 160, 264], turning(f"{GPU}sms", example, "overlapped", "backward_us"), never_rises)
    add("more_sms_never_slow_a_product_beside",
        "A wave over more SMs leaves fewer tiles for the next one.",
        [100, 132, 160, 200], turning(f"{GPU}sms", products, "s", "kernel_beside_us"), never_rises)
    add("more_sms_for_communication_never_speed_up_a_product",
        "Blocks of communication take SMs that tiles could have.",
        [2, 4, 8, 16, 24],
        lambda bench, n: m.figure(bench, m.beside(h100, m.product(4096, 4096, 1024), collectives=20) | {"scenarios": [
            {"name": "s", "all_reduce": {"algorithm": "ring"}, "communication_sms": n}]}, "s", "kernel_beside_us"),
        never_falls)

    # Memory.
    peaks = ["1675 GB/s", "3350 GB/s", "6700 GB/s", "13400 GB/s"]
    for name, experiment in (("traced", example), ("generated", step)):
        add(f"faster_hbm_never_slows_the_backward_pass_{name}", "Memory that is faster serves every access sooner.",
            peaks, turning(f"{GPU}memory/hbm/peak", experiment, "overlapped", "backward_us"), never_rises)
    add("faster_hbm_never_slows_a_stream_beside", "Memory that is faster serves every access sooner.",
        peaks, turning(f"{GPU}memory/hbm/peak", streams, "s", "kernel_beside_us"), never_rises, moves(1.2))
    add("slower_answers_of_memory_never_speed_up", "Every access waits for the memory's answer.",
        ["100 ns", "200 ns", "309 ns", "618 ns"],
        turning(f"{GPU}memory/hbm/latency", step, "overlapped", "backward_us"), never_falls)
    add("memory_of_no_limit_leaves_sms_alone",
        "Where bandwidth, cache and answers have no end, only SMs can slow a kernel: what else is left falls as bandwidth grows.",
        [25, 50, 100], lambda bench, peak: abs(without_memory(bench, step, f"{peak} TB/s")), at_most(lambda peak: 50 / peak, 0))

    # Causes.
    for name, experiment in (("ring_traced", example), ("ring_vgg16", vgg)):
        with_causes = experiment | {"causes": True}
        add(f"causes_add_up_{name}",
            "Each part of a slowdown disappears with a mechanism, and without all of them nothing is slowed.",
            ["other"], lambda bench, _, e=with_causes: abs(slowed(bench, e)[1]["other"]), at_most(0.1, 0))
    add("no_cause_is_negative",
        "A mechanism that takes something away from a kernel cannot speed it up.",
        ["in_switch", "ring"],
        lambda bench, how: min(slowed(bench, m.overlapped(
            h100, m.step(blocks=1), how, causes=True))[1].values()),
        lambda values, figures: (f"{f:.2f} points of {v}" for v, f in zip(values, figures) if f < -0.1))
    add("what_a_small_l2_costs_is_called_l2",
        "The slowdown that a larger cache takes away is the cache's.",
        ["5 MiB"], lambda bench, small: l2_called(bench, step | {"causes": True}, small), holds)

    # Kernels alone.
    knobs = [("sms", [66, 132, 264], 1.2), ("memory/hbm/peak", ["1675 GB/s", "3350 GB/s", "6700 GB/s"], 1.2),
             ("clock", [0.5, 1, 2], 1.2)]
    for knob, values, factor in knobs:
        add(f"{knob.split('/')[-1]}_moves_traced_kernels_alone",
            "A kernel on a GPU with half of the parts takes longer, whoever measured it on the whole one.",
            values, turning(GPU + knob, example, "serial", "backward_us"), never_rises, moves(factor))
        add(f"{knob.split('/')[-1]}_moves_generated_kernels_alone",
            "A kernel on a GPU with half of the parts takes longer.",
            values, turning(GPU + knob, step, "serial", "backward_us"), never_rises, moves(1.2 if knob != "clock" else 1.1))
    gpus = [str(source / f"configs/systems/gpus/{name}.json") for name in ("a100_80gb", "h100", "h200")]
    add("a_faster_gpu_shortens_traced_kernels",
        "An A100 has a third of an H100's arithmetic and half of its bandwidth, an H200 the same and more.",
        gpus, turning("/system/gpu", example, "serial", "backward_us"), never_rises, moves(1.5))
    few = m.beside(h100, m.stream(8 * m.MIB, 8 * m.MIB, 33))
    add("slower_answers_slow_a_kernel_of_few_threads",
        "Threads too few to hide the memory's latency move their bytes in flight once a latency.",
        ["309 ns", "618 ns", "1236 ns"], turning(f"{GPU}memory/hbm/latency", few, "s", "kernel_alone_us"), never_falls, moves(1.3))
    add("a_kernel_of_few_threads_cannot_fill_the_memory",
        "A thread has a few bytes in flight, and it takes tens of thousands of threads to fill the memory.",
        [33, 132, 528, 2048], lambda bench, blocks: m.figure(bench, m.beside(h100, m.stream(8 * m.MIB, 8 * m.MIB, blocks)), "s",
                                                             "kernel_alone_us"), never_rises, moves(2))
    add("causes_of_the_forward_pass_add_up",
        "Where gathers run beside the forward pass, each part of its slowdown disappears with a mechanism.",
        ["other"], lambda bench, _: forward_other(bench, h100), at_most(0.1, 0))
    add("traced_kernels_are_exact_on_their_gpu", "A time that was measured on this GPU is this GPU's time.",
        ["all"], lambda bench, _: traced_exactly(bench, example), equals(lambda _: 1, 1e-6))
    add("kernels_alone_stay_under_the_roofline",
        "No kernel moves more bytes than the memory can in the time that the kernel takes.",
        ["gpt", "vgg16", "resnet50"], clipped(h100), at_most(0, 0))
    add("a_kernel_is_never_faster_beside", "Communication gives nothing to a kernel.",
        ["stream", "product", "short"],
        lambda bench, what: beside_over_alone(bench, {
            "stream": streams, "product": products, "short": m.beside(h100, m.stream(m.MIB, m.MIB, 64))}[what]),
        lambda values, figures: (f"{v}: {f:.3f} of alone" for v, f in zip(values, figures) if f < 0.99))
    return out


def beside_over_alone(bench, experiment):
    scenario = bench.result(experiment)["scenarios"][0]
    return scenario["kernel_beside_us"] / scenario["kernel_alone_us"]


def forward_other(bench, system):
    """Points of the forward pass's slowdown that no mechanism explains."""
    experiment = m.overlapped(system, m.step(strategy="fully_sharded", gradient="bfloat16", blocks=4), causes=True)
    return 100 * abs(bench.result(experiment)["scenarios"][-1]["causes_by_phase"]["forward"]["other"])


def speeds(bench, experiment):
    """Of a kernel and a collective beside each other, relative to each alone, added."""
    scenario = bench.result(experiment)["scenarios"][0]
    return sum(scenario[f"{who}_alone_us"] / scenario[f"{who}_beside_us"] for who in ("kernel", "collective"))


def endless(experiment, peak="100 TB/s"):
    """The experiment on a GPU whose memory hardly ever makes anybody wait: its banks do not either."""
    for pointer, value in (("l2/capacity", "32 GiB"), ("l2/bandwidth", "100 TB/s"), ("l2/latency", "0 ns"), ("hbm/peak", peak),
                           ("hbm/latency", "0 ns"), ("hbm/row_cycle", "0 ns"), ("hbm/turnaround", "0 ns"),
                           ("hbm/refresh_time", "0 ns")):
        experiment = turned(experiment, f"{GPU}memory/{pointer}", value)
    return experiment


def without_memory(bench, experiment, peak):
    """Points of the slowdown that the SMs do not explain, on a GPU whose memory has no other limit."""
    slowdown, causes = slowed(bench, endless(experiment, peak) | {"causes": True})
    return slowdown - causes["sm"]


def l2_called(bench, experiment, small):
    few, causes = slowed(bench, turned(experiment, f"{GPU}memory/l2/capacity", small))
    many, others = slowed(bench, turned(experiment, f"{GPU}memory/l2/capacity", "32 GiB"))
    if abs(others["l2"]) > 0.1:
        return f"a cache that holds everything is the cause of {others['l2']:.2f} points"
    if causes["l2"] < 0.3 * (few - many):
        return f"{few:.2f} points with {small}, {many:.2f} without end: the cause l2 is {causes['l2']:.2f}"
    return True


def traced_exactly(bench, experiment):
    """Ratio of the replayed kernels' time alone to what the trace says."""
    rows = [r for r in bench.kernels(experiment) if r["scenario"] == "serial"]
    isolated = sum(float(r["isolated_us"]) for r in rows)
    return sum(float(r["duration_us"]) for r in rows) / isolated


def clipped(system):
    shapes = {"gpt": m.planned(m.gpt(), data=2, micro_batch=4), "vgg16": m.planned("vgg16", data=2, micro_batch=32),
              "resnet50": m.planned("resnet50", data=2, micro_batch=32)}

    def measure(bench, name):
        scenarios = bench.result(m.overlapped(system, shapes[name]))["scenarios"]
        return max(gpu["clipped_kernels"] for s in scenarios for gpu in s["gpus"])
    return measure
