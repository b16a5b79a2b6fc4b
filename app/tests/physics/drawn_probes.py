# SPDX-License-Identifier: Apache-2.0
"""Properties over random machines and workloads."""
import copy
import random
import re

import machines as m
from bench import Refused, turned
from drawn_machines import Draw, scaled, times, with_topology
from probe import Probe, at_most, equals, holds, never_falls, never_rises, same

FACTORS = [0.5, 1, 2, 4]
UNIT = ("topology", "switch", "reduction")
TRIES = 30  # draws until the program accepts a machine and its workload
PROPERTIES = []


def drawn(why, values, *laws):
    """A property: a function that draws an experiment and returns how to measure it at a value."""
    def keep(make):
        PROPERTIES.append((make.__name__, why, values, list(laws), make))
        return make
    return keep


def probes(source, draws=1, seed=1):
    return [Drawn(source, prop, f"{seed}/{prop[0]}/{n}") for prop in PROPERTIES for n in range(draws)]


class Drawn(Probe):
    """Draws anew where the program refuses what was drawn; what is refused at one value of a knob alone is a fault."""

    def __init__(self, source, prop, seed):
        name, why, values, laws, self._make = prop
        self._source, self._seed = source, seed
        super().__init__(f"drawn_{name}_{seed.split('/')[0]}_{seed.split('/')[2]}", why, values, None, laws)

    def wrong(self, bench):
        rng = random.Random(self._seed)
        for _ in range(TRIES):
            self.measure = self._make(Draw(self._source, rng))
            try:
                self.measure(bench, self.values[0])
            except Refused as refused:
                if is_no_choice_of_the_draw(str(refused)):
                    return [f"stopped: {str(refused)[:300]}"], []
                continue
            return super().wrong(bench)
        return ["nothing drawn was accepted"], []


def is_no_choice_of_the_draw(said):
    """A message without a pointer into the experiment: the run stopped, or the program failed."""
    return not re.search(r"/(workload|scenarios|system|topology|collectives|gpu|nodes|network|nics)", said)


def taken_of(make):
    return lambda bench, value: m.taken(bench, make(value))


def step_of(experiment, key="iteration_us"):
    return lambda bench, value: m.figure(bench, experiment(value), "s", key)


def plain(system, workload, **policy):
    return {"name": "probe", "system": system, "workload": workload, "causes": False,
            "scenarios": [{"name": "s", "all_reduce": policy or {"algorithm": "ring", "protocol": "simple"}}]}


# Links.

@drawn("A link that is faster has sent every packet sooner.", FACTORS, never_rises)
def faster_links(draw):
    base = draw.collective(draw.machine())
    return taken_of(lambda f: with_topology(base, lambda t: scaled(t, f, ("lane_bandwidth",))))


@drawn("A longer wire delivers every packet later.", FACTORS, never_falls)
def longer_latencies(draw):
    base = draw.collective(draw.machine())
    return taken_of(lambda f: with_topology(base, lambda t: scaled(t, f, ("latency",))))


@drawn("In a switch that is faster, each of its ways is.", FACTORS, never_rises)
def faster_links_of_switches_that_reduce(draw):
    base = draw.collective(draw.machine(["switched"]), "all_reduce", policy=draw.policy("in_switch"))
    return taken_of(lambda f: with_topology(base, lambda t: scaled(t, f, ("lane_bandwidth",))))


@drawn("More lanes carry more.", [1, 2, 3, 4], never_rises)
def more_lanes(draw):
    base = draw.collective(draw.machine(["full_mesh", "torus", "boards", "switched"]))

    def lanes(topology, n):
        out = copy.deepcopy(topology)
        for key in ("lanes", "lanes_to_switch", "trunk_lanes"):
            if key in out:
                out[key] = [n * lanes for lanes in out[key]] if isinstance(out[key], list) else n * out[key]
        return out
    return taken_of(lambda n: with_topology(base, lambda t: lanes(t, n)))


