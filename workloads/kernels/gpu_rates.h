// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace switchfold {

/// How the library's kernels feed a GPU's matrix units. This determines the available tiles, and
/// how much of a tile's prologue and epilogue the next tile hides.
enum class MatrixKernels : std::uint8_t {
    kVector,     ///< no matrix units: products use the vector units
    kRegisters,  ///< operands pass through registers (V100, RTX 20, MI300X)
    kAsyncCopy,  ///< asynchronous copies into shared memory overlap arithmetic (A100, RTX 30 to 50)
    kWarpgroup,  ///< persistent blocks; copies by the tensor memory accelerator (H100 and
                 ///< relatives)
    kTensorMemory,  ///< the same, with accumulators in tensor memory (B200 and relatives)
};

/// Resources of a GPU for a kernel that runs alone, as plain numbers: the inputs of kernel-time
/// models. `gpu_rates()` in sim derives them from a GPU's description. Rates are for the whole
/// GPU, per second; times are in seconds.
struct GpuRates {
    std::string name;
    std::uint32_t sms = 108;

    // Per SM.
    std::uint32_t threads = 2048;
    std::uint32_t blocks = 32;
    std::uint32_t registers = 65'536;
    std::uint64_t shared_memory = 164 * 1024;           ///< bytes
    std::uint64_t shared_memory_of_a_block = 1 * 1024;  ///< reserved by the system per block

    // Dense arithmetic according to the data sheet, FLOP/s. 0: no such unit.
    double vector = 0;  ///< 32 bits, vector units
    /// 32-bit integer instructions of a lane per second: index arithmetic, conversions, masks.
    double integer = 0;
    double half = 0;    ///< 16 bits, matrix units
    double float8 = 0;  ///< 8 bits, matrix units
    double float4 = 0;  ///< 4 bits with a scale for 16, matrix units
    double tf32 = 0;    ///< TF32, matrix units
    /// Sustained by long products at the power limit: in 16 bits, or in 32 bits without matrix
    /// units.
    double matrix = 0;
    MatrixKernels kernels = MatrixKernels::kVector;
    bool winograd = true;  ///< the library convolves with Winograd's algorithm

    // Memory, bytes per second.
    double read_bandwidth = 0;   ///< achieved by streaming reads
    double mixed_bandwidth = 0;  ///< achieved by streams that write as much as they read
    double l2_bandwidth = 0;
    double l2_of_sm = 0;  ///< that a single SM draws of it at most; 0: an equal part
    std::uint64_t l2_capacity = 0;
    double memory_latency = 0;   ///< of an access that misses the L2
    double draw_per_thread = 0;  ///< of a resident thread with loads of its own; 0: no limit

    double launch = 0;    ///< from the end of one kernel to the first block of the next
    double overhead = 0;  ///< part of a measured duration in which no block runs

    /// The power limit has taken effect before the kernel begins, as in a running step. Kernels
    /// that are measured alone begin before it.
    bool loaded = false;

    bool operator==(const GpuRates&) const = default;
};

}  // namespace switchfold
