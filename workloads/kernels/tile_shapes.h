// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/gpu_rates.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// One kernel of the library: the tile of the result that a thread block computes at a time.
struct TileShape {
    std::uint32_t rows = 128;
    std::uint32_t columns = 128;
    std::uint32_t stages = 2;  ///< steps along k held in shared memory
    std::uint32_t blocks = 1;  ///< resident per SM
    std::uint32_t threads = 128;
    std::uint32_t registers = 255;    ///< per thread
    std::uint64_t shared_memory = 0;  ///< bytes per block
    bool persistent = false;          ///< blocks process one tile after another

    bool operator==(const TileShape&) const = default;
};

/// Bytes of one operand row in one step along k.
inline constexpr std::uint32_t kStepBytes = 128;

/// The library's tiles that fit the GPU, in a fixed order. `vector_units`: for products without a
/// matrix unit.
[[nodiscard]] std::vector<TileShape> tile_shapes(const GpuRates& gpu, bool vector_units);

/// Whether blocks process one tile after another.
[[nodiscard]] constexpr bool persistent(MatrixKernels kernels) {
    return kernels == MatrixKernels::kWarpgroup || kernels == MatrixKernels::kTensorMemory;
}

}  // namespace switchfold
