#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the trace of the example: a synthetic PyTorch profile of data-parallel ResNet-50 training.

usage: make_example_trace.py OUT.json.gz

Nothing in it was measured. It is one rank of eight H100 SXM, a batch of 12 images, TF32 convolutions,
channels-last tensors of float32, SGD with momentum, DistributedDataParallel with its default
buckets. The layers are the published ones (example_trace/network.py), kernel times come from a
roofline model (kernels.py), and a step follows DistributedDataParallel (step.py). Every duration is
that of a kernel ALONE on the GPU, even where a collective runs beside it: computing the slowdown is
the simulator's task. The file marks itself as synthetic: "switchfold_synthetic": true.
"""
import gzip
import json
import sys

from example_trace.kernels import SMS
from example_trace.network import PARAMETERS, resnet50
from example_trace.recorder import CPU, RANKS, Recorder
from example_trace.step import step

STEPS = 2


def trace():
    stem, blocks = resnet50()
    recorder = Recorder()
    sent = [step(recorder, number, stem, blocks) for number in range(STEPS)]
    assert all(sum(counts) == PARAMETERS for counts in sent)
    recorder.events.sort(key=lambda e: (e["ts"], -e["dur"], e["tid"], e["cat"]))
    names = [
        {"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": {"name": name}}
        for pid, name in ((CPU, "python3 (made up)"), (0, "GPU 0 (made up)"))
    ]
    device = {
        "id": 0,
        "name": "NVIDIA H100 80GB HBM3",
        "totalGlobalMem": 85_899_345_920,
        "computeMajor": 9,
        "computeMinor": 0,
        "maxThreadsPerBlock": 1024,
        "maxThreadsPerMultiprocessor": 2048,
        "regsPerBlock": 65536,
        "warpSize": 32,
        "sharedMemPerBlock": 49152,
        "numSms": SMS,
        "regsPerMultiprocessor": 65536,
        "sharedMemPerBlockOptin": 232448,
        "sharedMemPerMultiprocessor": 233472,
    }
    return {
        "schemaVersion": 1,
        "switchfold_synthetic": True,
        "traceName": "resnet50_ddp_synthetic.json",
        "displayTimeUnit": "ms",
        "deviceProperties": [device],
        "distributedInfo": {
            "backend": "nccl",
            "rank": 0,
            "world_size": RANKS,
            "pg_count": 1,
            "pg_config": [
                {
                    "pg_name": "0",
                    "pg_desc": "default_pg",
                    "backend_config": "cuda:nccl",
                    "pg_size": RANKS,
                    "ranks": list(range(RANKS)),
                }
            ],
        },
        "traceEvents": names + recorder.events,
    }


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    text = json.dumps(trace(), separators=(",", ":")).encode()
    with open(sys.argv[1], "wb") as file:
        # Without a name and a time in the header, the bytes are the same every time.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            packed.write(text)


if __name__ == "__main__":
    main()
