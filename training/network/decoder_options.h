// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace switchfold {

/// What a feed-forward layer does between its products. The gated ones have two products before it,
/// of which one passes through the function and multiplies the other (Shazeer 2020).
enum class Activation : std::uint8_t {
    kGelu,
    kRelu,
    kSquaredRelu,
    kSilu,
    kSwiglu,  ///< gated by SiLU
    kGeglu,   ///< gated by GELU
    kReglu,   ///< gated by ReLU
};
[[nodiscard]] constexpr bool is_gated(Activation activation) {
    return activation >= Activation::kSwiglu;
}

template <>
struct EnumNames<Activation> {
    static constexpr std::array<std::pair<Activation, std::string_view>, 7> kNames{
        {{Activation::kGelu, "gelu"},
         {Activation::kRelu, "relu"},
         {Activation::kSquaredRelu, "squared_relu"},
         {Activation::kSilu, "silu"},
         {Activation::kSwiglu, "swiglu"},
         {Activation::kGeglu, "geglu"},
         {Activation::kReglu, "reglu"}}};
};

/// How a decoder knows the order of its tokens.
enum class Positions : std::uint8_t {
    kLearned,  ///< a table of vectors that are added to the embeddings
    kRotary,   ///< queries and keys are turned
    kNone,
};
template <>
struct EnumNames<Positions> {
    static constexpr std::array<std::pair<Positions, std::string_view>, 3> kNames{
        {{Positions::kLearned, "learned"},
         {Positions::kRotary, "rotary"},
         {Positions::kNone, "none"}}};
};

/// Where a block's norms are.
enum class NormPlaces : std::uint8_t {
    kBefore,  ///< before attention and feed-forward
    kAfter,   ///< behind both, before what they give is added (OLMo 2)
    kBoth,    ///< before and behind (Grok-1)
};
template <>
struct EnumNames<NormPlaces> {
    static constexpr std::array<std::pair<NormPlaces, std::string_view>, 3> kNames{
        {{NormPlaces::kBefore, "before"},
         {NormPlaces::kAfter, "after"},
         {NormPlaces::kBoth, "both"}}};
};

/// Norms of queries and keys.
enum class QueryNorm : std::uint8_t {
    kNone,
    kHead,   ///< of each head, with weights that the heads share (Qwen3)
    kWidth,  ///< of all heads together (OLMo 2)
};
template <>
struct EnumNames<QueryNorm> {
    static constexpr std::array<std::pair<QueryNorm, std::string_view>, 3> kNames{
        {{QueryNorm::kNone, "none"}, {QueryNorm::kHead, "head"}, {QueryNorm::kWidth, "width"}}};
};

/// Latent attention (MLA, DeepSeek-V2, arXiv 2405.04434): queries, and keys with values, come from
/// narrow vectors, which are normed. A part of each key carries the position and is the same for
/// all heads.
struct LatentParams {
    std::uint32_t query_rank = 0;
    std::uint32_t key_value_rank = 512;
    std::uint32_t plain_width = 128;
    std::uint32_t rotary_width = 64;
    std::uint32_t value_width = 128;
    static constexpr auto fields() {
        return list_of(
            field(
                "query_rank", &LatentParams::query_rank,
                "Width of the vector from which a token's queries are made; 0: they are made from "
                "the hidden state.",
                0U, 1U << 17U),
            field(
                "key_value_rank", &LatentParams::key_value_rank,
                "Width of the vector from which a token's keys and values are made.", 1U, 1U << 17U)
                .required(),
            field(
                "plain_width", &LatentParams::plain_width,
                "Width of a head's queries and keys without position.", 1U, 1U << 12U)
                .required(),
            field(
                "rotary_width", &LatentParams::rotary_width,
                "Width of a head's queries and keys with rotary position; these keys are shared by "
                "all heads.",
                1U, 1U << 12U)
                .required(),
            field(
                "value_width", &LatentParams::value_width, "Width of a head's values.", 1U,
                1U << 12U)
                .required());
    }
};

}  // namespace switchfold
