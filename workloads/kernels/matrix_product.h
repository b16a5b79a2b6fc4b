// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/gpu_rates.h"
#include "workloads/kernels/kernel_estimate.h"

#include <cstdint>
#include <limits>

namespace switchfold {

/// `count` independent products of an m x k and a k x n matrix in one launch, summed in 32 bits.
/// Results have the operands' type, 16 bits where those have 8.
struct MatrixProduct {
    std::uint64_t m = 1;
    std::uint64_t n = 1;
    std::uint64_t k = 1;
    std::uint64_t count = 1;
    Datatype datatype = Datatype::kBfloat16;
    /// 32-bit products may use matrix units that round their operands (TF32).
    bool tf32 = false;
    /// Bytes that other kernels have touched since they touched the left and the right operand: as
    /// long as they and the product's own fit the L2, the operand is in there. Activations were
    /// just written; weights are as old as a step.
    double since_left = 0;
    double since_right = std::numeric_limits<double>::infinity();

    /// The result is added to sums that lie there, so many bytes an element: read and written, as
    /// gradients of micro-batches are summed up. 0: it is stored as it is.
    std::uint32_t summed_bytes = 0;

    bool operator==(const MatrixProduct&) const = default;
};

/// Time and shape of a library's product, alone on the GPU: the fastest of its tiles and splits of
/// the sum. Throws std::invalid_argument for a side of 0 and for types that no product is made of
/// (those but float32, float16, bfloat16 and float8).
[[nodiscard]] KernelEstimate estimate(const MatrixProduct& product, const GpuRates& gpu);

/// Floating-point operations a second that long products of a type reach: 0 where the GPU has no
/// unit for it. 16 and 8 bits run on the vector units where there are no matrix units.
[[nodiscard]] double sustained_rate(const GpuRates& gpu, Datatype datatype, bool tf32);

}  // namespace switchfold
