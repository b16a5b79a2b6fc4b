# SPDX-License-Identifier: Apache-2.0
"""Probes of collectives: sizes, ranks, links, and the reduction unit in the switch."""
import re

import machines as m
from bench import turned
from probe import Probe, at_most, equals, grows_no_faster, holds, moves, never_falls, never_rises, same

UNIT = "/system/topology/switch/reduction/"
POWERS = [2**n * m.MIB for n in range(0, 8)]
PROTOCOLS = ("ll", "ll128", "simple")  # in the order in which NCCL takes them as messages grow
ROW = 20  # collectives, as many as nccl-tests runs in a row


def probes(source):
    h100, nvl72, cluster = (m.named(source, n) for n in ("hgx_h100", "gb200_nvl72", "dgx_h100_ndr"))
    out = []

    def add(name, why, values, measure, *laws):
        out.append(Probe(name, why, values, measure, list(laws)))

    def of_size(system, kind="all_reduce", ranks=0, **policy):
        return lambda bench, size: m.taken(bench, m.collective(system, kind, size, ranks, **policy))

    # Every operation.
    add("send_receive_of_the_same_blocks_does_not_know_how_many_ranks_there_are",
        "A rank sends to one neighbour and receives from one; other pairs have switch ports of their own.",
        [(2, 8), (4, 16), (8, 32)], lambda bench, v: m.taken(bench, m.collective(
            h100, "send_receive", 16 * m.MIB, v[0], channels=v[1])), same)
    for size in (256, 1024):
        add(f"send_receive_of_{size}_MiB_does_not_know_how_many_ranks_there_are",
            "A part of a message is at most 16 MiB, so one so long has its blocks whatever the number of ranks.",
            [2, 4, 8], lambda bench, n, size=size: m.taken(bench, m.collective(h100, "send_receive", size * m.MIB, n)), same)
    add("a_neighbour_has_the_blocks_of_a_share_of_the_ranks",
        "The library divides a kernel's 32 blocks among all ranks: two ranks with as many for a peer take as long.",
        [(4, 16), (8, 8)], lambda bench, v: m.taken(bench, m.collective(h100, "send_receive", 64 * m.MIB, v[0])) / m.taken(
            bench, m.collective(h100, "send_receive", 64 * m.MIB, 2, channels=v[1])), equals(lambda _: 1))
    add("send_receive_of_the_same_channels_does_not_know_how_many_machines_there_are",
        "At each end of a machine one pair crosses the network, however long the ring of machines is.",
        [2, 4, 8, 16], lambda bench, n: m.taken(bench, nodes(m.collective(
            cluster, "send_receive", 16 * m.MIB, channels=2), n)), same)
    add("a_neighbour_in_another_machine_has_the_channels_of_a_share_of_the_ranks",
        "The library halves the channels of a peer until those of a kernel serve all ranks: two machines with as many "
        "take as long.",
        [(8, 4), (16, 2)], lambda bench, v: m.taken(bench, nodes(m.collective(cluster, "send_receive", 16 * m.MIB), v[0]))
        / m.taken(bench, nodes(m.collective(cluster, "send_receive", 16 * m.MIB, channels=v[1]), 2)), equals(lambda _: 1))
    add("send_receive_over_machines_takes_what_the_nic_gives",
        "The pair that crosses the network has one NIC, and a NIC of four times the rate is not as slow.",
        ["6250 MB/s", "12500 MB/s", "25 GB/s", "50 GB/s"],
        lambda bench, rate: m.taken(bench, network(nodes(m.collective(cluster, "send_receive", 64 * m.MIB), 2), rate)),
        never_rises, moves(3))
    for kind in ("reduce_scatter", "all_gather"):
        add(f"{kind}_is_no_slower_than_an_all_reduce",
            "An all-reduce by a ring sends twice the bytes over the same wires.",
            [4 * m.MIB, 16 * m.MIB, 64 * m.MIB],
            lambda bench, size, kind=kind: m.taken(bench, m.collective(h100, kind, size, 8, algorithm="ring")) / m.taken(
                bench, m.collective(h100, "all_reduce", size, 8, algorithm="ring")), at_most(1))
    for kind in ("broadcast", "reduce"):
        add(f"a_{kind}_in_a_row_is_no_slower_than_an_all_reduce",
            "An all-reduce by a ring sends 1.75 times the bytes over the same wires; in a row the chain of ranks stays full.",
            [4 * m.MIB, 16 * m.MIB, 64 * m.MIB],
            lambda bench, size, kind=kind: in_a_row(bench, h100, kind, size) / in_a_row(bench, h100, "all_reduce", size),
            at_most(1))
        add(f"a_{kind}_alone_fills_its_chain_chunk_by_chunk",
            "A rank passes on a chunk of 512 KiB when it has all of it: each rank more takes one chunk's time more.",
            [3, 4, 8], lambda bench, ranks, kind=kind: chunks_later(bench, h100, kind, ranks), equals(lambda ranks: ranks - 2, 0.06))
    for kind in ("broadcast", "reduce", "all_reduce"):
        add(f"a_{kind}_in_a_row_is_not_far_from_its_best_protocol",
            "The library estimates which protocol is fastest; it is not off by half for sizes that everybody measures.",
            [m.MIB, 4 * m.MIB, 16 * m.MIB, 64 * m.MIB],
            lambda bench, size, kind=kind: in_a_row(bench, h100, kind, size) / min(
                in_a_row(bench, h100, kind, size, protocol=p) for p in PROTOCOLS), at_most(1.1, 0))
    for kind, algorithm in (("all_reduce", "ring"), ("all_reduce", "tree"), ("broadcast", "ring")):
        add(f"{kind}_by_{algorithm}_takes_its_protocols_in_order_of_size",
            "Flags beside the data cost bandwidth and spare a hop's wait, so what carries more per flag takes the longer messages.",
            [2**n for n in range(12, 28)],
            lambda bench, size, kind=kind, how=algorithm: protocol_of(bench, m.collective(h100, kind, size, 8, algorithm=how)),
            never_falls, moves(3))
    for protocol in PROTOCOLS:
        add(f"tree_of_twice_the_bytes_takes_at_most_twice_as_long_{protocol}",
            "Twice the bytes can go as two halves, one after the other.",
            POWERS, of_size(h100, algorithm="tree", protocol=protocol, ranks=8), never_falls, grows_no_faster)
        add(f"nvl72_takes_longer_for_more_tree_{protocol}",
            "More bytes over the same wires, added by the same blocks, take longer.",
            [2 * m.MIB, 8 * m.MIB, 16 * m.MIB], of_size(nvl72, algorithm="tree", protocol=protocol), never_falls,
            grows_no_faster)
    add("nvl72_takes_longer_for_more_auto",
        "More bytes over the same wires, added by the same unit, take longer.",
        [2 * m.MIB, 8 * m.MIB, 16 * m.MIB], of_size(nvl72, algorithm="auto"), never_falls, grows_no_faster)
    for kind in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "send_receive"):
        add(f"{kind}_takes_longer_for_more",
            "More bytes over the same wires take longer.",
            [2**n for n in range(10, 27, 2)], of_size(h100, kind, 8), never_falls)

    # Links.
    rates = ["13 GB/s", "20 GB/s", "26.5625 GB/s", "53 GB/s", "106 GB/s"]
    latencies = ["50 ns", "200 ns", "500 ns", "1 us", "2 us", "4 us"]
    for protocol in PROTOCOLS:
        add(f"faster_links_never_slow_ring_{protocol}", "A link that is faster has sent every packet sooner.", rates,
            turning("/system/topology/link/lane_bandwidth", m.collective(
                h100, size=16 * m.MIB, ranks=8, algorithm="ring", protocol=protocol)), never_rises)
    for algorithm in ("ring", "tree", "in_switch"):
        base = m.collective(h100, size=16 * m.MIB, ranks=8, algorithm=algorithm)
        if algorithm != "ring":
            add(f"faster_links_never_slow_{algorithm}", "A link that is faster has sent every packet sooner.", rates,
                turning("/system/topology/link/lane_bandwidth", base), never_rises)
        add(f"longer_links_never_speed_up_{algorithm}", "A longer wire delivers every packet later.", latencies,
            turning("/system/topology/link/latency", base), never_falls)
    add("longer_links_slow_small_messages", "A small all-reduce is made of hops, and each takes a link's latency twice.",
        latencies, turning("/system/topology/link/latency", m.collective(h100, size=4 * m.KIB, ranks=8)), never_falls,
        moves(2))

    add("faster_hbm_never_slows_a_collective_in_the_switch", "Memory that is faster serves every access sooner.",
        ["1675 GB/s", "3350 GB/s", "6700 GB/s", "13400 GB/s"], turning("/system/gpu/memory/hbm/peak", m.collective(
            h100, size=16 * m.MIB, ranks=8, algorithm="in_switch", registered=True)), never_rises)

    # The unit in the switch.
    modes = {"pull": {"registered": True, "mode": "pull"}, "push": {"registered": True, "mode": "push"},
             "command": {"registered": True, "mode": "command"}, "copies": {"mode": "pull"}}
    for mode, policy in modes.items():
        base = m.collective(h100, size=4 * m.MIB, ranks=8, algorithm="in_switch", **policy)
        for entries in (1, 4, 256):
            add(f"packets_of_the_model_do_not_matter_{mode}_{entries}",
                "transfer_unit is how the simulator cuts bytes, and no machine has it.",
                ["128 B", "512 B", "1 KiB", "4 KiB", "64 KiB"],
                turning("/system/collectives/transfer_unit", turned(base, UNIT + "entries", entries)), same)
        add(f"more_entries_never_slow_{mode}", "A unit with more entries can do all that one with fewer does.",
            [1, 2, 4, 8, 16, 64, 256, 1024], turning(UNIT + "entries", base), never_rises)
        add(f"larger_buffers_never_slow_{mode}", "A larger buffer holds all that a smaller one holds.",
            ["512 B", "1 KiB", "2 KiB", "8 KiB", "32 KiB", "128 KiB", "512 KiB"], turning(UNIT + "buffer", base), never_rises)
        add(f"more_adders_never_slow_{mode}", "Two adders add all that one adds.",
            [1, 2, 4, 8], turning(UNIT + "adders", turned(base, UNIT + "adder_rate", "4 GB/s")), never_rises)
        add(f"faster_adders_never_slow_{mode}", "An adder that is faster has added every line sooner.",
            ["1 GB/s", "4 GB/s", "12 GB/s", "25 GB/s", "100 GB/s"], turning(UNIT + "adder_rate", base), never_rises, moves(2))
    pull = m.collective(h100, size=4 * m.MIB, ranks=8, algorithm="in_switch", **modes["pull"])
    add("four_entries_do_more_than_one",
        "A port with one entry has one line under way, for a whole way to the members and back.",
        [1, 4], turning(UNIT + "entries", pull), moves(1.5))
    add("types_of_the_same_bytes_differ_where_adders_decide",
        "An adder's rate is one of additions: the same bytes of a type of half the width are twice as many, each rounded "
        "from a sum of 32 bits.",
        ["float32", "float16"], lambda bench, kind: m.taken(bench, turned(m.collective(
            h100, size=4 * m.MIB, ranks=8, datatype=kind, algorithm="in_switch", **modes["pull"]), UNIT + "adder_rate", "1 GB/s")),
        never_falls, moves(1.2))

    # describe.
    for system in ("hgx_h100", "gb200_nvl72", "dgx_a100"):
        add(f"describe_says_what_a_run_says_{system}", "A machine has one time for one all-reduce.",
            ["64 KiB", "4 MiB"], described(m.named(source, system)), lambda values, figures: (
                f"{v}: describe {a:.1f} us, run {b:.1f} us" for v, (a, b) in zip(values, figures) if abs(a - b) > 0.01 * b + 0.1))
    add("describe_keeps_its_own_bounds", "A bound is a bound.", ["hgx_h100", "gb200_nvl72", "dgx_a100"],
        lambda bench, system: within_bounds(bench.description(m.named(source, system))), holds)
    return out


