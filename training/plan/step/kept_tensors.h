// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/layer.h"

#include <string_view>

namespace switchfold {

/// Tensors of a layer's forward that its backward reads (PyTorch).
struct KeptTensors {
    bool input = false;
    bool output = false;
    bool mask = false;  ///< one byte per element of the output
};

/// Whether the gradient of a layer's inputs follows from that of its output alone.
[[nodiscard]] inline bool keeps_nothing(const Layer& layer) {
    const std::string_view type = layer.type;
    const auto any = [&](auto... names) { return ((type == names) || ...); };
    return any("add", "avgpool", "concat", "slice", "copy", "embedding", "rotary");
}

[[nodiscard]] inline KeptTensors kept_tensors(const Layer& layer) {
    const std::string_view type = layer.type;
    const auto any = [&](auto... names) { return ((type == names) || ...); };
    if (keeps_nothing(layer))
        return {};
    if (any("relu", "sigmoid", "tanh", "softmax_loss"))
        return {false, true, false};
    if (any("maxpool", "lrn", "attention", "lstm"))
        return {true, true, false};
    if (any("dropout"))
        return {false, false, true};
    return {true, false, false};  // products, norms, gelu, silu, squared_relu, mul, mse_loss
}

}  // namespace switchfold
