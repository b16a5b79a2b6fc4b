// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/gpu_rates.h"
#include "workloads/kernels/kernel_estimate.h"

#include <cstdint>

namespace switchfold {

/// `count` independent products of an m x k and a k x n matrix in one launch. Sums are 32 bits.
struct MatrixProduct {
    std::uint64_t m = 1;
    std::uint64_t n = 1;
    std::uint64_t k = 1;
    std::uint64_t count = 1;
    Datatype datatype = Datatype::kBfloat16;
    /// 32-bit products may use matrix units that round their operands (TF32).
    bool tf32 = false;

    bool operator==(const MatrixProduct&) const = default;
};

/// Time and shape of a library's product, alone on the GPU. Throws std::invalid_argument for a side
/// of 0 and for types that no product is made of.
[[nodiscard]] KernelEstimate estimate(const MatrixProduct& product, const GpuRates& gpu);

}  // namespace switchfold