def turning(pointer, experiment):
    return lambda bench, value: m.taken(bench, turned(experiment, pointer, value))


def in_a_row(bench, system, kind, size, **policy):
    """The time of each of a row of collectives, in us, as benchmarks take it."""
    row = m.beside(system, m.stream(m.MIB, m.MIB, 64), size, 8, kernels=1, collectives=ROW)
    row["workload"]["collective"] = kind
    row["scenarios"] = [{"name": "s", "collectives": {kind: {"algorithm": "ring"} | policy}}]
    return m.figure(bench, row, "s", "collective_alone_us")


def chunks_later(bench, system, kind, ranks):
    """How much longer than on two ranks a collective takes that is alone, in times of one chunk of Simple."""
    channels, chunk = 24, m.MIB // 2

    def of(n, chunks):
        return m.taken(bench, m.collective(system, kind, chunks * channels * chunk, n, algorithm="ring", protocol="simple",
                                           channels=channels))
    return (of(ranks, 4) - of(2, 4)) / ((of(2, 8) - of(2, 4)) / 4)


def protocol_of(bench, experiment):
    """Which protocol the library takes, as a number from 1."""
    return 1 + PROTOCOLS.index(bench.result(experiment)["scenarios"][0]["collectives"][0]["protocol"])


def nodes(experiment, count):
    return turned(experiment, "/system/topology/nodes", count)


