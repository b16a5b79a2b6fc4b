// SPDX-License-Identifier: Apache-2.0
#include "training/placement/layer_chunks.h"

#include "training/network/product.h"

#include <algorithm>
#include <string_view>

namespace switchfold {

namespace {

bool has_steps(const Network& network, std::uint32_t layer) {
    const Layer& l = network.layers[layer];
    return network.tokens > 1 && l.out_shape.size() == 2 && l.out_shape.front() == network.tokens;
}

/// Whether an output token depends on the same token of the inputs only.
bool is_token_by_token(const Layer& layer) {
    const std::string_view type = layer.type;
    const auto any = [&](auto... names) { return ((type == names) || ...); };
    if (type == "linear")
        return layer.inputs.size() == 1;
    return any(
        "add", "dropout", "gelu", "layernorm", "mul", "relu", "rmsnorm", "sigmoid", "silu",
        "softmax_loss", "squared_relu", "tanh");
}

}  // namespace

bool is_lstm_of_steps(const Network& network, std::uint32_t layer) {
    const Layer& l = network.layers[layer];
    return l.type == "lstm" && !l.forward_us && has_steps(network, layer) && product_of(l);
}

LayerChunks::LayerChunks(const Network& network, std::uint32_t chunk_steps) :
    by_steps_(network.layers.size(), false) {
    for (std::uint32_t i = 0; i < network.layers.size(); ++i) {
        const Layer& layer = network.layers[i];
        const bool behind =
            std::any_of(layer.inputs.begin(), layer.inputs.end(), [&](std::uint32_t input) {
                return by_steps_[input];
            });
        by_steps_[i] = is_lstm_of_steps(network, i) ||
                       (behind && is_token_by_token(layer) && has_steps(network, i));
    }
    steps_ =
        chunk_steps == 0 ? network.tokens : std::min<std::uint64_t>(chunk_steps, network.tokens);
    if (steps_ > 0)
        count_ = static_cast<std::uint32_t>((network.tokens - 1) / steps_ + 1);
    steps_of_last_ = network.tokens - (count_ - 1) * steps_;
}

Network LayerChunks::of_steps(const Network& network, std::uint64_t steps) const {
    Network piece = network;
    for (std::uint32_t i = 0; i < piece.layers.size(); ++i) {
        if (!by_steps_[i])
            continue;
        Layer& layer = piece.layers[i];
        const auto share = [&](std::uint64_t value) { return value / network.tokens * steps; };
        layer.macs = share(layer.macs);
        layer.out_elements = share(layer.out_elements);
        layer.in_elements = share(layer.in_elements);
        layer.out_shape.front() = steps;
    }
    return piece;
}

}  // namespace switchfold
