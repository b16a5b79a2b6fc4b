// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/layer.h"

#include <cstdint>
#include <optional>

namespace switchfold {

/// A layer's forward product for one sample: `count` products of rows x depth by depth x columns. A
/// batch multiplies the rows. The input gradient is rows x columns by columns x depth, the weight
/// gradient depth x rows by rows x columns.
struct MatrixShape {
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;
    std::uint64_t depth = 0;
    /// Groups of a convolution and experts are independent. An lstm's time steps are sequential,
    /// because each reads the previous one.
    std::uint64_t count = 1;
    bool operator==(const MatrixShape&) const = default;
};

/// Product of a conv (as an implicit product: one row per output pixel, one column per channel),
/// linear or lstm layer (all four gates). The number of columns follows from the output's shape or,
/// without one, from the parameters: a column has `depth` weights and at most two biases. Empty for
/// other layers, and if the numbers are ambiguous.
[[nodiscard]] std::optional<MatrixShape> product_of(const Layer& layer);

/// Input channels of a conv with windows of 3 x 3 and stride 1, as its depth and its input's size
/// tell; in one group, with known shape. Empty for other layers.
[[nodiscard]] std::optional<std::uint64_t> channels_of_small_windows(const Layer& layer);

/// Whether such a layer has a bias per column, judged by its parameters.
[[nodiscard]] bool has_bias(const Layer& layer);

/// An attention's scores and their product with the values, for one sample.
struct AttentionShape {
    std::uint64_t queries = 0;
    std::uint64_t keys = 0;
    std::uint64_t heads = 0;
    std::uint64_t head_width = 0;  ///< of values and the result
    bool causal = false;  ///< a query attends to keys up to its own position: half of the work
    std::uint64_t kv_heads = 0;
    std::uint64_t score_width = 0;  ///< of a head's queries and keys
    std::uint64_t window = 0;       ///< keys that a query sees at most; 0: no window
    bool operator==(const AttentionShape&) const = default;
};

/// Shape of an attention with known shape and heads. Self-attention with half of the full work is
/// assumed to be causal.
[[nodiscard]] std::optional<AttentionShape> attention_of(const Layer& layer);

/// Scores of a sample.
[[nodiscard]] constexpr std::uint64_t scores_of(const AttentionShape& attention) {
    return attention.heads * attention.queries * attention.keys;
}

}  // namespace switchfold
