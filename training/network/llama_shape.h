// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "training/network/decoder_options.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace switchfold {

/// LLaMA and similar models: rotary positions, RMS norms, separate products for queries, keys and
/// values, a gated feed-forward (SwiGLU), no biases; what later models changed of it.
struct LlamaShape {
    static constexpr std::string_view kType = "llama";
    std::uint32_t layers = 32;
    std::uint32_t hidden = 4096;
    std::uint32_t heads = 32;
    std::uint32_t kv_heads = 0;
    std::uint32_t sequence = 2048;
    std::uint32_t vocabulary = 32'000;
    std::uint32_t feed_forward = 11'008;
    bool tied = false;
    std::uint32_t head_width = 0;
    std::optional<LatentParams> latent;
    Activation activation = Activation::kSwiglu;
    bool bias = false;
    NormPlaces norms = NormPlaces::kBefore;
    QueryNorm query_norm = QueryNorm::kNone;
    std::uint32_t window = 0;
    std::uint32_t whole_every = 0;
    bool sinks = false;
    std::uint32_t predicted_ahead = 0;
    static constexpr auto fields() {
        return list_of(
            field("layers", &LlamaShape::layers, "Blocks.", 1U, 1024U).required(),
            field("hidden", &LlamaShape::hidden, "Width of the hidden state.", 1U, 1U << 17U)
                .required(),
            field("heads", &LlamaShape::heads, "Query heads.", 1U, 1U << 12U).required(),
            field(
                "kv_heads", &LlamaShape::kv_heads,
                "Heads of keys and values, each shared by equally many query heads; 0: one per "
                "query head.",
                0U, 1U << 12U),
            field(
                "head_width", &LlamaShape::head_width,
                "Width of a head; 0: the heads divide hidden.", 0U, 1U << 12U),
            field(
                "latent", &LlamaShape::latent,
                "Latent attention (MLA): queries, and keys with values, are made from narrow "
                "vectors. Instead of kv_heads and head_width."),
            field("sequence", &LlamaShape::sequence, "Tokens of a sample.", 1U, 1U << 20U)
                .required(),
            field("vocabulary", &LlamaShape::vocabulary, "Size of the vocabulary.", 1U, 1U << 24U),
            field(
                "feed_forward", &LlamaShape::feed_forward,
                "Inner width of a block's feed-forward layer; moe: of one expert.", 1U, 1U << 19U)
                .required(),
            field(
                "activation", &LlamaShape::activation,
                "What the feed-forward layer does between its products."),
            field("bias", &LlamaShape::bias, "Products of the blocks have biases."),
            field(
                "norms", &LlamaShape::norms,
                "Norms before attention and feed-forward, after, or "
                "both."),
            field(
                "query_norm", &LlamaShape::query_norm,
                "Norms of queries and keys: of each head, or of all heads together."),
            field(
                "window", &LlamaShape::window,
                "Keys that a query sees at most, its own included (sliding window); 0: all before.",
                0U, 1U << 20U),
            field(
                "whole_every", &LlamaShape::whole_every,
                "window: the last of so many blocks has none; 0: all blocks have it.", 0U, 1024U),
            field("sinks", &LlamaShape::sinks, "Each head has a learnt score of no key (GPT-OSS)."),
            field(
                "predicted_ahead", &LlamaShape::predicted_ahead,
                "Modules behind the blocks that predict one token further each (multi-token "
                "prediction, DeepSeek-V3): a block with the embedding's and the head's weights.",
                0U, 16U),
            field("tied", &LlamaShape::tied, "The head uses the embedding's weights."));
    }
    void check(ParamChecker& checker) const;
};

}  // namespace switchfold
