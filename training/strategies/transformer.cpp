// SPDX-License-Identifier: Apache-2.0
#include "training/strategies/transformer.h"

#include <fmt/format.h>

namespace switchfold {

std::vector<Layer> transformer_layers(const TransformerShape& shape) {
    const std::uint64_t hidden = shape.hidden;
    const std::uint64_t inner = shape.feed_forward == 0 ? 4 * hidden : shape.feed_forward;
    const std::uint64_t tokens = shape.sequence;
    std::vector<Layer> layers;
    // Each layer reads the previous one's output; `width` is that of its own output.
    const auto add = [&](Layer layer, std::uint64_t width, TensorSplit split) {
        layer.out_elements = tokens * width;
        layer.out_shape = {tokens, width};
        layer.split = split;
        layer.in_elements = layers.empty() ? tokens : layers.back().out_elements;
        if (!layers.empty())
            layer.inputs = {static_cast<std::uint32_t>(layers.size() - 1)};
        layers.push_back(std::move(layer));
    };
    const auto linear = [&](std::string name, std::uint64_t in, std::uint64_t out,
                            TensorSplit split) {
        add({std::move(name), "linear", in * out + out, tokens * in * out}, out, split);
    };
    const auto plain = [&](std::string name, const char* type, std::uint64_t parameters,
                           std::uint64_t width, TensorSplit split = TensorSplit::kNone) {
        add({std::move(name), type, parameters}, width, split);
    };
    plain(
        "embedding", "embedding", hidden * (shape.vocabulary + tokens), hidden,
        TensorSplit::kVocabulary);
    for (std::uint32_t b = 0; b < shape.blocks; ++b) {
        const std::size_t first = layers.size();
        const auto name = [&](const char* what) { return fmt::format("block {} {}", b, what); };
        plain(name("norm 1"), "layernorm", 2 * hidden, hidden);
        linear(name("query, key, value"), hidden, 3 * hidden, TensorSplit::kColumns);
        // Scores and their products with the values; of each, only the half below the diagonal.
        add({name("attention"), "attention", 0, tokens * tokens * hidden}, hidden,
            TensorSplit::kHeads);
        linear(name("projection"), hidden, hidden, TensorSplit::kRows);
        plain(name("norm 2"), "layernorm", 2 * hidden, hidden);
        linear(name("feed forward in"), hidden, inner, TensorSplit::kColumns);
        plain(name("activation"), "activation", 0, inner, TensorSplit::kHeads);
        linear(name("feed forward out"), inner, hidden, TensorSplit::kRows);
        for (std::size_t i = first; i < layers.size(); ++i)
            layers[i].block = b;
    }
    plain("norm", "layernorm", 2 * hidden, hidden);
    add({"head", "linear", 0, tokens * hidden * shape.vocabulary}, shape.vocabulary,
        TensorSplit::kVocabulary);
    layers.back().shares = 0;
    return layers;
}

}  // namespace switchfold