@drawn("A link that has lost bandwidth sends every packet later.", [1000000, 700000, 400000, 100000], never_falls)
def a_degraded_link(draw):
    base = draw.collective(draw.machine(["switched"]))
    return taken_of(lambda ppm: base | {"faults": [] if ppm == 1000000 else [
        {"type": "link_degraded", "component": "gpu0_to_switch0", "bandwidth_ppm": ppm}]})


# Sizes, ranks, kinds.

@drawn("More bytes over the same wires take longer.", [1, 2, 4, 8, 16, 32, 64], never_falls)
def larger_collectives(draw):
    system, size, policy = draw.machine(), 4 * draw.rng.randint(64, 65536), draw.policy("ring", "tree")
    policy |= {"channels": draw.rng.choice([1, 2, 4, 8])}
    return taken_of(lambda n: m.collective(system, "all_reduce", n * size, **policy))


@drawn("Twice the bytes can go as two halves, one after the other.", [1, 2, 4, 8, 16, 32],
       lambda values, figures: (f"{f:.1f} us at {v}, where {v} times one is {v * figures[0]:.1f}"
                                for v, f in zip(values, figures) if f > 1.01 * v * figures[0]))
def larger_collectives_at_most_in_proportion(draw):
    system, size, policy = draw.machine(), 4 * draw.rng.randint(64, 65536), draw.policy("ring", "tree")
    return taken_of(lambda n: m.collective(system, "all_reduce", n * size, **policy))


@drawn("Twice the ranks are twice the hops, and a larger part of the bytes to send.", [2, 4, 8], never_falls)
def more_ranks(draw):
    system = draw.machine(["switched"])
    system["topology"]["gpus"] = 8
    base = draw.collective(system, "all_reduce", draw.large(), draw.policy("ring") | {"channels": draw.rng.choice([1, 2, 4, 8])})
    return taken_of(lambda n: base | {"workload": base["workload"] | {"ranks": n}})


@drawn("An all-reduce can be done as a reduce-scatter and an all-gather.", ["ring"], at_most(1))
def all_reduce_against_its_halves(draw):
    system, size, policy = draw.machine(), 8 * draw.rng.randint(2**10, 2**20), draw.policy("ring")

    def measure(bench, _):
        whole, scatter, gather = (m.taken(bench, m.collective(system, kind, size, **policy))
                                  for kind in ("all_reduce", "reduce_scatter", "all_gather"))
        return whole / (scatter + gather)
    return measure


@drawn("A broadcast or a reduce sends no more over any wire than an all-reduce, over no more hops; in a row its chain of ranks "
       "stays full.", ["broadcast", "reduce"], at_most(1))
def parts_of_an_all_reduce(draw):
    system, size = draw.machine(["switched", "network", "torus"]), 4 * draw.rng.randint(2**14, 2**20)
    policy = draw.policy("ring")

    def in_a_row(bench, kind):
        row = m.beside(system, m.stream(m.MIB, m.MIB, 64), size, 0, kernels=1, collectives=20)
        row["workload"]["collective"] = kind
        row["scenarios"] = [{"name": "s", "collectives": {kind: policy}}]
        return m.figure(bench, row, "s", "collective_alone_us")
    return lambda bench, kind: in_a_row(bench, kind) / in_a_row(bench, "all_reduce")


@drawn("Who begins some microseconds late delays the others by so much: what a GPU asks of its peers does not wait behind what "
       "they have asked of it.", [0, 1, 3, 6], at_most(1.01))
def ranks_that_begin_apart(draw):
    system, size = draw.machine(["switched", "full_mesh"]), draw.large()
    base = m.collective(system, draw.rng.choice(["all_reduce", "all_gather"]), size, algorithm="ring", protocol="simple")
    parts = [draw.rng.random() for _ in range(system["topology"]["gpus"])]

    def measure(bench, us):
        late = [{"rank": rank, "delay": f"{us * part:.6f} us"} for rank, part in enumerate(parts)]
        return (m.taken(bench, base | {"ranks": late}) - us) / m.taken(bench, base)
    return measure


