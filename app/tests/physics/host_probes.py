# SPDX-License-Identifier: Apache-2.0
"""Probes of what stands around GPUs: hosts and their copies, checkpoints, failures, energy, many-core processors; and of
ways to spend memory or time."""
import json
import pathlib
import tempfile

import machines as m
from bench import command, turned
from plan_probes import PLAN, changes, plain
from probe import Probe, at_most, equals, moves, never_falls, never_rises, same


def probes(source):
    h100, host, v100 = (m.named(source, n) for n in ("hgx_h100", "hgx_h100_host", "v100_pcie_host"))
    out = []

    def add(name, why, values, measure, *laws):
        out.append(Probe(name, why, values, measure, list(laws)))

    def turning(pointer, experiment, key="iteration_us"):
        return lambda bench, value: m.figure(bench, turned(experiment, pointer, value), "s", key)

    # Hosts.
    step = plain(h100, m.planned(m.gpt(), data=2, micro_batch=1))
    add("slower_launches_never_speed_up", "A kernel begins when its launch has come.", ["0 us", "2 us", "10 us", "50 us"],
        lambda bench, t: m.figure(bench, turned(step, PLAN + "launches", {"kernel": t}), "s", "iteration_us"), never_falls,
        moves(2))
    offloaded = plain(v100, m.planned("alexnet", micro_batch=64, optimizer="momentum", memory={
        "planner": "offload_all", "updates": "immediate"}))
    add("gpus_behind_one_host_never_copy_faster", "Copies of several GPUs share the way to the host's memory.",
        [1, 2, 4], turning(PLAN + "data", offloaded), never_falls)
    add("two_ways_at_once_never_slow", "A link that carries more both ways at once serves both sooner.",
        [0.5, 0.7, 0.9, 1.0], turning("/system/gpu/copy/duplex", plain(host, m.planned(
            "alexnet", micro_batch=64, optimizer="momentum", memory={"planner": "offload_all", "updates": "immediate"}))),
        never_rises)
    for algorithm, knob in (("host", "host_add"), ("host", "host_memory"), ("owners", "call")):
        base = m.collective(m.named(source, "pcie3_two_groups"), size=8 * m.MIB, ranks=4, algorithm=algorithm)
        slow = knob == "call"
        add(f"copies_by_{algorithm}_follow_{knob}",
            "A host that takes longer for each call does less." if slow else "A host that adds or copies faster is done sooner.",
            ["1 us", "10 us", "100 us"] if slow else ["2 GB/s", "10 GB/s", "40 GB/s", "160 GB/s"],
            lambda bench, value, base=base, knob=knob: m.taken(bench, turned(base, f"/system/collectives/peer_copies/{knob}", value)),
            never_falls if slow else never_rises)

    # Memory for time.
    deep = plain(h100, m.planned(m.gpt(layers=4), micro_batch=8, attention="unfused"))
    kept = ["none", "selective", "full"]
    add("what_runs_again_takes_time", "What is not kept is computed again.", kept, turning(PLAN + "recompute", deep), never_falls,
        moves(1.1))
    add("what_runs_again_saves_memory", "What is computed again is not kept.", kept,
        turning(PLAN + "recompute", deep, "peak_memory_gib"), never_rises)
    pipeline = plain(h100, m.planned(m.gpt(layers=4), pipeline=4, micro_batch=1, accumulate=8, partition="equal"))
    schedules = ["gpipe", "1f1b"]
    add("early_backward_passes_save_memory", "1F1B holds the activations of as many micro-batches as stages, GPipe of all.",
        schedules, turning(PLAN + "schedule", pipeline, "peak_memory_gib"), never_rises)
    add("early_backward_passes_take_no_longer", "1F1B has GPipe's bubble.", schedules,
        turning(PLAN + "schedule", pipeline, "bubble_share"), lambda values, figures: never_rises(values, figures, 0.05))
    add("more_memory_never_slows_an_offloaded_step", "With more memory a planner moves no more than with less.",
        ["700 MiB", "900 MiB", "1200 MiB", "2 GiB"], lambda bench, size: m.figure(bench, plain(host, m.planned(
            "alexnet", micro_batch=64, optimizer="momentum", memory={"planner": "optimal", "bytes": size, "updates": "immediate"})),
            "s", "iteration_us"), never_rises)
    mixed = plain(m.named(source, "a100_2080ti_t4_ethernet"), m.planned(
        "resnet50", data=3, global_batch=96, micro_batch=64, optimizer="momentum"))
    add("balanced_shares_never_take_longer", "The best of all divisions is no worse than the equal one.",
        ["equal", "balanced"], turning(PLAN + "division", mixed), never_rises)

    # Many steps.
    run = changes(source, host) | {"name": "probe"}
    del run["run"]["changes"]
    day = run | {"run": run["run"] | {"time": "3600 s", "checkpoint": {"every": "60 s"}}}
    add("rarer_checkpoints_never_train_less", "Members wait for fewer of them, and nobody fails.",
        ["10 s", "30 s", "60 s", "600 s"], turning("/run/checkpoint/every", day, "run_training"), never_falls, moves(1.01))
    add("checkpoints_beside_training_never_train_less", "Members wait for the copy to the host and not for the storage.",
        [False, True], turning("/run/checkpoint/asynchronous", day, "run_training"), never_falls)
    add("slower_storage_never_trains_more", "A checkpoint takes its bytes over the storage's rate.",
        ["10 GB/s", "2 GB/s", "500 MB/s", "100 MB/s"], turning("/run/costs/storage_write", day, "run_training"), never_rises)
    add("a_checkpoint_takes_its_bytes", "One member writes all of the state at the smaller of its rate and the storage's.",
        ["100 MB/s", "50 MB/s"], lambda bench, rate: written(bench, turned(day, "/run/costs/storage_write", rate)),
        equals(lambda rate: 1 / (float(rate.split()[0]) * 1e6), 0.05))
    failing = day | {"run": day["run"] | {"time": "86400 s", "failures": {"per_gpu_day": 1.0, "repair": "600 s"}}}
    add("more_failures_never_train_more", "What a failure undoes is done again.", [0.5, 4, 40, 400],
        turning("/run/failures/per_gpu_day", failing, "run_training"), never_rises, moves(1.02))

    # Energy.
    add("energy_is_the_sum_of_its_parts", "What is spent is spent somewhere.", ["all"],
        lambda bench, _: spent(bench, source, step, lambda p: None, parts_over_all), equals(lambda _: 1, 1e-6))
    add("idle_power_is_counted_by_time", "A GPU at rest draws its idle power for as long as the step takes.", [0.25, 0.5, 1],
        lambda bench, f: spent(bench, source, step, lambda p: scale_gpus(p, "idle_watts", f), part("idle")) / spent(
            bench, source, step, lambda p: None, part("idle")), equals(lambda f: f))
    add("bits_of_memory_are_counted", "A bit of memory costs what a bit costs.", [1, 2, 4],
        lambda bench, f: spent(bench, source, step, lambda p: scale_gpus(p, "memory_pj_per_bit", f), part("memory")) / spent(
            bench, source, step, lambda p: None, part("memory")), equals(lambda f: f))

    # Many-core processors.
    phi = {"name": "probe", "system": m.named(source, "xeon_phi_5110p"),
           "workload": {"type": "many_core", "widths": [784, 500, 30], "batch": 1000, "steps": 4},
           "scenarios": [{"name": "s"}]}
    add("more_cores_never_take_longer", "A loop over more cores has fewer rounds.", [8, 16, 32, 59],
        turning("/workload/cores", phi), never_rises, moves(1.5))
    add("faster_sockets_never_slow_a_program", "Data that come sooner are waited for less.",
        ["1 GB/s", "3 GB/s", "6700 MB/s", "12 GB/s"], turning("/system/devices/1/link/bandwidth", phi), never_rises)
    add("a_larger_mini_batch_never_takes_less", "A sample more is work more.", [500, 1000, 2000, 4000],
        turning("/workload/batch", phi), never_falls)
    add("learning_rates_take_no_time", "A number that is multiplied is as fast as another one.", [0.01, 0.1],
        lambda bench, rate: m.figure(bench, plain(h100, m.planned(m.gpt(), data=2, micro_batch=1)) | {"learning": {
            "network": {"depth": 4, "width": 8}, "learning_rate": rate, "batch": 8, "steps": 8, "evaluate_every": 8, "seeds": 1}},
            "s", "iteration_us"), same)
    add("a_run_has_as_many_steps_as_fit", "Steps follow each other without a gap where nothing changes.", ["steps"],
        lambda bench, _: steps_fit(bench, run | {"run": run["run"] | {"time": "60 s"}}), at_most(1, 0.001),
        equals(lambda _: 1, 0.001))
    return out


