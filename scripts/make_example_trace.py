#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the example's trace: a made-up PyTorch profile of data-parallel ResNet-50 training.

usage: make_example_trace.py OUT.json.gz

Nothing in it was measured. It is one rank of eight H100 SXM, batch 128, TF32 convolutions,
channels-last tensors of float32, SGD with momentum, DistributedDataParallel with its default
buckets. Layers come from the published architecture (He et al., "Deep Residual Learning for Image
Recognition", CVPR 2016, table 1; stride in the 3x3 convolution, as torchvision has it); a kernel
takes what a roofline gives it. Every duration is that of a kernel ALONE on the GPU, also where a
collective runs beside it: the slowdown is what the simulator is for. The file says of itself that
it is synthetic: "switchfold_synthetic": true.
"""
import gzip
import json
import math
import sys

# --- the machine ---------------------------------------------------------------------------------
SMS = 132  # H100 SXM5 data sheet
TF32_FLOPS = 494.5e12  # dense; NVIDIA H100 data sheet
HBM_BYTES_PER_S = 3350e9  # H100 SXM5 data sheet
# Large GEMMs reach 794 of 989 TFLOP/s in bf16 on H100 (stas00/ml-engineering, compute/accelerator).
GEMM_FRACTION = 794 / 989
# STREAM triad reaches 3783 of 4000 GB/s on GH200 (RRZE-HPC/gpu-benches, gpu-stream).
# Kernels of a network stay below it: 0.9 is an assumption.
HBM_FRACTION = 3783 / 4000 * 0.9
KERNEL_FLOOR_NS = 2000  # an empty kernel's start and end; assumption
KERNEL_GAP_NS = 1000  # between dependent kernels of a stream; assumption
LAUNCH_CALL_NS = 4000  # cudaLaunchKernel; assumption
OPERATOR_NS = 3000  # PyTorch's own time around it; assumption
PCIE_BYTES_PER_S = 55.4e9  # gen 5 x16, host to device, H200 (stas00/ml-engineering)
# Ring all-reduce on 8 H100: 360 GB/s bus bandwidth and about 20 us when small (NCCL's own search
# gives 12 rings of 30 GB/s; odissei-benchmarks/nccl-tests for the floor).
BUS_BYTES_PER_S = 360e9
ALL_REDUCE_FLOOR_NS = 20000

RANKS = 8
BATCH = 128
STEPS = 2
FLOAT = 4
MIB = 1 << 20
FIRST_BUCKET, BUCKET = 1 * MIB, 25 * MIB  # torch/nn/parallel/distributed.py, reducer.hpp
PARAMETERS = 25_557_032  # torchvision's resnet50
COMPUTE_STREAM, COLLECTIVE_STREAM = 7, 20
MAIN_THREAD, AUTOGRAD_THREAD, CPU = 1000, 1001, 900


# --- the network ---------------------------------------------------------------------------------
class Conv:
    def __init__(self, name, size, inputs, outputs, kernel=1, stride=1):
        self.name, self.kernel, self.stride = name, kernel, stride
        self.inputs, self.outputs = inputs, outputs
        self.size, self.out_size = size, size // stride

    @property
    def x(self):
        return [BATCH, self.inputs, self.size, self.size]

    @property
    def y(self):
        return [BATCH, self.outputs, self.out_size, self.out_size]

    @property
    def weight(self):
        return [self.outputs, self.inputs, self.kernel, self.kernel]


class Block:
    """A bottleneck: 1x1, 3x3, 1x1, and a projection where the shape changes."""

    def __init__(self, name, size, inputs, width, stride):
        outputs = 4 * width
        self.name = name
        self.path = [
            Conv(f"{name}.conv1", size, inputs, width),
            Conv(f"{name}.conv2", size, width, width, 3, stride),
            Conv(f"{name}.conv3", size // stride, width, outputs),
        ]
        self.projection = None
        if inputs != outputs or stride != 1:
            self.projection = Conv(f"{name}.downsample.0", size, inputs, outputs, 1, stride)


def resnet50():
    stem = Conv("conv1", 224, 3, 64, 7, 2)
    blocks, inputs, size = [], 64, 56
    for stage, (width, count) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)], 1):
        for i in range(count):
            stride = 2 if i == 0 and stage > 1 else 1
            blocks.append(Block(f"layer{stage}.{i}", size, inputs, width, stride))
            inputs, size = 4 * width, size // stride
    return stem, blocks


def elements(shape):
    return math.prod(shape)


# --- kernels -------------------------------------------------------------------------------------
def dims3(n):
    return [int(n), 1, 1]


class Kernel:
    def __init__(self, name, grid, block, registers, shared, ns):
        self.name, self.grid, self.block = name, grid, block
        self.registers, self.shared, self.ns = registers, shared, ns


def memory_ns(moved):
    return moved / (HBM_BYTES_PER_S * HBM_FRACTION) * 1e9


def whole_ns(ns):
    return max(KERNEL_FLOOR_NS, round(ns))


def elementwise(functor, shape, reads, writes=1):
    """1024 elements a block: 128 threads, two vectors of four each."""
    n = elements(shape)
    name = f"void at::native::vectorized_elementwise_kernel<4, {functor}>(int, {functor})"
    ns = whole_ns(memory_ns(n * FLOAT * (reads + writes)))
    return Kernel(name, dims3(-(-n // 1024)), dims3(128), 32, 0, ns)


def streaming(name, shape, moved, registers=40, shared=0):
    n = elements(shape)
    return Kernel(
        name, dims3(-(-n // 4096)), dims3(512), registers, shared, whole_ns(memory_ns(moved))
    )


def gemm(name, m, n, k, moved):
    """An implicit GEMM in tiles of 128x128 (128x64 for narrow outputs), one block an SM: 256
    threads of 200 registers, 96 KiB of shared memory. K is split where tiles are fewer than SMs."""
    columns = 128 if n > 64 else 64
    tiles = -(-m // 128) * -(-n // columns)
    splits = max(1, min(SMS // tiles, k // 1024)) if tiles < SMS else 1
    waves = -(-tiles * splits // SMS)
    tile_flops = 2 * 128 * columns * -(-k // splits)
    compute = waves * tile_flops / (TF32_FLOPS * GEMM_FRACTION / SMS) * 1e9
    ns = whole_ns(max(compute, memory_ns(moved)))
    return Kernel(
        name.format(columns=columns), dims3(tiles * splits), dims3(256), 200, 96 * 1024, ns
    )


def convolution(conv, part):
    x, y, w = elements(conv.x), elements(conv.y), elements(conv.weight)
    patch = conv.kernel * conv.kernel
    pixels = BATCH * conv.out_size * conv.out_size
    name = (
        "sm80_xmma_" + part + "_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_"
        "tilesize128x{columns}x16_stage4_warpsize2x2x1_g1_tensor16x8x8_execute_kernel__5x_cudnn"
    )
    shapes = {
        "fprop": (pixels, conv.outputs, conv.inputs * patch),
        "dgrad": (BATCH * conv.size * conv.size, conv.inputs, conv.outputs * patch),
        "wgrad": (conv.outputs, conv.inputs * patch, pixels),
    }
    m, n, k = shapes[part]
    if part == "dgrad":
        k //= conv.stride * conv.stride  # a strided layer touches only a share of its inputs
    return gemm(name, m, n, k, (x + y + w) * FLOAT)


# --- the recorder: CPU threads, GPU streams and the events of both -------------------------------
class Recorder:
    def __init__(self):
        self.events = []
        self.cpu_ns = 0
        self.thread = MAIN_THREAD
        self.free_ns = {COMPUTE_STREAM: 0, COLLECTIVE_STREAM: 0}
        self.correlation = 0
        self.external = 0
        self.ready_ns = 0  # of what the next compute kernel waits for

    def event(self, category, name, pid, tid, start, duration, args):
        self.events.append(
            {
                "ph": "X",
                "cat": category,
                "name": name,
                "pid": pid,
                "tid": tid,
                "ts": start / 1000,
                "dur": duration / 1000,
                "args": args,
            }
        )

    def call(self, name, ns, correlated=True):
        """A CUDA runtime call on the current thread. Returns its correlation and end."""
        args = {"External id": self.external}
        if correlated:
            self.correlation += 1
            args["correlation"] = self.correlation
        self.event("cuda_runtime", name, CPU, self.thread, self.cpu_ns, ns, args)
        self.cpu_ns += ns
        return self.correlation, self.cpu_ns

    def gpu(self, category, name, stream, after_ns, ns, correlation, args):
        start = max(after_ns, self.free_ns[stream] + KERNEL_GAP_NS)
        self.free_ns[stream] = start + ns
        common = {
            "External id": self.external,
            "device": 0,
            "context": 1,
            "stream": stream,
            "correlation": correlation,
        }
        self.event(category, name, 0, stream, start, ns, {**common, **args})
        return start + ns

    def operator(self, name, shapes, body):
        """A CPU operator around `body`; the kernels that it launches carry its External id."""
        outer, begin = self.external, self.cpu_ns
        self.external = max(self.external, self.next_external)
        self.next_external = self.external + 1
        mine = self.external
        self.cpu_ns += OPERATOR_NS // 2
        body()
        self.cpu_ns += OPERATOR_NS - OPERATOR_NS // 2
        args = {"External id": mine}
        if shapes is not None:
            args["Input Dims"] = shapes
            args["Input type"] = ["float" if s else "Scalar" for s in shapes]
        self.event("cpu_op", name, CPU, self.thread, begin, self.cpu_ns - begin, args)
        self.external = outer

    next_external = 1

    def annotation(self, name, begin):
        self.event("user_annotation", name, CPU, MAIN_THREAD, begin, self.cpu_ns - begin, {})

    def launch(self, kernel):
        correlation, end = self.call("cudaLaunchKernel", LAUNCH_CALL_NS)
        after = max(end, self.ready_ns)
        self.gpu(
            "kernel",
            kernel.name,
            COMPUTE_STREAM,
            after,
            kernel.ns,
            correlation,
            {
                "queued": 0,
                "registers per thread": kernel.registers,
                "shared memory": kernel.shared,
                "grid": kernel.grid,
                "block": kernel.block,
            },
        )

    def run(self, name, shapes, *kernels):
        self.operator(name, shapes, lambda: [self.launch(kernel) for kernel in kernels])

    def copy(self, kind, size):
        correlation, end = self.call("cudaMemcpyAsync", LAUNCH_CALL_NS)
        ns = whole_ns(size / PCIE_BYTES_PER_S * 1e9)
        name = {"HtoD": "Memcpy HtoD (Pinned -> Device)", "DtoH": "Memcpy DtoH (Device -> Pinned)"}
        args = {"bytes": size, "memory bandwidth (GB/s)": round(size / ns, 3)}
        return self.gpu("gpu_memcpy", name[kind], COMPUTE_STREAM, end, ns, correlation, args)

    def all_reduce(self, count):
        """DDP with a full bucket: NCCL's stream waits for what the compute stream has so far."""
        ready = self.free_ns[COMPUTE_STREAM]

        def body():
            begin = self.cpu_ns
            self.call("cudaEventRecordWithFlags", 1000)
            self.call("cudaStreamWaitEvent", 1000)
            correlation, end = self.call("cudaLaunchKernelExC", LAUNCH_CALL_NS)
            size = count * FLOAT
            ns = ALL_REDUCE_FLOOR_NS + round(2 * (RANKS - 1) / RANKS * size / BUS_BYTES_PER_S * 1e9)
            self.gpu(
                "kernel",
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                COLLECTIVE_STREAM,
                max(end, ready + KERNEL_GAP_NS),
                ns,
                correlation,
                {
                    "queued": 0,
                    "registers per thread": 96,
                    "shared memory": 82240,
                    "grid": dims3(24),
                    "block": dims3(544),
                    "Collective name": "allreduce",
                    "In msg nelems": count,
                    "Out msg nelems": count,
                    "Group size": RANKS,
                    "dtype": "Float",
                    "Process Group Name": "0",
                    "Process Group Description": "default_pg",
                    "Process Group Ranks": str(list(range(RANKS))),
                },
            )
            self.event(
                "user_annotation",
                "nccl:all_reduce",
                CPU,
                self.thread,
                begin,
                self.cpu_ns - begin,
                {},
            )

        self.operator("c10d::allreduce_", [[count]], body)


# --- one training step ---------------------------------------------------------------------------
def batch_norm(r, shape):
    tensor = elements(shape) * FLOAT
    channels = [shape[1]]
    stats = "void at::native::batch_norm_collect_statistics_channels_last_kernel<float, 4>"
    norm = "void at::native::batch_norm_transform_input_channels_last_kernel<float, 4>"
    r.run("aten::batch_norm_stats", [shape], streaming(stats, shape, tensor, 56, 16384))
    dims = [shape, channels, channels, channels, channels]
    r.run("aten::batch_norm_elemt", dims, streaming(norm, shape, 2 * tensor))


def convolve(r, conv):
    dims = [conv.x, conv.weight]
    r.run("aten::cudnn_convolution", dims, convolution(conv, "fprop"))
    batch_norm(r, conv.y)


RELU = "at::native::clamp_min_scalar_functor<float>"
ADD = "at::native::CUDAFunctor_add<float>"
THRESHOLD = "at::native::threshold_backward_functor<float>"


def forward(r, stem, blocks):
    convolve(r, stem)
    r.run("aten::relu_", [stem.y], elementwise(RELU, stem.y, 1))
    pooled = [BATCH, 64, 56, 56]
    moved = (elements(stem.y) + 3 * elements(pooled)) * FLOAT  # values, and where they came from
    pool = "void at::native::max_pool_forward_nhwc<float, int>"
    r.run("aten::max_pool2d_with_indices", [stem.y], streaming(pool, stem.y, moved))
    for block in blocks:
        for i, conv in enumerate(block.path):
            convolve(r, conv)
            if i < 2:
                r.run("aten::relu_", [conv.y], elementwise(RELU, conv.y, 1))
        if block.projection:
            convolve(r, block.projection)
        y = block.path[-1].y
        r.run("aten::add_", [y, y, []], elementwise(ADD, y, 2))
        r.run("aten::relu_", [y], elementwise(RELU, y, 1))
    last = [BATCH, 2048, 7, 7]
    mean = "void at::native::reduce_kernel<512, 1, at::native::MeanOps<float, float>>"
    r.run("aten::mean", [last], streaming(mean, last, elements(last) * FLOAT))
    r.run("aten::addmm", [[1000], [BATCH, 2048], [2048, 1000]], classifier())
    scores = [BATCH, 1000]
    softmax = "void cunn_SoftMaxForward<4, float, float, float, LogSoftMaxForwardEpilogue>"
    r.run("aten::_log_softmax", [scores], streaming(softmax, scores, 2 * elements(scores) * FLOAT))
    loss = "void at::native::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>"
    r.run("aten::nll_loss_forward", [scores, [BATCH]], streaming(loss, [BATCH], BATCH * 12))


def classifier():
    name = "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x{columns}x16_stage4"
    moved = (BATCH * 2048 + 2048 * 1000 + BATCH * 1000) * FLOAT
    return gemm(name, BATCH, 1000, 2048, moved)


class Buckets:
    """DDP's buckets in the order in which gradients become ready: a bucket closes with the
    parameter that takes it to its limit. Each gradient is scaled into its bucket."""

    def __init__(self, r):
        self.r, self.count, self.limit, self.parameters, self.sent = r, 0, FIRST_BUCKET, 0, []

    def ready(self, shape):
        n = elements(shape)
        functor = "at::native::AUnaryFunctor<float, float, float, at::native::MulFunctor<float>>"
        self.r.run("aten::mul", [shape, []], elementwise(functor, shape, 1))
        self.parameters += n
        self.count += n
        if self.count * FLOAT >= self.limit:
            self.flush()

    def flush(self):
        if self.count:
            self.r.all_reduce(self.count)
            self.sent.append(self.count)
        self.count, self.limit = 0, BUCKET


def node(r, name, body):
    r.operator(f"autograd::engine::evaluate_function: {name}", None, body)


def backward_convolve(r, conv, buckets, input_needed=True):
    y, x = conv.y, conv.x
    tensor = elements(y) * FLOAT
    channels = [y[1]]

    def norm():
        reduce = "void at::native::batch_norm_backward_reduce_channels_last_kernel<4, float>"
        elemt = "void at::native::batch_norm_backward_elemt_channels_last_kernel<4, float>"
        dims = [y, y, channels, channels]
        r.run("aten::batch_norm_backward_reduce", dims, streaming(reduce, y, 2 * tensor, 64, 16384))
        r.run("aten::batch_norm_backward_elemt", dims, streaming(elemt, y, 3 * tensor))

    def gradients():
        kernels = [convolution(conv, "dgrad")] if input_needed else []
        kernels.append(convolution(conv, "wgrad"))
        r.run("aten::convolution_backward", [y, x, conv.weight], *kernels)

    node(r, "NativeBatchNormBackward0", norm)
    buckets.ready(channels)
    buckets.ready(channels)
    node(r, "ConvolutionBackward0", gradients)
    buckets.ready(conv.weight)


def backward_relu(r, shape):
    node(
        r,
        "ReluBackward0",
        lambda: r.run(
            "aten::threshold_backward", [shape, shape, []], elementwise(THRESHOLD, shape, 2)
        ),
    )


def backward(r, stem, blocks):
    buckets = Buckets(r)
    scores = [BATCH, 1000]
    size = elements(scores) * FLOAT
    loss = "void at::native::nll_loss_backward_reduce_cuda_kernel_2d<float, long>"
    softmax = "void cunn_SoftMaxBackward<4, float, float, float, LogSoftMaxBackwardEpilogue>"
    r.run("aten::nll_loss_backward", [scores, [BATCH]], streaming(loss, scores, size))
    kernel = streaming(softmax, scores, 3 * size)
    r.run("aten::_log_softmax_backward_data", [scores, scores], kernel)
    column_sum = "void at::native::reduce_kernel<128, 4, at::native::sum_functor<float>>"
    r.run("aten::sum", [scores], streaming(column_sum, scores, size))
    buckets.ready([1000])
    r.run("aten::mm", [[BATCH, 1000], [1000, 2048]], classifier())
    r.run("aten::mm", [[1000, BATCH], [BATCH, 2048]], classifier())
    buckets.ready([1000, 2048])
    last = [BATCH, 2048, 7, 7]
    expand = "at::native::BUnaryFunctor<float, float, float, at::native::DivFunctor<float>>"
    r.run("aten::div", [last, []], elementwise(expand, last, 0))
    for block in reversed(blocks):
        backward_relu(r, block.path[-1].y)
        if block.projection:
            backward_convolve(r, block.projection, buckets)
        for conv in reversed(block.path):
            if conv is not block.path[-1]:
                backward_relu(r, conv.y)
            backward_convolve(r, conv, buckets)
        x = block.path[0].x
        r.run("aten::add_", [x, x, []], elementwise(ADD, x, 2))  # the shortcut's gradient
    pooled = [BATCH, 64, 56, 56]
    moved = (elements(stem.y) + 2 * elements(pooled)) * FLOAT
    pool = "void at::native::max_pool_backward_nhwc<float, float>"
    kernel = streaming(pool, stem.y, moved)
    r.run("aten::max_pool2d_with_indices_backward", [pooled, stem.y], kernel)
    backward_relu(r, stem.y)
    backward_convolve(r, stem, buckets, input_needed=False)
    buckets.flush()
    assert buckets.parameters == PARAMETERS, buckets.parameters
    # The compute stream waits for every bucket.
    for _ in buckets.sent:
        r.call("cudaStreamWaitEvent", 1000)
    r.ready_ns = r.free_ns[COLLECTIVE_STREAM] + KERNEL_GAP_NS
    return buckets.sent


def optimizer(r):
    """SGD with weight decay and momentum over lists of tensors: 65,536 elements a block, at most
    320 blocks a launch (aten/src/ATen/native/cuda/MultiTensorApply.cuh)."""
    steps = [("_foreach_add", 3), ("_foreach_mul_", 2), ("_foreach_add_", 3), ("_foreach_add_", 3)]
    for name, passes in steps:
        left = PARAMETERS
        kernels = []
        while left > 0:
            part = min(left, 320 * 65536)
            left -= part
            kernel_name = "void at::native::multi_tensor_apply_kernel<TensorListMetadata, Functor>"
            ns = whole_ns(memory_ns(part * FLOAT * passes))
            kernels.append(Kernel(kernel_name, dims3(-(-part // 65536)), dims3(512), 48, 0, ns))
        r.run(f"aten::{name}", [[PARAMETERS]] * (passes - 1), *kernels)


def step(r, number, stem, blocks):
    begin = r.cpu_ns
    images = [BATCH, 3, 224, 224]
    r.operator("aten::copy_", [images, images], lambda: r.copy("HtoD", elements(images) * FLOAT))
    mark = r.cpu_ns
    forward(r, stem, blocks)
    r.annotation("## forward ##", mark)
    mark = r.cpu_ns
    r.thread = AUTOGRAD_THREAD
    sent = backward(r, stem, blocks)
    r.thread = MAIN_THREAD
    r.annotation("## backward ##", mark)
    mark = r.cpu_ns
    optimizer(r)
    r.annotation("Optimizer.step#SGD.step", mark)
    r.ready_ns = 0

    def read_loss():
        done = r.copy("DtoH", FLOAT)
        r.call("cudaStreamSynchronize", max(1000, done + 2000 - r.cpu_ns))

    r.operator("aten::_local_scalar_dense", [[]], read_loss)
    r.annotation(f"ProfilerStep#{number}", begin)
    return sent


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
        # No name and no time in the header: the same bytes every time.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            packed.write(text)


if __name__ == "__main__":
    main()
