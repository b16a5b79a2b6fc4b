// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/gpu_rates.h"
#include "workloads/kernels/kernel_estimate.h"

#include <cstdint>

namespace switchfold {

/// Attention in one fused kernel that never writes the scores to memory (FlashAttention). Each of
/// the `kv_heads` heads of keys and values serves `heads / kv_heads` query heads.
struct Attention {
    std::uint64_t batch = 1;
    std::uint64_t queries = 1;  ///< tokens per sample
    std::uint64_t keys =
        1;  ///< tokens that each query may attend to; equal to `queries` in self-attention
    std::uint64_t heads = 1;
    std::uint64_t kv_heads = 1;
    std::uint64_t head_width = 128;
    bool causal = true;
    bool backward = false;  ///< gradients of all three; recomputes the scores
    /// Written for the GPU's own generation; otherwise FlashAttention-2, whose matrix instructions
    /// Hopper and Blackwell run at a part of their rate.
    bool newest = true;
    Datatype datatype = Datatype::kBfloat16;

    bool operator==(const Attention&) const = default;
};

/// Time and launch shape of the kernel, alone on the GPU. Throws std::invalid_argument for a size
/// of 0 and if kv_heads does not divide heads.
[[nodiscard]] KernelEstimate estimate(const Attention& attention, const GpuRates& gpu);

}  // namespace switchfold
