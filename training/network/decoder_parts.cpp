// SPDX-License-Identifier: Apache-2.0
#include "training/network/decoder_parts.h"

#include <utility>

namespace switchfold {

const char* function_of(Activation activation) {
    switch (activation) {
    case Activation::kGelu:
    case Activation::kGeglu:
        return "gelu";
    case Activation::kRelu:
    case Activation::kReglu:
        return "relu";
    case Activation::kSquaredRelu:
        return "squared_relu";
    case Activation::kSilu:
    case Activation::kSwiglu:
        return "silu";
    }
    return "";
}

Tensor feed_forward(
    NetworkBuilder& net, const FeedForwardNames& names, const Tensor& in, std::uint64_t inner,
    const FeedForwardKind& kind) {
    const std::string module = names.module + ".";
    const Weights columns{kind.bias, TensorSplit::kColumns};
    const std::string function = function_of(kind.activation);
    Tensor x;
    if (is_gated(kind.activation)) {
        const Tensor gate = net.linear(module + names.gate, in, inner, columns);
        const Tensor up = net.linear(module + names.up, in, inner, columns);
        x = net.each(module + function, function, gate, TensorSplit::kHeads);
        x = net.each_of(module + "mul", "mul", {x, up}, TensorSplit::kHeads);
    } else {
        x = net.linear(module + names.up, in, inner, columns);
        x = net.each(module + function, function, x, TensorSplit::kHeads);
    }
    return net.linear(module + names.down, x, in.width(), {kind.bias, TensorSplit::kRows});
}

Tensor head(
    NetworkBuilder& net, const std::string& name, const Tensor& in, std::uint32_t vocabulary,
    const std::optional<Tensor>& shares) {
    return net.linear(name, in, vocabulary, {false, TensorSplit::kVocabulary, shares});
}

}  // namespace switchfold