def network(experiment, rate):
    """The NICs' cables have this rate."""
    return turned(experiment, "/system/topology/network/link/lane_bandwidth", rate)


LINE = re.compile(r"^ +(\d+ [KMG]iB) .* ([0-9.]+) (us|ms|s)$", re.M)  # not those that say that they are bounds
BOUND = re.compile(r"^  (.*) all-reduce: bus bandwidth at most ([0-9.]+) (GB/s|TB/s)", re.M)
US = {"us": 1, "ms": 1e3, "s": 1e6}
SIZES = {"KiB": m.KIB, "MiB": m.MIB, "GiB": m.GIB}


def all_reduces(text):
    """The times of describe's table of all-reduces, in us, by size."""
    text = text[text.index("all-reduce over all GPUs"):]
    return {size: float(number) * US[unit] for size, number, unit in LINE.findall(text)}


def described(system):
    def measure(bench, size):
        number, unit = size.split()
        run = m.taken(bench, m.collective(system, size=int(number) * SIZES[unit], algorithm="auto"))
        return all_reduces(bench.description(system)).get(size, run), run
    return measure


def within_bounds(text):
    ranks = int(re.search(r": (\d+) x ", text).group(1))
    most = max(float(n) * (1000 if unit == "TB/s" else 1) for _, n, unit in BOUND.findall(text))
    for size, taken in all_reduces(text).items():
        number, unit = size.split()
        rate = int(number) * SIZES[unit] * 2 * (ranks - 1) / ranks / taken / 1000
        if rate > 1.01 * most:
            return f"{size}: {rate:.0f} GB/s, where at most {most:.0f} can be"
    return True
