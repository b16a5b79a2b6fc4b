// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace switchfold {

/// How the library's kernels feed a GPU's matrix units. It decides which tiles there are, and what
/// of a tile's beginning and end the next one hides.
enum class MatrixKernels : std::uint8_t {
    kVector,        ///< no matrix units: products run on the vector units
    kRegisters,     ///< operands pass through registers (V100, RTX 20, MI300X)
    kAsyncCopy,     ///< copies into shared memory run beside the arithmetic (A100, RTX 30 to 50)
    kWarpgroup,     ///< persistent blocks, copies by the tensor memory engine (H100 and its kin)
    kTensorMemory,  ///< the same, and sums in a memory of their own (B200 and its kin)
};

/// What a GPU gives to a kernel that has it alone, in plain numbers: the parameters that kernel
/// times are computed from. `gpu_rates()` in sim/run fills it from a GPU's description. Rates are
/// of the whole GPU, a second; times are seconds.
struct GpuRates {
    std::string name;
    std::uint32_t sms = 108;

    // One SM.
    std::uint32_t threads = 2048;
    std::uint32_t blocks = 32;
    std::uint32_t registers = 65'536;
    std::uint64_t shared_memory = 164 * 1024;           ///< bytes
    std::uint64_t shared_memory_of_a_block = 1 * 1024;  ///< that the system keeps for each

    // Arithmetic, dense, of the data sheet: floating-point operations. 0: no such unit.
    double vector = 0;  ///< 32 bits, vector units
    double half = 0;    ///< 16 bits, matrix units
    double float8 = 0;  ///< 8 bits, matrix units
    double tf32 = 0;    ///< 32 bits rounded, matrix units
    /// What long products reach at the power limit: in 16 bits, or in 32 where there are no matrix
    /// units.
    double matrix = 0;
    MatrixKernels kernels = MatrixKernels::kVector;

    // Memory: bytes.
    double read_bandwidth = 0;   ///< that streaming reads reach
    double mixed_bandwidth = 0;  ///< ... and streams that write as much as they read
    double l2_bandwidth = 0;
    std::uint64_t l2_capacity = 0;
    double memory_latency = 0;  ///< of an access that misses the L2

    double launch = 0;  ///< from the end of one kernel to the first block of the next
};

}  // namespace switchfold
