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

[[nodiscard]] inline KeptTensors kept_tensors(const Layer& layer) {
    const std::string_view type = layer.type;
    const auto any = [&](auto... names) { return ((type == names) || ...); };
    if (any("add", "avgpool", "concat", "slice", "copy", "embedding"))
        return {};
    if (any("relu", "sigmoid", "tanh", "softmax_loss"))
        return {false, true, false};
    if (any("maxpool", "lrn", "attention", "lstm"))
        return {true, true, false};
    if (any("dropout"))
        return {false, false, true};
    return {true, false, false};  // products, norms, gelu, silu, mul, rotary, mse_loss
}

}  // namespace switchfold
