# SPDX-License-Identifier: Apache-2.0
"""Times backward passes alone and beside a memory mover, by kernel. Needs a GPU and PyTorch."""
import contextlib
import json
import os
import statistics
import tempfile

import torch

import slowdown
from mover import Mover
from networks import make_step

BLOCKS = (2, 4, 8, 16, 24, 32)
# Bytes/s read and written: resident but almost idle; two steady rates; 0: as fast as possible.
RATES = (1e9, 3e11, 1e12, 0.0)
PASSES = 5
PASSES_ALONE = 9
WARM_UP = 4
LEAST_US = 3.0
MOVER_KERNEL = "ring_mover_kernel"


def kernel_of(event):
    args = event["args"]
    return {
        "name": event["name"],
        "grid": args["grid"],
        "block": args["block"],
        "registers": args.get("registers per thread", 0),
        "shared_bytes": args.get("shared memory", 0),
        "us": event["dur"],
    }


def passes_of(trace):
    """The kernels of each pass of a Kineto trace, without the mover's own."""
    events = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
    kernels = sorted(
        (e for e in events if e.get("cat") == "kernel" and MOVER_KERNEL not in e["name"]),
        key=lambda e: e["ts"],
    )
    marks = sorted(
        (e["ts"], e["ts"] + e["dur"])
        for e in events
        if e.get("cat") == "user_annotation" and e["name"] == "backward pass"
    )
    return [
        [kernel_of(k) for k in kernels if begin <= k["ts"] < end]
        for begin, end in marks
    ]


class Backward:
    """Backward passes of one network."""

    def __init__(self, network):
        torch.manual_seed(1)
        self.step = make_step(network)
        self.stream = torch.cuda.Stream()
        for _ in range(WARM_UP):
            self.run_pass(contextlib.nullcontext())

    def run_pass(self, beside):
        loss = self.step.forward()
        torch.cuda.synchronize()
        with beside:
            with torch.profiler.record_function("backward pass"):
                loss.backward()
                # Waits for the stream, not the device, since the mover does not end by itself.
                torch.cuda.current_stream().synchronize()
        self.step.optimizer.zero_grad(set_to_none=False)
        torch.cuda.synchronize()

    def profiled(self, count, beside):
        with torch.profiler.profile() as profiler:
            for _ in range(count):
                self.run_pass(beside())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            profiler.export_chrome_trace(path)
            with open(path, encoding="utf-8") as text:
                return passes_of(json.load(text))

    def alone(self):
        return self.profiled(PASSES_ALONE, contextlib.nullcontext)

    def beside(self, library, blocks, rate):
        mover = Mover(library, blocks, rate)
        reports = []
        try:
            runs = self.profiled(PASSES, lambda: mover.running(self.stream, reports))
        finally:
            mover.close()
        return runs, {
            "bytes_per_second": statistics.median(r.bytes / r.seconds for r in reports),
            "registers_per_thread": reports[0].registers_per_thread,
            "static_shared_bytes": reports[0].static_shared_bytes,
        }


def items(networks):
    """The items to measure, ordered so that an interrupted run is most useful."""
    work = [{"key": f"{n} alone", "network": n} for n in networks]
    for rate in RATES:
        for blocks in BLOCKS:
            for network in networks:
                words = "unlimited" if rate == 0 else f"{rate / 1e9:g} GB/s"
                work.append(
                    {
                        "key": f"{network} beside {blocks} blocks, {words}",
                        "network": network,
                        "blocks": blocks,
                        "rate": rate,
                    }
                )
    return work


class Measurement:
    """Keeps one network on the GPU and takes the baseline from the store."""

    def __init__(self, library, store):
        self.library = library
        self.store = store
        self.network = None
        self.backward = None

    def prepare(self, network):
        if self.network != network:
            self.backward = None
            torch.cuda.empty_cache()
            self.backward = Backward(network)
            self.network = network

    def __call__(self, item):
        self.prepare(item["network"])
        if "blocks" not in item:
            return self.backward.alone()
        kernels = slowdown.Kernels(self.store.items[f"{item['network']} alone"], LEAST_US)
        runs, moved = self.backward.beside(self.library, item["blocks"], item["rate"])
        return {
            "network": item["network"],
            "blocks": item["blocks"],
            "threads": Mover.THREADS,
            "shared_bytes": Mover.SHARED_BYTES,
            "footprint_bytes": 2 * item["blocks"] * Mover.SLOT_BYTES + Mover.USER_BYTES,
            "requested_bytes_per_second": item["rate"],
            "kernels": kernels.beside(runs),
            **moved,
        }


def result(store, networks, origin, counted):
    """The contents of validation/h200/data/contention.json. `counted` gives a network's DRAM bytes
    by kernel name, grid and block, where a second pass counted them."""
    out = {"schema": "switchfold/h200-contention/1", **origin, "networks": []}
    for network in networks:
        kernels = slowdown.Kernels(store.items[f"{network} alone"], LEAST_US)
        runs = [
            value
            for value in store.items.values()
            if isinstance(value, dict) and value["network"] == network
        ]
        out["networks"].append(
            {
                "network": network,
                "unsteady_kernels": kernels.unsteady,
                "kernels": [
                    row | counted(network).get(slowdown.shape_of(row), {})
                    for row in kernels.table()
                ],
                "runs": [
                    {k: v for k, v in run.items() if k != "network"}
                    | {"slowdown": slowdown.total_slowdown(kernels.table(), run["kernels"])}
                    for run in runs
                ],
            }
        )
    return out
