#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a synthetic Kineto trace: one rank of a data-parallel ResNet-50 training step on eight H100 SXM.

No real run is behind it. Layer shapes come from the published architecture (He et al. 2015, v1.5 strides); a kernel's
duration is a roofline: the larger of operations over 60 % of the dense TF32 peak (494.5 TFLOP/s, data sheet) and bytes
over 92 % of the HBM peak (3.35 TB/s, data sheet; share as measured on GH200 by RRZE's gpu-stream), but at least 2 us.
Collectives get the time of an idle machine at 350 GB/s bus bandwidth; the simulator replaces it.

usage: make_example_trace.py OUTPUT.json.gz
"""
import gzip
import io
import json
import sys

BATCH = 128
RANKS = 8
STEPS = 2
PEAK_FLOPS = 494.5e12 * 0.6
PEAK_BYTES = 3.35e12 * 0.92
FLOOR_US = 2.0
WORD = 4
BUCKET_FIRST = 1 << 20
BUCKET_CAP = 25 << 20
STAGES = [(64, 256, 3, 1), (128, 512, 4, 2), (256, 1024, 6, 2), (512, 2048, 3, 2)]


def layers():
    """(kind, name, parameters, operations forward, input elements, output elements) for one batch."""
    result = []

    def conv(name, cin, cout, kernel, size_in, stride):
        size = size_in // stride
        out = BATCH * cout * size * size
        result.append(("conv", name, cin * cout * kernel * kernel, 2 * out * cin * kernel * kernel,
                       BATCH * cin * size_in * size_in, out))
        return size

    def norm(name, channels, size):
        n = BATCH * channels * size * size
        result.append(("bn", name, 2 * channels, 0, n, n))

    def relu(name, channels, size):
        n = BATCH * channels * size * size
        result.append(("relu", name, 0, 0, n, n))

    size = conv("conv1", 3, 64, 7, 224, 2)
    norm("bn1", 64, size)
    relu("relu1", 64, size)
    result.append(("pool", "maxpool", 0, 0, BATCH * 64 * size * size, BATCH * 64 * size * size // 4))
    size //= 2
    channels = 64
    for stage, (width, out, blocks, first_stride) in enumerate(STAGES, 1):
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            base = f"layer{stage}.{block}"
            conv(f"{base}.conv1", channels, width, 1, size, 1)
            norm(f"{base}.bn1", width, size)
            relu(f"{base}.relu1", width, size)
            inner = conv(f"{base}.conv2", width, width, 3, size, stride)
            norm(f"{base}.bn2", width, inner)
            relu(f"{base}.relu2", width, inner)
            conv(f"{base}.conv3", width, out, 1, inner, 1)
            norm(f"{base}.bn3", out, inner)
            if block == 0:
                conv(f"{base}.downsample.0", channels, out, 1, size, stride)
                norm(f"{base}.downsample.1", out, inner)
            n = BATCH * out * inner * inner
            result.append(("add", f"{base}.add", 0, 0, 2 * n, n))
            relu(f"{base}.relu3", out, inner)
            channels, size = out, inner
    result.append(("pool", "avgpool", 0, 0, BATCH * channels * size * size, BATCH * channels))
    result.append(("fc", "fc", channels * 1000 + 1000, 2 * BATCH * channels * 1000, BATCH * channels, BATCH * 1000))
    return result


class Trace:
    def __init__(self):
        self.events = []
        self.cpu = 1000.0
        self.gpu = {7: 0.0, 20: 0.0}
        self.correlation = 0

    def add(self, category, name, start, duration, tid, args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": tid,
                            "ts": round(start, 3), "dur": round(duration, 3), "args": args})

    def launch(self, name, op, stream, duration, grid, block, registers, shared, dims, extra=None, after=0.0):
        self.correlation += 1
        c = self.correlation
        self.add("cpu_op", op, self.cpu, 3.0, 100, {"External id": c, "Input Dims": dims})
        self.add("cuda_runtime", "cudaLaunchKernel", self.cpu + 1.0, 1.5, 100, {"correlation": c, "External id": c})
        start = max(self.gpu[stream] + 0.5, self.cpu + 4.0, after)
        args = {"External id": c, "device": 0, "stream": stream, "correlation": c, "grid": grid, "block": block,
                "registers per thread": registers, "shared memory": shared}
        args.update(extra or {})
        self.add("kernel", name, start, duration, stream, args)
        self.gpu[stream] = start + duration
        self.cpu += 3.5
        return start + duration


def duration(operations, words):
    return max(operations / PEAK_FLOPS * 1e6, words * WORD / PEAK_BYTES * 1e6, FLOOR_US)


def matrix(trace, name, op, layer, operations, tiles):
    _, _, parameters, _, read, written = layer
    trace.launch(name, op, 7, duration(operations, read + written + parameters), [max(1, tiles), 1, 1], [256, 1, 1],
                 200, 98304, [])


def stream(trace, name, op, elements_in, elements_out):
    blocks = max(1, max(elements_in, elements_out) // 2048)
    trace.launch(name, op, 7, duration(0, elements_in + elements_out), [blocks, 1, 1], [512, 1, 1], 32, 0,
                 [[elements_in - elements_out], [elements_out]] if elements_in > elements_out else [[elements_in]])


def forward(trace, net):
    for layer in net:
        kind, _, _, operations, read, written = layer
        tiles = written // (128 * 128)
        if kind in ("conv", "fc"):
            matrix(trace, "sm90_xmma_fprop_implicit_gemm_tf32f32_128x128", "aten::cudnn_convolution", layer,
                   operations, tiles)
        elif kind == "bn":
            stream(trace, "cudnn::bn_fw_tr_1C11_kernel_NCHW", "aten::cudnn_batch_norm", 2 * read, written)
        else:
            stream(trace, f"vectorized_elementwise_kernel_{kind}", f"aten::{kind}", read, written)


def all_reduce(trace, elements, after):
    size = elements * WORD
    time = 20.0 + size * 2 * (RANKS - 1) / RANKS / 350e9 * 1e6
    blocks = 24
    return trace.launch(
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", "nccl:all_reduce", 20,
        time, [blocks, 1, 1], [544, 1, 1], 96, 88016, [],
        {"Collective name": "allreduce", "In msg nelems": elements, "Out msg nelems": elements,
         "Group size": RANKS, "dtype": "Float", "Process Group Name": "0",
         "Process Group Ranks": str(list(range(RANKS)))}, after)


def backward(trace, net):
    """Gradients in reverse; a bucket is reduced as soon as it is full (DDP: 1 MiB first, then 25 MiB)."""
    waiting = 0
    limit = BUCKET_FIRST
    last = 0.0
    for layer in reversed(net):
        kind, _, parameters, operations, read, written = layer
        tiles = written // (128 * 128)
        start = trace.cpu
        if kind in ("conv", "fc"):
            matrix(trace, "sm90_xmma_dgrad_implicit_gemm_tf32f32_128x128", "aten::convolution_backward", layer,
                   operations, read // (128 * 128))
            matrix(trace, "sm90_xmma_wgrad_implicit_gemm_tf32f32_128x128", "aten::convolution_backward", layer,
                   operations, max(16, min(tiles, 2 * 132)))
        elif kind == "bn":
            stream(trace, "cudnn::bn_bw_1C11_kernel_new", "aten::cudnn_batch_norm_backward", 3 * read, written)
        else:
            stream(trace, f"vectorized_elementwise_kernel_{kind}_backward", f"aten::{kind}_backward", read, written)
        trace.add("cpu_op", f"autograd::engine::evaluate_function: {kind}Backward0", start, trace.cpu - start, 100, {})
        waiting += parameters * WORD
        if waiting >= limit or layer is net[0]:
            last = all_reduce(trace, waiting // WORD, trace.gpu[7])
            waiting = 0
            limit = BUCKET_CAP
    return last


def optimizer(trace, net, after):
    total = sum(layer[2] for layer in net)
    trace.add("cuda_runtime", "cudaStreamWaitEvent", trace.cpu, 0.5, 100, {})
    trace.cpu += 1.0
    share = total // 4
    for part in range(4):
        trace.launch("multi_tensor_apply_kernel_sgd_momentum", "aten::_foreach_add_", 7, duration(0, 5 * share),
                     [max(1, share // 65536), 1, 1], [512, 1, 1], 40, 0, [], None, after if part == 0 else 0.0)


def main():
    net = layers()
    total = sum(layer[2] for layer in net)
    assert total == 25557032, total
    trace = Trace()
    for step in range(STEPS):
        begin = trace.cpu
        forward(trace, net)
        trace.add("user_annotation", "## forward ##", begin, trace.cpu - begin, 100, {})
        middle = trace.cpu
        last = backward(trace, net)
        trace.add("user_annotation", "## backward ##", middle, trace.cpu - middle, 100, {})
        end = trace.cpu
        optimizer(trace, net, last)
        trace.add("user_annotation", "Optimizer.step#SGD.step", end, trace.cpu - end, 100, {})
        done = max(trace.gpu.values())
        trace.add("cuda_runtime", "cudaDeviceSynchronize", trace.cpu, done + 5.0 - trace.cpu, 100, {})
        trace.cpu = done + 6.0
        trace.add("user_annotation", f"ProfilerStep#{step}", begin, trace.cpu - begin, 100, {})
    document = {
        "schemaVersion": 1,
        "switchfold_synthetic": True,
        "traceName": "synthetic ResNet-50 data-parallel step, no real run",
        "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85045665792, "numSms": 132}],
        "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": RANKS},
        "traceEvents": trace.events,
    }
    text = json.dumps(document, separators=(",", ":")).encode()
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=9, mtime=0) as file:
        file.write(text)
    with open(sys.argv[1], "wb") as file:
        file.write(buffer.getvalue())


if __name__ == "__main__":
    main()
