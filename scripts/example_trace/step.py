# SPDX-License-Identifier: Apache-2.0
"""One data-parallel training step: forward, backward with gradient buckets, SGD with momentum."""
from .kernels import Kernel, convolution, dims3, elementwise, gemm, memory_ns, streaming, whole_ns
from .network import BATCH, FLOAT, PARAMETERS, elements
from .recorder import AUTOGRAD_THREAD, COLLECTIVE_STREAM, KERNEL_GAP_NS, MAIN_THREAD

FIRST_BUCKET, BUCKET = 1 << 20, 25 << 20  # torch/nn/parallel/distributed.py, reducer.hpp
RELU = "at::native::clamp_min_scalar_functor<float>"
ADD = "at::native::CUDAFunctor_add<float>"
THRESHOLD = "at::native::threshold_backward_functor<float>"


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


def forward(r, stem, blocks):
    convolve(r, stem)
    r.run("aten::relu_", [stem.y], elementwise(RELU, stem.y, 1))
    pooled = [BATCH, 64, 56, 56]
    moved = (elements(stem.y) + 3 * elements(pooled)) * FLOAT  # values and indices of the maxima
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
    """DDP's buckets in the order in which gradients become ready. The parameter that reaches a
    bucket's limit closes it. Each gradient is scaled as it is copied into its bucket."""

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
        r.run("aten::add_", [x, x, []], elementwise(ADD, x, 2))  # adds the gradient of the shortcut
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
    """SGD with weight decay and momentum over lists of tensors: 65,536 elements per block, at most
    320 blocks per launch (aten/src/ATen/native/cuda/MultiTensorApply.cuh)."""
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
