// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/gpu_rates.h"

#include <cstdint>

namespace switchfold {

/// How products of linear layers round their operands to 8 bits (Transformer Engine's recipes;
/// DeepSeek-V3, arXiv 2412.19437, for blocks of 128), or to 4 (arXiv 2509.25149).
enum class ProductRecipe : std::uint8_t {
    kNone,       ///< operands have the type of activations
    kDelayed,    ///< a scale a tensor, from the largest values of earlier steps
    kCurrent,    ///< a scale a tensor, from its own largest value, which a kernel finds first
    kMicro,      ///< a scale of 8 bits for 32 elements in the direction of the sum (MXFP8)
    kBlockwise,  ///< a scale of 32 bits for 128 elements, and for 128 x 128 weights
    kFourBits,   ///< 4 bits, a scale of 8 bits for 16 elements and one a tensor (NVFP4)
};

/// Bits of a rounded element without its scale.
[[nodiscard]] constexpr int rounded_bits(ProductRecipe recipe) {
    return recipe == ProductRecipe::kFourBits ? 4 : 8;
}

/// Whether a kernel reads a tensor for its largest value before another rounds it.
[[nodiscard]] constexpr bool finds_largest_first(ProductRecipe recipe) {
    return recipe == ProductRecipe::kCurrent || recipe == ProductRecipe::kFourBits;
}

/// Bytes of a rounded element: its own and its part of a scale.
[[nodiscard]] constexpr double rounded_bytes(ProductRecipe recipe) {
    constexpr double kMicroBlock = 32;
    constexpr double kBlock = 128;
    constexpr double kScale = 4;
    constexpr double kFourBitsBlock = 16;
    switch (recipe) {
    case ProductRecipe::kMicro:
        return 1 + 1 / kMicroBlock;
    case ProductRecipe::kBlockwise:
        return 1 + kScale / kBlock;
    case ProductRecipe::kFourBits:
        return 0.5 + 1 / kFourBitsBlock;
    default:
        return 1;
    }
}

/// Whether an element's scale depends on the direction in which it is summed.
[[nodiscard]] constexpr bool scales_follow_sums(ProductRecipe recipe) {
    return recipe == ProductRecipe::kMicro || recipe == ProductRecipe::kBlockwise ||
           recipe == ProductRecipe::kFourBits;
}

/// Copies of a rounded tensor that two products read in different directions. Scales of blocks
/// follow the direction of the sum, so each direction has numbers of its own. With a scale a tensor
/// the second copy is the first one transposed, which matrix units before Blackwell's need: they
/// multiply 8-bit operands in one order alone.
[[nodiscard]] constexpr std::uint32_t copies_of(ProductRecipe recipe, MatrixKernels kernels) {
    const bool by_tensor = recipe == ProductRecipe::kDelayed || recipe == ProductRecipe::kCurrent;
    return by_tensor && kernels == MatrixKernels::kTensorMemory ? 1 : 2;
}

}  // namespace switchfold
