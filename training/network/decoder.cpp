// SPDX-License-Identifier: Apache-2.0
#include "training/network/decoder.h"

#include "training/network/decoder_parts.h"

#include <fmt/format.h>

#include <utility>

namespace switchfold {

namespace {

/// Limit on the width of all heads, so that no product of an attention overflows.
constexpr std::uint64_t kWidest = 1U << 19U;

template <class Shape>
void check_heads(const Shape& s, ParamChecker& checker) {
    if (s.head_width == 0 && s.hidden % s.heads != 0)
        checker.error(
            "/heads", fmt::format(
                          "is {}, and the width {}; expected heads that share it evenly, or "
                          "head_width",
                          s.heads, s.hidden));
    if (std::uint64_t{s.heads} * s.head_width > kWidest)
        checker.error(
            "/head_width",
            fmt::format(
                "is {} of {} heads; expected at most {} together", s.head_width, s.heads, kWidest));
    if (s.kv_heads != 0 && s.heads % s.kv_heads != 0)
        checker.error(
            "/kv_heads", fmt::format(
                             "is {}, and heads {}; expected as many heads of queries each",
                             s.kv_heads, s.heads));
}

void check_latent(const LlamaShape& s, ParamChecker& checker) {
    const LatentParams& latent = *s.latent;
    const std::uint64_t widest =
        std::max(latent.plain_width + latent.rotary_width, latent.value_width);
    if (s.heads * widest > kWidest)
        checker.error(
            "/latent",
            fmt::format(
                "has {} heads of {}; expected at most {} together", s.heads, widest, kWidest));
    if (s.kv_heads != 0)
        checker.error(
            "/kv_heads", "is given beside latent, whose heads all have keys of their own; expected "
                         "one of the two");
    if (s.head_width != 0)
        checker.error(
            "/head_width",
            "is given beside latent, which has widths of its own; expected one of the two");
    if (s.query_norm != QueryNorm::kNone)
        checker.error(
            "/query_norm", "is given beside latent, which norms what queries and keys are made "
                           "from; expected none");
}

void check_llama(const LlamaShape& s, ParamChecker& checker) {
    if (s.latent)
        check_latent(s, checker);
    else
        check_heads(s, checker);
    if (s.whole_every != 0 && s.window == 0)
        checker.error("/whole_every", "is of blocks without window, and there is none; expected 0");
}

/// A GPT block.
Tensor block(NetworkBuilder& net, const std::string& name, const Tensor& in, const GptShape& s) {
    const std::uint64_t width = s.head_width == 0 ? s.hidden / s.heads : s.head_width;
    const std::uint32_t kv_heads = s.kv_heads == 0 ? s.heads : s.kv_heads;
    const std::uint64_t inner = s.feed_forward == 0 ? 4ULL * s.hidden : s.feed_forward;
    Tensor x = net.layernorm(name + ".ln_1", in);
    x = net.linear(
        name + ".attn.c_attn", x, (s.heads + 2ULL * kv_heads) * width,
        {s.bias, TensorSplit::kColumns});
    if (s.positions == Positions::kRotary)
        x = net.each(name + ".attn.rotary", "rotary", x, TensorSplit::kHeads);
    x = net.attention(name + ".attn.sdpa", {x}, s.heads * width, {s.heads, true, kv_heads});
    x = net.linear(name + ".attn.c_proj", x, s.hidden, {s.bias, TensorSplit::kRows});
    const Tensor half = net.each_of(name + ".add_1", "add", {in, x});
    x = net.layernorm(name + ".ln_2", half);
    x = feed_forward(
        net, {name + ".mlp", "c_gate", "c_fc", "c_proj"}, x, inner, {s.activation, s.bias});
    return net.each_of(name + ".add_2", "add", {half, x});
}

}  // namespace

void GptShape::check(ParamChecker& checker) const {
    check_heads(*this, checker);
}
void LlamaShape::check(ParamChecker& checker) const {
    check_llama(*this, checker);
}
void MixtureShape::check(ParamChecker& checker) const {
    check_llama(*this, checker);
    if (top_k > experts)
        checker.error(
            "/top_k", fmt::format("is {} of {} experts; expected at most those", top_k, experts));
    bool mixed = false;
    bool dense = false;
    for (std::uint32_t i = 0; i < layers; ++i)
        (has_experts(i) ? mixed : dense) = true;
    if (!mixed)
        checker.error(
            "/dense_blocks",
            fmt::format("leave no block of {} with experts; expected fewer", layers));
    if (dense && dense_feed_forward == 0)
        checker.error(
            "/dense_feed_forward",
            "is 0, and there are blocks without experts; expected its width");
    if (!dense && dense_feed_forward != 0)
        checker.error("/dense_feed_forward", "is given, and all blocks have experts; expected 0");
}

Network decoder(std::string name, const GptShape& s) {
    NetworkBuilder net(std::move(name), s.sequence);
    const Tensor words{{s.sequence}};
    const Tensor embedded =
        net.embedding("wte", words, s.vocabulary, s.hidden, {true, TensorSplit::kVocabulary});
    Tensor x = embedded;
    if (s.positions == Positions::kLearned) {
        const Tensor positions = net.embedding("wpe", words, s.sequence, s.hidden);
        x = net.each_of("embed_add", "add", {embedded, positions});
    }
    for (std::uint32_t i = 0; i < s.layers; ++i) {
        net.begin_block();
        x = block(net, fmt::format("h.{}", i), x, s);
    }
    net.end_block();
    x = net.layernorm("ln_f", x);
    x = head(net, "lm_head", x, s.vocabulary, s.tied ? std::optional(embedded) : std::nullopt);
    net.loss("loss", "softmax_loss", {x}, TensorSplit::kVocabulary);
    return net.take();
}

Network decoder(std::string name, const LlamaShape& shape) {
    return rotary_decoder(std::move(name), shape, nullptr);
}

Network decoder(std::string name, const MixtureShape& shape) {
    return rotary_decoder(std::move(name), shape, &shape);
}

}  // namespace switchfold