# What must not matter.

@drawn("transfer_unit is how the simulator cuts bytes, and no machine has it.", ["512 B", "2 KiB", "4 KiB", "16 KiB"], same)
def packets_of_the_model(draw):
    base = draw.collective(draw.machine())
    return taken_of(lambda unit: turned(base, "/system/collectives/transfer_unit", unit))


@drawn("transfer_unit is how the simulator cuts bytes, and no machine has it.", ["512 B", "2 KiB", "4 KiB", "16 KiB"], same)
def packets_of_the_model_in_the_switch(draw):
    base = draw.collective(draw.machine(["switched"]), "all_reduce", policy=draw.policy("in_switch"))
    return taken_of(lambda unit: turned(base, "/system/collectives/transfer_unit", unit))


@drawn("What is left out because it repeats takes what it would have taken.", [False, True], same)
def parts_that_are_jumped_over(draw):
    base = draw.collective(draw.machine(), size=4 * draw.rng.randint(2**20, 2**22))
    return taken_of(lambda exact: base | {"exact": exact})


@drawn("What is left out because it repeats takes what it would have taken, also where another workload begins meanwhile.",
       [True, False], same)
def parts_that_are_jumped_over_beside_others(draw):
    base = shared(draw, 1)
    return lambda bench, exact: bench.result(base | {"exact": exact})["scenarios"][0]["iteration_us"]


@drawn("What is left out because it repeats takes what it would have taken, also beside kernels.", [True, False], same)
def parts_that_are_jumped_over_in_a_step(draw):
    base = plain(draw.machine(["switched", "full_mesh"]), draw.step())
    return step_of(lambda exact: base | {"exact": exact})


@drawn("Numbers that are carried along do not take time.", [False, True], same)
def numbers_that_are_carried(draw):
    base = draw.collective(draw.machine(), size=4 * draw.rng.randint(2**10, 2**14))
    return taken_of(lambda carried: base | {"functional": carried})


@drawn("Names, lanes in two bundles and the order of switches are nothing to a packet.", [False, True], same)
def order_of_switches(draw):
    base = draw.collective(draw.machine(["switched"]), "all_reduce", size=4 * draw.rng.randint(2**16, 2**20))
    return taken_of(lambda turn: with_topology(base, lambda t: t | {
        "lanes_to_switch": t["lanes_to_switch"][::-1] if turn else t["lanes_to_switch"]}))


@drawn("A launch takes what it takes, beside all else.", [10, 20, 100], equals(lambda _: 1))
def launches_are_added(draw):
    base = draw.collective(draw.machine())

    def without(bench, us):
        return m.taken(bench, turned(base, "/system/collectives/launch_latency", f"{us} us")) - us
    return lambda bench, us: without(bench, us) / without(bench, 5)


@drawn("A machine with all times doubled and all rates halved is the same machine, seen by a clock of half the speed.",
       ["ring", "tree", "in_switch"], equals(lambda _: 2))
def machines_seen_by_a_slower_clock(draw):
    system = draw.machine(["switched"])
    size = 4 * draw.rng.randint(2**10, 2**20)

    def measure(bench, algorithm):
        policy = {"algorithm": algorithm} | ({} if algorithm == "in_switch" else {"protocol": "simple"})
        base = m.collective(system, "all_reduce", size, **policy)
        slow = slower(bench.effective(base)["system"])
        return m.taken(bench, base | {"system": slow}) / m.taken(bench, base)
    return measure


def slower(value):
    """A system with all its times doubled and its rates halved."""
    if isinstance(value, dict):
        return {k: slower(v) for k, v in value.items()}
    if isinstance(value, list):
        return [slower(v) for v in value]
    if isinstance(value, str) and re.fullmatch(r"[0-9.]+ (ps|ns|us|ms|s)", value):
        return times(value, 2)
    if isinstance(value, str) and re.fullmatch(r"[0-9.]+ ([kMGTP]?B/s|[kMGTP]?FLOP/s)", value):
        return times(value, 0.5)
    return value


