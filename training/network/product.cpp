// SPDX-License-Identifier: Apache-2.0
#include "training/network/product.h"

namespace switchfold {

namespace {

constexpr std::uint64_t kGates = 4;  // input, forget, cell, output

bool divides(std::uint64_t divisor, std::uint64_t number) {
    return divisor != 0 && number % divisor == 0;
}

/// Outputs per row: channels of a pixel, or the width of a token, times the gates.
std::uint64_t columns_by_shape(const Layer& layer) {
    const bool image = layer.type == "conv" && layer.out_shape.size() == 3;
    return image ? layer.out_shape.front() : layer.out_shape.back();
}

/// A column's parameters are its weights and 0, 1 or (cuDNN's lstm) 2 biases. Each expert has its
/// own columns.
std::uint64_t
columns_by_parameters(const Layer& layer, std::uint64_t outputs, std::uint64_t depth) {
    constexpr std::uint64_t kMostBiases = 2;
    const std::uint64_t experts = layer.type == "linear" ? layer.groups : 1;
    for (std::uint64_t biases = 0; biases <= kMostBiases; ++biases) {
        const std::uint64_t column = experts * (depth + biases);
        if (divides(column, layer.parameters) && divides(layer.parameters / column, outputs))
            return layer.parameters / column;
    }
    return 0;
}

}  // namespace

std::optional<MatrixShape> product_of(const Layer& layer) {
    const bool lstm = layer.type == "lstm";
    if (!lstm && layer.type != "conv" && layer.type != "linear")
        return std::nullopt;
    const std::uint64_t outputs = layer.out_elements * (lstm ? kGates : 1);
    if (layer.macs == 0 || layer.groups == 0 || !divides(outputs, layer.macs))
        return std::nullopt;
    const std::uint64_t depth = layer.macs / outputs;
    std::uint64_t columns = layer.out_shape.empty() ? columns_by_parameters(layer, outputs, depth)
                                                    : columns_by_shape(layer) * (lstm ? kGates : 1);
    if (!divides(columns, outputs))
        return std::nullopt;
    std::uint64_t rows = outputs / columns;
    if (lstm)
        return MatrixShape{1, columns, depth, rows};
    // Groups divide the channels of a convolution, experts the rows.
    std::uint64_t& shared = layer.type == "conv" ? columns : rows;
    if (!divides(layer.groups, shared))
        return std::nullopt;
    shared /= layer.groups;
    return MatrixShape{rows, columns, depth, layer.groups};
}

std::optional<std::uint64_t> channels_of_small_windows(const Layer& layer) {
    constexpr std::uint64_t kWindow = 9;
    const std::optional<MatrixShape> shape = product_of(layer);
    if (layer.type != "conv" || layer.out_shape.size() != 3 || layer.groups != 1 || !shape ||
        !divides(kWindow, shape->depth))
        return {};
    const std::uint64_t channels = shape->depth / kWindow;
    const std::uint64_t height = layer.out_shape[1];
    const std::uint64_t width = layer.out_shape[2];
    // The input is as large as the output, or by one larger on each side where nothing pads it.
    const bool stays = layer.in_elements == channels * height * width ||
                       layer.in_elements == channels * (height + 2) * (width + 2);
    return stays ? std::optional(channels) : std::nullopt;
}

bool has_bias(const Layer& layer) {
    const std::optional<MatrixShape> shape = product_of(layer);
    return shape && layer.type != "lstm" &&
           layer.parameters >= shape->count * shape->columns * (shape->depth + 1);
}

std::optional<AttentionShape> attention_of(const Layer& layer) {
    if (layer.type != "attention" || layer.out_shape.size() != 2 ||
        !divides(layer.heads, layer.out_shape[1]))
        return std::nullopt;
    AttentionShape shape;
    shape.queries = shape.keys = layer.out_shape[0];
    shape.heads = layer.heads;
    shape.head_width = layer.out_shape[1] / layer.heads;
    shape.kv_heads = layer.kv_heads == 0 ? layer.heads : layer.kv_heads;
    shape.score_width = layer.score_width == 0 ? shape.head_width : layer.score_width;
    shape.window = layer.window;
    // Only decoders have widths apart and windows.
    shape.causal = layer.score_width != 0 || layer.window != 0;
    if (shape.causal)
        return shape;
    if (!divides(layer.out_elements, layer.macs))
        return std::nullopt;
    const std::uint64_t seen = layer.macs / layer.out_elements;  // by scores and values together
    shape.causal = seen == shape.queries;
    if (!shape.causal && seen % 2 != 0)
        return std::nullopt;
    if (!shape.causal)
        shape.keys = seen / 2;
    return shape;
}

}  // namespace switchfold
