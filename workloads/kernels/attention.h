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
    std::uint64_t head_width = 128;  ///< of queries and keys
    std::uint64_t value_width = 0;   ///< of values and the result; 0: head_width
    std::uint64_t window = 0;        ///< causal: keys that a query sees at most; 0: all before it
    bool causal = true;
    bool backward = false;  ///< gradients of all three; recomputes the scores
    /// Written for the GPU's own generation; otherwise FlashAttention-2, whose matrix instructions
    /// Hopper and Blackwell run at a part of their rate.
    bool newest = true;
    Datatype datatype = Datatype::kBfloat16;

    bool operator==(const Attention&) const = default;
};

[[nodiscard]] constexpr std::uint64_t value_width_of(const Attention& attention) {
    return attention.value_width == 0 ? attention.head_width : attention.value_width;
}

/// Time and launch shape of the kernel, alone on the GPU. Throws std::invalid_argument for a size
/// of 0 and if kv_heads does not divide heads.
[[nodiscard]] KernelEstimate estimate(const Attention& attention, const GpuRates& gpu);

}  // namespace switchfold
