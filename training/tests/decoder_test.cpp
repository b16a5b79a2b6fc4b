// SPDX-License-Identifier: Apache-2.0
#include "training/network/decoder.h"

#include "training/network/product.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace switchfold::decoder_test {
namespace {

using Count = std::uint64_t;

const Layer* find(const Network& network, const std::string& name) {
    const auto found =
        std::find_if(network.layers.begin(), network.layers.end(), [&](const Layer& layer) {
            return layer.name == name;
        });
    return found == network.layers.end() ? nullptr : &*found;
}

template <class Shape>
std::string problem_of(const Shape& shape) {
    ParamChecker checker;
    shape.check(checker);
    return checker.found().empty()
               ? ""
               : checker.found().front().first + " " + checker.found().front().second;
}

RC_GTEST_PROP(DecoderShapes, AGptHasItsHeadsAndItsActivation, ()) {
    GptShape s;
    s.layers = *rc::gen::inRange(1U, 4U);
    s.kv_heads = *rc::gen::inRange(1U, 4U);
    s.heads = s.kv_heads * *rc::gen::inRange(1U, 4U);
    s.head_width = *rc::gen::inRange(1U, 48U);
    s.hidden = *rc::gen::inRange(1U, 100U);
    s.feed_forward = *rc::gen::inRange(1U, 100U);
    s.sequence = *rc::gen::inRange(1U, 60U);
    s.vocabulary = *rc::gen::inRange(1U, 300U);
    s.bias = *rc::gen::arbitrary<bool>();
    s.positions = *rc::gen::element(Positions::kLearned, Positions::kRotary, Positions::kNone);
    s.activation = *rc::gen::element(
        Activation::kGelu, Activation::kSquaredRelu, Activation::kSwiglu, Activation::kGeglu);
    RC_ASSERT(problem_of(s) == "");
    const Network network = decoder("d", s);
    const Count h = s.hidden;
    const Count projected = Count{s.heads + 2 * s.kv_heads} * s.head_width;
    const Count inners = is_gated(s.activation) ? 2 : 1;
    const Count weights =
        h * projected + Count{s.heads} * s.head_width * h + (inners + 1) * h * s.feed_forward;
    const Count biases = s.bias ? projected + 2 * h + inners * s.feed_forward : 0;
    const Count positions = s.positions == Positions::kLearned ? Count{s.sequence} * h : 0;
    RC_ASSERT(
        parameters(network) ==
        s.layers * (weights + biases + 4 * h) + s.vocabulary * h + positions + 2 * h);
    const Count t = s.sequence;
    RC_ASSERT(
        forward_macs(network) ==
        s.layers * (t * weights + t * t * s.heads * s.head_width) + t * h * s.vocabulary);
    const Layer* attention = find(network, "h.0.attn.sdpa");
    RC_ASSERT(attention->in_elements == t * projected);
    RC_ASSERT((find(network, "h.0.attn.rotary") != nullptr) == (s.positions == Positions::kRotary));
}

LlamaShape small_llama() {
    LlamaShape s;
    s.layers = 3;
    s.hidden = 96;
    s.heads = 6;
    s.sequence = 40;
    s.vocabulary = 200;
    s.feed_forward = 128;
    return s;
}

/// Latent attention: two narrow products with norms, the heads' products from them, and the output.
RC_GTEST_PROP(DecoderShapes, LatentAttentionHasItsProducts, ()) {
    LlamaShape s = small_llama();
    LatentParams l;
    l.query_rank = *rc::gen::inRange(0U, 40U);
    l.key_value_rank = *rc::gen::inRange(1U, 40U);
    l.plain_width = *rc::gen::inRange(1U, 20U);
    l.rotary_width = *rc::gen::inRange(1U, 20U);
    l.value_width = 2 * *rc::gen::inRange(1U, 20U);
    if ((l.plain_width + l.rotary_width) % 2 == 1)
        ++l.plain_width;
    s.latent = l;
    RC_ASSERT(problem_of(s) == "");
    const Network network = decoder("d", s);
    const Count h = s.hidden;
    const Count scored = Count{l.plain_width} + l.rotary_width;
    const Count from = l.query_rank == 0 ? h : l.query_rank;
    const Count attention = (l.query_rank == 0 ? 0 : h * l.query_rank) + from * s.heads * scored +
                            h * (l.key_value_rank + l.rotary_width) +
                            Count{l.key_value_rank} * s.heads * (l.plain_width + l.value_width) +
                            Count{s.heads} * l.value_width * h;
    const Count block = attention + 3 * h * s.feed_forward;
    RC_ASSERT(
        parameters(network) ==
        s.layers * (block + l.query_rank + l.key_value_rank + 2 * h) + 2 * s.vocabulary * h + h);
    const Count t = s.sequence;
    RC_ASSERT(
        forward_macs(network) ==
        s.layers * (t * block + t * t * s.heads * (scored + l.value_width) / 2) +
            t * h * s.vocabulary);
    const auto shape = attention_of(*find(network, "layers.2.self_attn.sdpa"));
    RC_ASSERT(shape->score_width == scored);
    RC_ASSERT(shape->head_width == l.value_width);
    RC_ASSERT(shape->causal);
}

/// In a window w of t tokens, w t - w^2 / 2 pairs of a query and a key, as t^2 / 2 without one.
RC_GTEST_PROP(DecoderShapes, AWindowIsOfTheBlocksThatHaveIt, ()) {
    LlamaShape s = small_llama();
    s.layers = 6;
    s.window = *rc::gen::inRange(1U, 80U);
    s.whole_every = *rc::gen::inRange(0U, 4U);
    const Network network = decoder("d", s);
    s.window = s.whole_every = 0;
    const Network whole = decoder("d", s);
    const Count t = s.sequence;
    for (std::uint32_t i = 0; i < whole.layers.size(); ++i) {
        const Layer& a = network.layers[i];
        if (a.type != "attention" || a.window == 0) {
            RC_ASSERT(a.macs == whole.layers[i].macs);
            continue;
        }
        const Count w = a.window;
        RC_ASSERT(a.macs == w * (2 * t - w) * s.hidden);
        RC_ASSERT(a.macs < whole.layers[i].macs);
        Count pairs = 0;  // each query's own key counts whole, where the formula has half of it
        for (Count query = 0; query < t; ++query)
            pairs += std::min(query + 1, w);
        RC_ASSERT(2 * pairs * s.hidden - a.macs == w * s.hidden);
    }
}

TEST(DecoderShapes, BlocksWithoutWindowAreTheLastOfSoMany) {
    LlamaShape s = small_llama();
    s.layers = 4;
    s.window = 8;
    s.whole_every = 2;
    s.sinks = true;
    s.bias = true;
    const Network network = decoder("d", s);
    for (const std::uint32_t i : {0U, 1U, 2U, 3U}) {
        const Layer& attention = *find(network, fmt::format("layers.{}.self_attn.sdpa", i));
        EXPECT_EQ(attention.window, i % 2 == 0 ? 8U : 0U);
        EXPECT_EQ(attention.parameters, 6U);  // a score of no key for each head
        EXPECT_TRUE(has_bias(*find(network, fmt::format("layers.{}.self_attn.o_proj", i))));
    }
}

TEST(DecoderShapes, NormsStandWhereTheyAreSaidToStand) {
    LlamaShape s = small_llama();
    const auto norms = [&](NormPlaces places) {
        s.norms = places;
        std::string names;
        for (const Layer& layer : decoder("d", s).layers)
            if (layer.type == "rmsnorm" && layer.name.starts_with("layers.0."))
                names += layer.name.substr(9) + " ";
        return names;
    };
    EXPECT_EQ(norms(NormPlaces::kBefore), "input_layernorm post_attention_layernorm ");
    EXPECT_EQ(norms(NormPlaces::kAfter), "post_attention_layernorm post_feedforward_layernorm ");
    EXPECT_EQ(
        norms(NormPlaces::kBoth),
        "input_layernorm post_attention_layernorm pre_feedforward_layernorm "
        "post_feedforward_layernorm ");
    s.query_norm = QueryNorm::kHead;
    EXPECT_EQ(find(decoder("d", s), "layers.0.self_attn.q_norm")->parameters, 16U);
    s.query_norm = QueryNorm::kWidth;
    EXPECT_EQ(find(decoder("d", s), "layers.0.self_attn.q_norm")->parameters, 96U);
}

MixtureShape small_mixture() {
    MixtureShape s{small_llama(), {}};
    s.layers = 6;
    s.experts = 8;
    s.top_k = 2;
    return s;
}

RC_GTEST_PROP(DecoderShapes, AMixtureHasItsDenseBlocksAndItsSharedExperts, ()) {
    MixtureShape s = small_mixture();
    s.mixture_every = *rc::gen::inRange(1U, 4U);
    s.dense_blocks = *rc::gen::inRange(0U, 3U);
    s.shared_width = *rc::gen::inRange(0U, 50U);
    s.bias = *rc::gen::arbitrary<bool>();
    std::uint32_t mixed = 0;
    for (std::uint32_t i = 0; i < s.layers; ++i)
        mixed += s.has_experts(i) ? 1 : 0;
    s.dense_feed_forward = mixed < s.layers ? 300 : 0;
    RC_ASSERT(problem_of(s) == "");
    const Network network = decoder("d", s);
    LlamaShape plain = s;
    plain.feed_forward = 1;
    const Count h = s.hidden;
    const Count one = s.bias ? 1 : 0;
    const auto inner = [&](Count width) {  // gate, up and down
        return 2 * (h + one) * width + width * h + one * h;
    };
    const Count router = (h + one) * s.experts;
    const Count shared = s.shared_width == 0 ? 0 : inner(s.shared_width);
    RC_ASSERT(
        parameters(network) == parameters(decoder("d", plain)) - s.layers * inner(1) +
                                   mixed * (router + shared + s.experts * inner(s.feed_forward)) +
                                   (s.layers - mixed) * inner(s.dense_feed_forward));
}

TEST(DecoderShapes, AModuleThatPredictsFurtherUsesTheSameWords) {
    LlamaShape s = small_llama();
    const Network plain = decoder("d", s);
    s.predicted_ahead = 2;
    const Network further = decoder("d", s);
    const Count h = s.hidden;
    const Count block = 4 * h * h + 3 * h * s.feed_forward + 2 * h;
    EXPECT_EQ(parameters(further), parameters(plain) + 2 * (block + 2 * h * h + 3 * h));
    const Layer& embedding = *find(further, "mtp.1.embed_tokens");
    EXPECT_EQ(further.layers[*embedding.shares].name, "embed_tokens");
    EXPECT_EQ(further.layers[*find(further, "mtp.0.lm_head")->shares].name, "lm_head");
    // It stays with the head: no stage begins there.
    EXPECT_EQ(find(further, "mtp.0.self_attn.sdpa")->block, kNoBlock);
    EXPECT_EQ(
        forward_macs(further) - forward_macs(plain),
        2 * Count{s.sequence} *
            (block - 2 * h + Count{s.sequence} * h + 2 * h * h + h * s.vocabulary));
}

TEST(DecoderShapes, ContradictionsAreTold) {
    LlamaShape s = small_llama();
    s.heads = 7;
    EXPECT_EQ(problem_of(s).substr(0, 6), "/heads");
    s.head_width = 16;
    EXPECT_EQ(problem_of(s), "");
    s.kv_heads = 2;
    EXPECT_EQ(problem_of(s).substr(0, 9), "/kv_heads");
    s.kv_heads = 0;
    s.whole_every = 2;
    EXPECT_EQ(problem_of(s).substr(0, 12), "/whole_every");
    s.whole_every = 0;
    s.head_width = 1U << 12U;
    s.heads = 1U << 12U;
    EXPECT_EQ(problem_of(s).substr(0, 11), "/head_width");
    s = small_llama();
    s.latent = LatentParams{16, 16, 8, 8, 8};
    s.head_width = 16;
    EXPECT_EQ(problem_of(s).substr(0, 11), "/head_width");
    s.head_width = 0;
    s.kv_heads = 2;
    EXPECT_EQ(problem_of(s).substr(0, 9), "/kv_heads");
    s.kv_heads = 0;
    s.query_norm = QueryNorm::kHead;
    EXPECT_EQ(problem_of(s).substr(0, 11), "/query_norm");
    s.query_norm = QueryNorm::kNone;
    s.heads = 1U << 12U;
    s.latent->value_width = 1U << 12U;
    EXPECT_EQ(problem_of(s).substr(0, 7), "/latent");

    MixtureShape m = small_mixture();
    m.top_k = 9;
    EXPECT_EQ(problem_of(m).substr(0, 6), "/top_k");
    m.top_k = 2;
    m.dense_blocks = 6;
    EXPECT_EQ(problem_of(m).substr(0, 13), "/dense_blocks");
    m.dense_blocks = 2;
    EXPECT_EQ(problem_of(m).substr(0, 19), "/dense_feed_forward");
    m.dense_blocks = 0;
    m.dense_feed_forward = 100;
    EXPECT_EQ(problem_of(m).substr(0, 19), "/dense_feed_forward");
}

}  // namespace
}  // namespace switchfold::decoder_test
