// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/gpu_rates.h"
#include "workloads/kernels/kernel_estimate.h"

#include <cstdint>
#include <limits>

namespace switchfold {

/// Bytes that a thread copies at once, if rows allow it.
inline constexpr std::uint32_t kWholePiece = 16;

/// `count` independent products of an m x k and a k x n matrix in one launch, accumulated in 32
/// bits. Results have the operands' type, or 16 bits for 8-bit operands.
struct MatrixProduct {
    std::uint64_t m = 1;
    std::uint64_t n = 1;
    std::uint64_t k = 1;
    std::uint64_t count = 1;
    Datatype datatype = Datatype::kBfloat16;
    /// Allows 32-bit products to use matrix units that round their operands (TF32).
    bool tf32 = false;
    /// Bytes touched by other kernels since the left and the right operand were last used. An
    /// operand is in the L2 as long as these and the product's own bytes fit. Activations were just
    /// written; weights are a step old.
    double since_left = 0;
    double since_right = std::numeric_limits<double>::infinity();

    /// Bytes at whose multiples the rows of an operand begin in memory. Below 16, kernels copy the
    /// operand in pieces of as many bytes.
    std::uint32_t left_alignment = kWholePiece;
    std::uint32_t right_alignment = kWholePiece;

    /// Bytes per element of existing sums to which the result is added (read and written), as for
    /// gradients of micro-batches. 0: the result is stored.
    std::uint32_t summed_bytes = 0;

    /// Operands of 8 bits are of 4 instead, with a scale of 8 bits for 16 (NVFP4).
    bool four_bits = false;

    bool operator==(const MatrixProduct&) const = default;
};

/// Time and launch shape of a library's product, alone on the GPU: the fastest combination of tile
/// and split. Throws std::invalid_argument for a dimension of 0 and for types other than float32,
/// float16, bfloat16 and float8, and for 4 bits on a GPU that has no rate for them.
[[nodiscard]] KernelEstimate estimate(const MatrixProduct& product, const GpuRates& gpu);

/// FLOP/s that long products of a type reach; 0 if the GPU has no unit for it. Without matrix
/// units, 16- and 8-bit products run on the vector units.
[[nodiscard]] double
sustained_rate(const GpuRates& gpu, Datatype datatype, bool tf32, bool four_bits = false);

}  // namespace switchfold
