// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/gpu_rates.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// One kernel of the library: the part of the result that a thread block makes at a time.
struct TileShape {
    std::uint32_t rows = 128;
    std::uint32_t columns = 128;
    std::uint32_t stages = 2;  ///< steps of the sum in shared memory at the same time
    std::uint32_t blocks = 1;  ///< resident on an SM
    std::uint32_t threads = 128;
    std::uint32_t registers = 255;    ///< of a thread
    std::uint64_t shared_memory = 0;  ///< bytes of a block
    bool persistent = false;          ///< blocks stay and take one tile after the other

    bool operator==(const TileShape&) const = default;
};

/// Bytes of one row of an operand in one step of the sum.
inline constexpr std::uint32_t kStepBytes = 128;

/// The library's tiles that fit the GPU, in an order of their own. `vector_units`: of products that
/// no matrix unit runs.
[[nodiscard]] std::vector<TileShape> tile_shapes(const GpuRates& gpu, bool vector_units);

/// Whether blocks stay and take one tile after the other.
[[nodiscard]] constexpr bool persistent(MatrixKernels kernels) {
    return kernels == MatrixKernels::kWarpgroup || kernels == MatrixKernels::kTensorMemory;
}

}  // namespace switchfold
