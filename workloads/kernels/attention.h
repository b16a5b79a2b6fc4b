// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/gpu_rates.h"
#include "workloads/kernels/kernel_estimate.h"

#include <cstdint>

namespace switchfold {

/// Attention in one fused kernel that never writes the scores (FlashAttention). Every head has a
/// query of its own; `kv_heads` of keys and values serve `heads / kv_heads` of them each.
struct Attention {
    std::uint64_t batch = 1;
    std::uint64_t queries = 1;  ///< tokens of a sample
    std::uint64_t keys = 1;     ///< tokens that each may look at; as queries in self-attention
    std::uint64_t heads = 1;
    std::uint64_t kv_heads = 1;
    std::uint64_t head_width = 128;
    bool causal = true;
    bool backward = false;  ///< gradients of all three; the scores are computed again
    Datatype datatype = Datatype::kBfloat16;

    bool operator==(const Attention&) const = default;
};

/// Time and shape of the kernel, alone on the GPU. Throws std::invalid_argument for a size of 0 and
/// heads that kv_heads do not divide.
[[nodiscard]] KernelEstimate estimate(const Attention& attention, const GpuRates& gpu);

}  // namespace switchfold
