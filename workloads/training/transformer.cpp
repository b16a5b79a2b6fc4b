// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/transformer.h"

#include <fmt/format.h>

namespace switchfold {

std::vector<Layer> transformer_layers(const TransformerShape& shape) {
    const std::uint64_t hidden = shape.hidden;
    const std::uint64_t inner = shape.feed_forward == 0 ? 4 * hidden : shape.feed_forward;
    const std::uint64_t tokens = shape.sequence;
    std::vector<Layer> layers;
    const auto linear = [&](std::string name, std::uint64_t in, std::uint64_t out) {
        layers.push_back(
            {std::move(name), "linear", in * out + out, tokens * in * out, tokens * out});
    };
    const auto plain =
        [&](std::string name, const char* type, std::uint64_t parameters, std::uint64_t width) {
            layers.push_back({std::move(name), type, parameters, 0, tokens * width});
        };
    plain("embedding", "embedding", hidden * (shape.vocabulary + tokens), hidden);
    for (std::uint32_t b = 0; b < shape.blocks; ++b) {
        const auto name = [&](const char* what) { return fmt::format("block {} {}", b, what); };
        plain(name("norm 1"), "layernorm", 2 * hidden, hidden);
        linear(name("query, key, value"), hidden, 3 * hidden);
        // Scores and their products with the values, half of each below the diagonal.
        layers.push_back(
            {name("attention"), "attention", 0, tokens * tokens * hidden, tokens * hidden});
        linear(name("projection"), hidden, hidden);
        plain(name("norm 2"), "layernorm", 2 * hidden, hidden);
        linear(name("feed forward in"), hidden, inner);
        plain(name("activation"), "activation", 0, inner);
        linear(name("feed forward out"), inner, hidden);
    }
    plain("norm", "layernorm", 2 * hidden, hidden);
    layers.push_back(
        {"head",
         "linear",
         0,
         tokens * hidden * shape.vocabulary,
         tokens * std::uint64_t{shape.vocabulary}});
    return layers;
}

}  // namespace switchfold