@drawn("No wire carries more than it can.", ["ring", "tree"], at_most(1, 0.001))
def wires_are_never_overfull(draw):
    system, size = draw.machine(), 4 * draw.rng.randint(2**16, 2**21)
    return lambda bench, algorithm: max(link["utilization"] for link in bench.result(m.collective(
        system, "all_reduce", size, algorithm=algorithm, protocol="simple"))["scenarios"][0]["links"])


@drawn("All that a rank must learn comes over its own links.", ["all_gather", "all_reduce"],
       lambda values, figures: (f"{v}: {f:.3f} of the least bytes" for v, f in zip(values, figures) if f < 0.999))
def bytes_arrive(draw):
    system = draw.machine(["switched", "full_mesh"])
    ranks, size = system["topology"]["gpus"], 8 * draw.rng.randint(2**10, 2**16)

    def measure(bench, kind):
        links = bench.result(m.collective(system, kind, size * ranks, algorithm="ring", protocol="simple") | {"exact": True})[
            "scenarios"][0]["links"]
        arrived = sum(link["payload_bytes"] for link in links if re.search(r"_to_gpu1(_|$)", link["name"]))
        return arrived / (size * (ranks - 1))
    return measure


# The unit in the switch.

@drawn("A unit with more entries can do all that one with fewer does.", [1, 2, 4, 16, 64, 256], never_rises)
def more_entries(draw):
    return unit(draw, "entries")


@drawn("A larger buffer holds all that a smaller one holds.", ["512 B", "2 KiB", "8 KiB", "32 KiB", "128 KiB"], never_rises)
def larger_buffers(draw):
    return unit(draw, "buffer")


@drawn("Two adders add all that one adds.", [1, 2, 4, 8], never_rises)
def more_adders(draw):
    return unit(draw, "adders")


@drawn("An adder that is faster has added every line sooner.", ["2 GB/s", "8 GB/s", "32 GB/s", "128 GB/s"], never_rises)
def faster_adders(draw):
    return unit(draw, "adder_rate")


def unit(draw, knob):
    policy = {"algorithm": "in_switch", "registered": True, "mode": draw.rng.choice(["pull", "push", "command"])}
    base = m.collective(draw.machine(["switched"]), "all_reduce", 4 * draw.rng.randint(2**12, 2**20), **policy)
    return taken_of(lambda value: turned(base, "/system/topology/switch/reduction/" + knob, value))


# Machines that are joined by a network.

@drawn("A network that is faster has sent every packet sooner.", FACTORS, never_rises)
def faster_networks(draw):
    # A number of channels of its own: the library takes more of them on a faster network.
    base = draw.collective(draw.system(draw.cluster()), policy=draw.policy("ring") | {"channels": draw.rng.choice([2, 4, 8])})
    return taken_of(lambda f: with_topology(base, lambda t: t | {"network": scaled(t["network"], f, ("lane_bandwidth",))}))


@drawn("A NIC that takes longer hands over every packet later.", FACTORS, never_falls)
def slower_nics(draw):
    base = draw.collective(draw.system(draw.cluster()))
    return taken_of(lambda f: with_topology(base, lambda t: t | {"nics": scaled(t["nics"], f, ("latency",))}))


@drawn("A ring of twice the machines has twice the hops, and a larger part of the bytes to send.", [2, 4], never_falls)
def more_machines(draw):
    base = draw.collective(draw.system(draw.cluster(2)), "all_reduce", draw.large(), draw.policy("ring") | {"channels": draw.rng.choice([2, 4, 8])})
    return taken_of(lambda n: with_topology(base, lambda t: t | {"nodes": n}))


# Kernels and steps.

