// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// An edge of the network: the output of a layer, or an input of the network.
struct Tensor {
    std::vector<std::uint64_t> shape;
    std::optional<std::uint32_t> layer = {};  ///< its producer; empty: an input of the network
    [[nodiscard]] std::uint64_t elements() const;
    [[nodiscard]] std::uint64_t channels() const { return shape.front(); }
    [[nodiscard]] std::uint64_t width() const { return shape.back(); }
};

/// How a convolution or a pool slides over an image.
struct Window {
    std::uint64_t height = 1;
    std::uint64_t width = 1;
    std::uint64_t stride = 1;
    std::uint64_t pad_height = 0;
    std::uint64_t pad_width = 0;
    [[nodiscard]] static constexpr Window
    square(std::uint64_t side, std::uint64_t stride = 1, std::uint64_t padding = 0) {
        return {side, side, stride, padding, padding};
    }
    /// For odd sides with stride 1: the output is as large as the input.
    [[nodiscard]] static constexpr Window same(std::uint64_t height, std::uint64_t width) {
        return {height, width, 1, height / 2, width / 2};
    }
};

/// Options of a layer's weights.
struct Weights {
    bool bias = true;
    TensorSplit split = TensorSplit::kNone;
    std::optional<Tensor> shares = {};  ///< output of the layer whose matrix this one shares
};

/// Attention's heads and mask.
struct Heads {
    std::uint32_t count = 1;
    bool causal = false;
    std::uint32_t kv_count = 0;     ///< heads of keys and values; 0: as many
    std::uint64_t score_width = 0;  ///< of a head's queries and keys; 0: that of its values
    std::uint64_t window = 0;       ///< keys that a causal query sees at most; 0: all before it
    bool sinks = false;             ///< a learnt score of no key for each head
};

/// Builds a network layer by layer; parameters, multiply-accumulates and sizes follow from the
/// shapes.
class NetworkBuilder {
public:
    using Name = std::string;

    explicit NetworkBuilder(std::string name, std::uint64_t tokens = 0);

    /// Images are channels, height, width.
    Tensor conv(
        Name name, const Tensor& in, std::uint64_t channels, const Window& window, bool bias = true,
        std::uint32_t groups = 1);
    /// A transposed convolution whose windows of `side` do not overlap: side 2 doubles height and
    /// width.
    Tensor up_conv(Name name, const Tensor& in, std::uint64_t channels, std::uint64_t side);
    Tensor pool(Name name, std::string_view type, const Tensor& in, const Window& window);
    /// Averages to one pixel per channel.
    Tensor mean_of_image(Name name, const Tensor& in);
    Tensor batchnorm(Name name, const Tensor& in);

    /// Applies to the last dimension; an image is flattened to a vector.
    Tensor linear(Name name, const Tensor& in, std::uint64_t width, const Weights& weights = {});
    /// Runs over the tokens in sequence, on the concatenated inputs; `biases` per gate (cuDNN has
    /// two).
    Tensor
    lstm(Name name, const std::vector<Tensor>& in, std::uint64_t width, std::uint64_t biases = 2);
    /// Looks up one row of a table per token.
    Tensor embedding(
        Name name, const Tensor& words, std::uint64_t vocabulary, std::uint64_t width,
        const Weights& weights = {});
    Tensor layernorm(Name name, const Tensor& in);
    Tensor rmsnorm(Name name, const Tensor& in);
    /// Scores and their product with the values. `in` is one tensor with all three concatenated, or
    /// queries, keys and values.
    Tensor
    attention(Name name, const std::vector<Tensor>& in, std::uint64_t width, const Heads& heads);

    /// Element-wise with one input: relu, gelu, dropout, rotary, ...
    Tensor each(
        Name name, std::string_view type, const Tensor& in, TensorSplit split = TensorSplit::kNone);
    /// Element-wise over equally shaped tensors: add, mul.
    Tensor each_of(
        Name name, std::string_view type, const std::vector<Tensor>& in,
        TensorSplit split = TensorSplit::kNone);
    /// Concatenates along the channels.
    Tensor concat(Name name, const std::vector<Tensor>& in);
    /// As large as the first input.
    Tensor loss(
        Name name, std::string_view type, const std::vector<Tensor>& in,
        TensorSplit split = TensorSplit::kNone);

    /// Any other layer: fills in what follows from the inputs and the output's shape.
    Tensor layer(Layer layer, const std::vector<Tensor>& in, std::vector<std::uint64_t> out_shape);

    /// Assigns the following layers to the next repeated block, until another one begins or this
    /// one ends.
    void begin_block() { block_ = blocks_++; }
    void end_block() { block_ = kNoBlock; }

    /// \returns the network after checking it.
    [[nodiscard]] Network take();

private:
    Network network_;
    std::uint32_t block_ = kNoBlock;
    std::uint32_t blocks_ = 0;
};

}  // namespace switchfold