def written(bench, experiment):
    """Seconds that members waited for a checkpoint, a byte of the state."""
    run = bench.result(experiment)["scenarios"][0]["run"]
    return run["checkpoints_s"] / run["checkpoints"] / run["state_bytes"]


def steps_fit(bench, experiment):
    scenario = bench.result(experiment)["scenarios"][0]
    return scenario["run"]["steps"] * scenario["run"]["stretches"][0]["step_us"] / 1e6 / scenario["run"]["time_s"]


def scale_gpus(power, key, factor):
    for gpu in power["gpus"].values():
        gpu[key] = {k: v * factor for k, v in gpu[key].items()}


def spent(bench, source, experiment, change, figure):
    """A figure of the energy of a run with changed power numbers."""
    power = json.loads((source / "configs/power/default.json").read_text(encoding="utf-8"))
    del power["$schema"]
    change(power)
    with tempfile.TemporaryDirectory() as folder:
        numbers = pathlib.Path(folder, "power.json")
        numbers.write_text(json.dumps(power), encoding="utf-8")
        arguments, text = command(json.dumps(experiment))
        bench.said("run", "-", *arguments, "--out", f"{folder}/out", given=text)
        return figure(json.loads(bench.said("energy", f"{folder}/out", "--power", numbers, "--json"))["scenarios"][0])


def parts_over_all(scenario):
    return sum(p["value"] for p in scenario["parts_joules"].values()) / scenario["step_joules"]["value"]


def part(name):
    return lambda scenario: scenario["parts_joules"][name]["value"]
