// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace switchfold {

enum class Datatype : std::uint8_t {
    kFloat32,
    kFloat16,
    kBfloat16,
    kFloat64,
    kInt8,
    kUint8,
    kInt32,
    kInt64,
    kFloat8,
};

enum class ShapeKind : std::uint8_t { kUnknown, kProduct, kAttention };

inline constexpr std::size_t kSidesOfProduct = 4;
inline constexpr std::size_t kSidesOfAttention = 6;

/// Sizes of what a kernel computes, from its operator's tensors. Kernels that one call of the
/// operator launched share them.
struct KernelShape {
    ShapeKind kind = ShapeKind::kUnknown;
    Datatype datatype = Datatype::kFloat32;
    bool tf32 = false;      ///< of a product of 32 bits: on matrix units, which round
    bool backward = false;  ///< of attention
    bool causal = false;    ///< of attention
    bool newest = false;    ///< of attention: written for its GPU's own generation
    /// Product: m, n, k, count. Attention: batch, queries, keys, heads, kv_heads, head width.
    std::array<std::uint32_t, kSidesOfAttention> sides{};
    auto operator<=>(const KernelShape&) const = default;
};

}  // namespace switchfold
