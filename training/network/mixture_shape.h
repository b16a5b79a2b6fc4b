// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "training/network/llama_shape.h"

#include <cstdint>
#include <string_view>

namespace switchfold {

/// The mixture in a MixtureShape's blocks.
struct ExpertsShape {
    std::uint32_t experts = 8;
    std::uint32_t top_k = 2;
    std::uint32_t shared_width = 0;
    std::uint32_t dense_blocks = 0;
    std::uint32_t mixture_every = 1;
    std::uint32_t dense_feed_forward = 0;
    static constexpr auto fields() {
        return list_of(
            field("experts", &ExpertsShape::experts, "Experts per block.", 1U, 1U << 12U)
                .required(),
            field("top_k", &ExpertsShape::top_k, "Experts per token.", 1U, 64U).required(),
            field(
                "shared_width", &ExpertsShape::shared_width,
                "Inner width of the shared experts together, which every token passes; 0: none.",
                0U, 1U << 19U),
            field(
                "dense_blocks", &ExpertsShape::dense_blocks,
                "First blocks without experts (DeepSeek-V3).", 0U, 1024U),
            field(
                "mixture_every", &ExpertsShape::mixture_every,
                "The last of so many blocks has experts (Llama 4 Maverick: 2).", 1U, 1024U),
            field(
                "dense_feed_forward", &ExpertsShape::dense_feed_forward,
                "Inner width of the feed-forward layers of blocks without experts.", 0U,
                1U << 19U));
    }
};

/// Mixtral and similar models: like LlamaShape, with a feed-forward of `experts` experts, of which
/// the router chooses `top_k` for each token.
struct MixtureShape : LlamaShape, ExpertsShape {
    static constexpr std::string_view kType = "moe";
    static constexpr auto fields() { return joined(LlamaShape::fields(), ExpertsShape::fields()); }
    /// Whether a block has experts.
    [[nodiscard]] constexpr bool has_experts(std::uint32_t block) const {
        return block >= dense_blocks && (block + 1) % mixture_every == 0;
    }
    void check(ParamChecker& checker) const;
};

}  // namespace switchfold