def beside(draw):
    return m.beside(draw.machine(["switched", "full_mesh", "direct"]), draw.kernel(), 4 * draw.rng.randint(2**14, 2**21), ranks=0,
                    kernels=6, collectives=4) | {"scenarios": [{"name": "s", "all_reduce": draw.policy("ring")}]}


@drawn("Communication gives nothing to a kernel, nor a kernel to communication.", ["kernel", "collective"],
       lambda values, figures: (f"{v}: {f:.4f} of alone" for v, f in zip(values, figures) if f < 0.99))
def nobody_gains_beside(draw):
    base = beside(draw)
    return lambda bench, who: m.figure(bench, base, "s", f"{who}_beside_us") / m.figure(bench, base, "s", f"{who}_alone_us")


@drawn("Memory that is faster serves every access sooner.", FACTORS, never_rises)
def faster_memory_beside(draw):
    base = beside(draw)
    return lambda bench, f: m.figure(bench, turned_by(bench, base, "memory/hbm/peak", f), "s", "kernel_beside_us")


@drawn("A larger cache holds all that a smaller one holds.", FACTORS, never_rises)
def larger_caches_beside(draw):
    base = beside(draw)
    return lambda bench, f: m.figure(bench, turned_by(bench, base, "memory/l2/capacity", f), "s", "kernel_beside_us")


@drawn("More SMs hold at least the blocks that fewer hold.", [0.5, 0.75, 1, 1.5, 2], never_rises)
def more_sms_beside(draw):
    base = beside(draw)
    return lambda bench, f: m.figure(bench, turned_by(bench, base, "sms", f), "s", "kernel_beside_us")


def turned_by(bench, base, knob, factor):
    """The experiment with a knob of its GPU times a factor."""
    value = bench.effective(base)["system"]["gpu"]
    for part in knob.split("/"):
        value = value[part]
    return turned(base, f"/system/gpu/{knob}", times(value, factor) if isinstance(value, str) else round(value * factor))


@drawn("Memory that is faster serves every access sooner.", [0.5, 1, 4], never_rises)
def faster_memory_of_a_step(draw):
    return step_with(draw, "memory/hbm/peak")


@drawn("A larger cache holds all that a smaller one holds.", [0.5, 1, 4], never_rises)
def larger_caches_of_a_step(draw):
    return step_with(draw, "memory/l2/capacity")


@drawn("More SMs hold at least the blocks that fewer hold.", [0.5, 0.75, 1, 1.5, 2], never_rises)
def more_sms_of_a_step(draw):
    return step_with(draw, "sms")


def step_with(draw, knob):
    base = plain(draw.machine(["switched", "full_mesh"]), draw.step())
    return lambda bench, f: m.figure(bench, turned_by(bench, base, knob, f), "s", "iteration_us")


@drawn("Links that are faster have sent every packet sooner, and a step waits for the last one.", FACTORS, never_rises)
def faster_links_of_a_step(draw):
    base = plain(draw.machine(["switched", "full_mesh", "torus", "pcie"]), draw.step())
    return step_of(lambda f: with_topology(base, lambda t: scaled(t, f, ("lane_bandwidth",))))


@drawn("Links that are faster have sent every message sooner.", FACTORS, never_rises)
def faster_links_of_a_plan(draw):
    topology = draw.topology(["switched", "full_mesh"]) | {"gpus": 4}
    base = plain(draw.system(topology), draw.plan(4))
    return step_of(lambda f: with_topology(base, lambda t: scaled(t, f, ("lane_bandwidth",))))


@drawn("A micro-batch more is work more.", [1, 2, 3, 4, 6], never_falls)
def more_micro_batches_of_a_plan(draw):
    topology = draw.topology(["switched", "full_mesh"]) | {"gpus": 4}
    base = plain(draw.system(topology), draw.plan(4))
    return step_of(lambda n: turned(base, "/workload/plan/accumulate", n))


