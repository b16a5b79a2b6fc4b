# SPDX-License-Identifier: Apache-2.0
"""Kernel times ALONE on the GPU, from a roofline model, and the kernels' attributes in a trace."""
from .network import BATCH, FLOAT, elements

SMS = 132  # H100 SXM5 data sheet
TF32_FLOPS = 494.5e12  # dense; NVIDIA H100 data sheet
HBM_BYTES_PER_S = 3350e9  # H100 SXM5 data sheet
# Large GEMMs reach 794 of 989 TFLOP/s in bf16 on H100 (stas00/ml-engineering, compute/accelerator).
GEMM_FRACTION = 794 / 989
# STREAM triad reaches 3783 of 4000 GB/s on GH200 (RRZE-HPC/gpu-benches, gpu-stream).
# A network's kernels stay below that; the factor 0.9 is an assumption.
HBM_FRACTION = 3783 / 4000 * 0.9
KERNEL_FLOOR_NS = 2000  # time of an empty kernel; assumption


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
    """1024 elements per block: 128 threads with two vectors of four elements each."""
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
    """An implicit GEMM in tiles of 128x128 (128x64 for narrow outputs), one block per SM: 256
    threads of 200 registers, 96 KiB of shared memory. K is split if there are fewer tiles than SMs.
    """
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
        k //= conv.stride * conv.stride  # a strided layer reads only part of its inputs
    return gemm(name, m, n, k, (x + y + w) * FLOAT)
