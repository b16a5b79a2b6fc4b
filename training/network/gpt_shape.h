// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "training/network/decoder_options.h"

#include <cstdint>
#include <string_view>

namespace switchfold {

/// GPT-2 and similar models: one product for queries, keys and values, layer norms before attention
/// and feed-forward. With as many heads of keys as of queries, biases, learned positions, tied
/// embeddings and a feed-forward of 4 h that is not gated: 12 L h^2 + 13 L h + (V + s) h + 2 h
/// parameters.
struct GptShape {
    static constexpr std::string_view kType = "gpt";
    std::uint32_t layers = 12;
    std::uint32_t hidden = 768;
    std::uint32_t heads = 12;
    std::uint32_t sequence = 1024;
    std::uint32_t vocabulary = 50'257;
    std::uint32_t feed_forward = 0;
    bool tied = true;
    std::uint32_t kv_heads = 0;
    std::uint32_t head_width = 0;
    Activation activation = Activation::kGelu;
    Positions positions = Positions::kLearned;
    bool bias = true;
    static constexpr auto fields() {
        return list_of(
            field("layers", &GptShape::layers, "Blocks.", 1U, 1024U).required(),
            field("hidden", &GptShape::hidden, "Width of the hidden state.", 1U, 1U << 17U)
                .required(),
            field("heads", &GptShape::heads, "Attention heads.", 1U, 1U << 12U).required(),
            field(
                "kv_heads", &GptShape::kv_heads,
                "Heads of keys and values, each shared by equally many query heads; 0: one per "
                "query head.",
                0U, 1U << 12U),
            field(
                "head_width", &GptShape::head_width, "Width of a head; 0: the heads divide hidden.",
                0U, 1U << 12U),
            field("sequence", &GptShape::sequence, "Tokens of a sample.", 1U, 1U << 20U).required(),
            field("vocabulary", &GptShape::vocabulary, "Size of the vocabulary.", 1U, 1U << 24U),
            field(
                "feed_forward", &GptShape::feed_forward,
                "Inner width of a block's feed-forward layer; 0: four times hidden.", 0U,
                1U << 19U),
            field(
                "activation", &GptShape::activation,
                "What the feed-forward layer does between its products."),
            field(
                "positions", &GptShape::positions,
                "learned: a table of vectors; rotary: queries and keys are turned; none."),
            field("bias", &GptShape::bias, "Products of the blocks have biases."),
            field("tied", &GptShape::tied, "The head uses the embedding's weights."));
    }
    void check(ParamChecker& checker) const;
};

}  // namespace switchfold