@drawn("A step that never overlaps is the sum of its parts.", ["sum"], equals(lambda _: 1))
def serial_steps_are_sums(draw):
    base = plain(draw.machine(["switched", "full_mesh"]), draw.step())
    base["scenarios"][0]["overlap"] = False

    def measure(bench, _):
        s = bench.result(base)["scenarios"][0]
        return sum(s[k] for k in ("forward_us", "backward_us", "optimizer_us", "other_us", "exposed_communication_us")) / s[
            "iteration_us"]
    return measure


@drawn("A step takes no less than its kernels take alone.", ["overlapped"],
       lambda values, figures: (f"{f:.4f} of the kernels alone" for f in figures if f < 0.999))
def steps_contain_their_kernels(draw):
    base = plain(draw.machine(["switched", "full_mesh"]), draw.step())

    def measure(bench, _):
        scenario = bench.result(base)["scenarios"][0]
        return scenario["iteration_us"] / sum(c["isolated_us"] for c in scenario["kernel_classes"])
    return measure


@drawn("Replicas that shard more of their state hold less of it; what is on its way to others is not state.", ["none", "optimizer", "gradients", "parameters"], never_rises)
def memory_of_shards(draw):
    topology = draw.topology(["switched", "full_mesh"]) | {"gpus": 4}
    plan = m.planned(m.gpt(layers=4, hidden=draw.rng.choice([512, 1024])), data=4, micro_batch=2)
    base = plain(draw.system(topology), plan)

    def measure(bench, how):
        peak = m.figure(bench, turned(base, "/workload/plan/sharding", how), "s", "peak_memory")["bytes"]
        return sum(peak[part] for part in ("weights", "moments", "gradients"))
    return measure


@drawn("A GPU that is faster keeps nobody waiting longer.", ["v100", "a100_80gb", "h100"], never_rises)
def a_faster_gpu_among_others(draw):
    system = draw.system(draw.topology(["switched"]) | {"gpus": 4})
    system["gpu"] = str(draw.source / "configs/systems/gpus/a100_80gb.json")

    def of(gpu):
        mixed = system | {"gpus": [{"ranks": "1", "gpu": str(draw.source / f"configs/systems/gpus/{gpu}.json")}]}
        return plain(mixed, workload)
    workload = m.planned(m.gpt(), data=4, micro_batch=4)
    return step_of(of)


@drawn("Workloads on GPUs of their own, behind a switch that blocks nobody, do not meet.", ["alone", "together"], same)
def workloads_of_their_own(draw):
    both = shared(draw, 2)
    one = both | {"workloads": both["workloads"][:1]}
    return lambda bench, how: bench.result(one if how == "alone" else both)["scenarios"][0]["iteration_us"]


def shared(draw, steps):
    """Two steps of their own on the halves of a machine."""
    out = plain(draw.system(draw.topology(["switched"]) | {"gpus": 8}), None) | {"workloads": [
        {"name": f"w{n}", "on": on, "steps": steps, "workload": draw.step() | {"ranks": 4}} for n, on in enumerate(["0-3", "4-7"])]}
    del out["workload"]
    return out


# Experts.

@drawn("A token more is bytes more.", [64, 128, 256, 512, 1024], never_falls)
def more_tokens(draw):
    return experts(draw, "tokens")


@drawn("A token that goes to more experts goes to at least as many GPUs.", [1, 2, 4, 8], never_falls)
def more_experts_a_token(draw):
    return experts(draw, "top_k")


def experts(draw, knob):
    base = {"name": "probe", "system": draw.machine(["switched"]), "causes": False,
            "workload": {"type": "experts", "tokens": draw.rng.choice([128, 512]), "hidden": 128 * draw.rng.randint(8, 56),
                         "top_k": draw.rng.choice([2, 4]), "experts": 64, "routing": "balanced"},
            "scenarios": [{"name": "s", "collectives": {"experts": {"library": "deepep_normal"}}}]}
    return step_of(lambda value: turned(base, f"/workload/{knob}", value))
