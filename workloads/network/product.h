// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/network/layer.h"

#include <cstdint>
#include <optional>

namespace switchfold {

/// A layer's forward product: `count` times rows x depth by depth x columns, for one sample. A
/// batch multiplies the rows. The gradient of the input is rows x columns by columns x depth, that
/// of the weights depth x rows by rows x columns.
struct MatrixShape {
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;
    std::uint64_t depth = 0;
    /// Groups of a convolution and experts run beside each other. An lstm's time steps run one
    /// after the other, because each reads the step before.
    std::uint64_t count = 1;
    bool operator==(const MatrixShape&) const = default;
};

/// Of conv (as an implicit product: a row a pixel of the output, a column a channel), linear and
/// lstm (all four gates). The output's shape says it; without one, the parameters do: a column has
/// `depth` weights and at most two biases. Empty for other layers, and where the numbers leave it
/// open.
[[nodiscard]] std::optional<MatrixShape> product_of(const Layer& layer);

/// Whether such a layer adds a bias to each column, by its parameters.
[[nodiscard]] bool has_bias(const Layer& layer);

/// An attention's scores and their product with the values, for one sample.
struct AttentionShape {
    std::uint64_t queries = 0;
    std::uint64_t keys = 0;
    std::uint64_t heads = 0;
    std::uint64_t head_width = 0;
    bool causal = false;  ///< a query sees the keys up to its own: half of the work
    bool operator==(const AttentionShape&) const = default;
};

/// Of an attention whose shape and heads are known. It is taken to be causal where its work is that
/// of half of the scores among its own tokens.
[[nodiscard]] std::optional<AttentionShape> attention_of(const Layer& layer);

}  // namespace switchfold
