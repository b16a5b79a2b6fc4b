// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/builder.h"
#include "training/network/decoder_options.h"
#include "training/network/mixture_shape.h"

#include <cstdint>
#include <optional>
#include <string>

namespace switchfold {

/// Names of a feed-forward layer's module and products. The gate is only of a gated one.
struct FeedForwardNames {
    std::string module;
    std::string gate;
    std::string up;
    std::string down;
};

/// The type of the layer with an activation's function.
[[nodiscard]] const char* function_of(Activation activation);

struct FeedForwardKind {
    Activation activation = Activation::kGelu;
    bool bias = false;
};

/// Products to the inner width and back, with the function, and the gate, between them.
[[nodiscard]] Tensor feed_forward(
    NetworkBuilder& net, const FeedForwardNames& names, const Tensor& in, std::uint64_t inner,
    const FeedForwardKind& kind);

/// Products with the vocabulary's words; `shares`: output of the layer whose weights it uses.
[[nodiscard]] Tensor head(
    NetworkBuilder& net, const std::string& name, const Tensor& in, std::uint32_t vocabulary,
    const std::optional<Tensor>& shares);

/// `experts`: those of the blocks that have some; null: none has.
[[nodiscard]] Network
rotary_decoder(std::string name, const LlamaShape& shape, const MixtureShape* experts);

}  // namespace switchfold
