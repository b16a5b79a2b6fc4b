// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "training/network/network.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace switchfold {

// Decoders by their shape. A sample is one sequence. Layers have the module names of the published
// implementations.

/// GPT-2 and similar models: learned positions, layer norms before attention and feed-forward,
/// GELU, biases. With tied embeddings and a feed-forward of 4 h: 12 L h^2 + 13 L h + (V + s) h + 2
/// h parameters.
struct GptShape {
    static constexpr std::string_view kType = "gpt";
    std::uint32_t layers = 12;
    std::uint32_t hidden = 768;
    std::uint32_t heads = 12;
    std::uint32_t sequence = 1024;
    std::uint32_t vocabulary = 50'257;
    std::uint32_t feed_forward = 0;
    bool tied = true;
    static constexpr auto fields() {
        return list_of(
            field("layers", &GptShape::layers, "Blocks.", 1U, 1024U).required(),
            field("hidden", &GptShape::hidden, "Width of the hidden state.", 1U, 1U << 17U)
                .required(),
            field(
                "heads", &GptShape::heads, "Attention heads, which divide the width.", 1U,
                1U << 12U)
                .required(),
            field("sequence", &GptShape::sequence, "Tokens of a sample.", 1U, 1U << 20U).required(),
            field("vocabulary", &GptShape::vocabulary, "Size of the vocabulary.", 1U, 1U << 24U),
            field(
                "feed_forward", &GptShape::feed_forward,
                "Inner width of a block's feed-forward layer; 0: four times hidden.", 0U,
                1U << 19U),
            field("tied", &GptShape::tied, "The head uses the embedding's weights."));
    }
    void check(ParamChecker& checker) const;
};

/// LLaMA and similar models: rotary positions, RMS norms, a gated feed-forward (SwiGLU), no biases.
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
    static constexpr auto fields() {
        return list_of(
            field("layers", &LlamaShape::layers, "Blocks.", 1U, 1024U).required(),
            field("hidden", &LlamaShape::hidden, "Width of the hidden state.", 1U, 1U << 17U)
                .required(),
            field(
                "heads", &LlamaShape::heads, "Query heads, which divide the width.", 1U, 1U << 12U)
                .required(),
            field(
                "kv_heads", &LlamaShape::kv_heads,
                "Heads of keys and values, each shared by equally many query heads; 0: one per "
                "query head.",
                0U, 1U << 12U),
            field("sequence", &LlamaShape::sequence, "Tokens of a sample.", 1U, 1U << 20U)
                .required(),
            field("vocabulary", &LlamaShape::vocabulary, "Size of the vocabulary.", 1U, 1U << 24U),
            field(
                "feed_forward", &LlamaShape::feed_forward,
                "Inner width of a block's feed-forward layer.", 1U, 1U << 19U)
                .required(),
            field("tied", &LlamaShape::tied, "The head uses the embedding's weights."));
    }
    void check(ParamChecker& checker) const;
};

/// Mixtral and similar models: like LlamaShape, with a feed-forward of `experts` experts, of which
/// the router chooses `top_k` for each token.
struct MixtureShape {
    static constexpr std::string_view kType = "moe";
    std::uint32_t layers = 32;
    std::uint32_t hidden = 4096;
    std::uint32_t heads = 32;
    std::uint32_t kv_heads = 0;
    std::uint32_t sequence = 2048;
    std::uint32_t vocabulary = 32'000;
    std::uint32_t feed_forward = 14'336;
    bool tied = false;
    std::uint32_t experts = 8;
    std::uint32_t top_k = 2;
    static constexpr auto fields() {
        return list_of(
            field("layers", &MixtureShape::layers, "Blocks.", 1U, 1024U).required(),
            field("hidden", &MixtureShape::hidden, "Width of the hidden state.", 1U, 1U << 17U)
                .required(),
            field(
                "heads", &MixtureShape::heads, "Query heads, which divide the width.", 1U,
                1U << 12U)
                .required(),
            field(
                "kv_heads", &MixtureShape::kv_heads,
                "Heads of keys and values, each shared by equally many query heads; 0: one per "
                "query head.",
                0U, 1U << 12U),
            field("sequence", &MixtureShape::sequence, "Tokens of a sample.", 1U, 1U << 20U)
                .required(),
            field(
                "vocabulary", &MixtureShape::vocabulary, "Size of the vocabulary.", 1U, 1U << 24U),
            field(
                "feed_forward", &MixtureShape::feed_forward, "Inner width of one expert.", 1U,
                1U << 19U)
                .required(),
            field("tied", &MixtureShape::tied, "The head uses the embedding's weights."),
            field("experts", &MixtureShape::experts, "Experts per block.", 1U, 1U << 12U)
                .required(),
            field("top_k", &MixtureShape::top_k, "Experts per token.", 1U, 64U).required());
    }
    void check(ParamChecker& checker) const;
};

[[nodiscard]] Network decoder(std::string name, const GptShape& shape);
[[nodiscard]] Network decoder(std::string name, const LlamaShape& shape);
/// Experts are assumed to receive equally many tokens.
[[nodiscard]] Network decoder(std::string name, const MixtureShape& shape);

}  // namespace switchfold
