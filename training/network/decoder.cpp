// SPDX-License-Identifier: Apache-2.0
#include "training/network/decoder.h"

#include "training/network/builder.h"

#include <fmt/format.h>

#include <utility>

namespace switchfold {

namespace {

constexpr Heads causal(std::uint32_t heads) {
    return {heads, true};
}
Weights no_bias(TensorSplit split) {
    return {false, split};
}

template <class Shape>
void check_heads(const Shape& shape, ParamChecker& checker) {
    if (shape.hidden % shape.heads != 0)
        checker.error(
            "/heads", fmt::format(
                          "is {}, and the width {}; expected heads that share it evenly",
                          shape.heads, shape.hidden));
}

template <class Shape>
void check_grouped_heads(const Shape& shape, ParamChecker& checker) {
    check_heads(shape, checker);
    if (shape.kv_heads != 0 && shape.heads % shape.kv_heads != 0)
        checker.error(
            "/kv_heads", fmt::format(
                             "is {}, and heads {}; expected as many heads of queries each",
                             shape.kv_heads, shape.heads));
}

Tensor head(
    NetworkBuilder& net, const Tensor& in, const Tensor& embedded, std::uint32_t vocabulary,
    bool tied) {
    Weights weights = no_bias(TensorSplit::kVocabulary);
    if (tied)
        weights.shares = embedded;
    return net.linear("lm_head", in, vocabulary, weights);
}

/// One GPT block.
Tensor block(NetworkBuilder& net, const std::string& name, const Tensor& in, const GptShape& s) {
    const std::uint64_t inner = s.feed_forward == 0 ? 4ULL * s.hidden : s.feed_forward;
    Tensor x = net.layernorm(name + ".ln_1", in);
    x = net.linear(name + ".attn.c_attn", x, 3ULL * s.hidden, {true, TensorSplit::kColumns});
    x = net.attention(name + ".attn.sdpa", {x}, s.hidden, causal(s.heads));
    x = net.linear(name + ".attn.c_proj", x, s.hidden, {true, TensorSplit::kRows});
    const Tensor half = net.each_of(name + ".add_1", "add", {in, x});
    x = net.layernorm(name + ".ln_2", half);
    x = net.linear(name + ".mlp.c_fc", x, inner, {true, TensorSplit::kColumns});
    x = net.each(name + ".mlp.gelu", "gelu", x, TensorSplit::kHeads);
    x = net.linear(name + ".mlp.c_proj", x, s.hidden, {true, TensorSplit::kRows});
    return net.each_of(name + ".add_2", "add", {half, x});
}

/// Norm, attention with rotary positions and residual sum of a LLaMA block.
template <class Shape>
Tensor
rotary_attention(NetworkBuilder& net, const std::string& block, const Tensor& in, const Shape& s) {
    const std::string name = block + ".self_attn";
    const std::uint64_t kv_heads = s.kv_heads == 0 ? s.heads : s.kv_heads;
    const std::uint64_t kv_width = s.hidden / s.heads * kv_heads;
    const Weights columns = no_bias(TensorSplit::kColumns);
    const Tensor x = net.rmsnorm(block + ".input_layernorm", in);
    Tensor q = net.linear(name + ".q_proj", x, s.hidden, columns);
    Tensor k = net.linear(name + ".k_proj", x, kv_width, columns);
    const Tensor v = net.linear(name + ".v_proj", x, kv_width, columns);
    q = net.each(name + ".q_rotary", "rotary", q, TensorSplit::kHeads);
    k = net.each(name + ".k_rotary", "rotary", k, TensorSplit::kHeads);
    Tensor out = net.attention(name + ".sdpa", {q, k, v}, s.hidden, causal(s.heads));
    out = net.linear(name + ".o_proj", out, s.hidden, no_bias(TensorSplit::kRows));
    return net.each_of(block + ".add_1", "add", {in, out});
}

/// Gated feed-forward: SiLU of the gate times the other projection, then back to the width.
Tensor gated_feed_forward(
    NetworkBuilder& net, const std::string& name, const Tensor& in, std::uint64_t inner,
    std::uint64_t hidden) {
    const Weights columns = no_bias(TensorSplit::kColumns);
    Tensor gate = net.linear(name + ".gate_proj", in, inner, columns);
    const Tensor up = net.linear(name + ".up_proj", in, inner, columns);
    gate = net.each(name + ".silu", "silu", gate, TensorSplit::kHeads);
    const Tensor x = net.each_of(name + ".mul", "mul", {gate, up}, TensorSplit::kHeads);
    return net.linear(name + ".down_proj", x, hidden, no_bias(TensorSplit::kRows));
}

/// A product of every expert with its tokens.
Tensor experts(
    NetworkBuilder& net, std::string name, const Tensor& in, std::uint64_t width,
    std::uint32_t experts) {
    Layer layer{std::move(name), "linear"};
    layer.parameters = experts * in.width() * width;
    layer.macs = in.elements() * width;
    layer.split = TensorSplit::kExperts;
    layer.groups = experts;
    return net.layer(std::move(layer), {in}, {in.shape[0], width});
}

/// Router, dispatch of the tokens to experts, the experts, and the weighted sum.
Tensor
mixture(NetworkBuilder& net, const std::string& name, const Tensor& in, const MixtureShape& s) {
    const std::uint64_t chosen = std::uint64_t{s.sequence} * s.top_k;
    const Tensor scores = net.linear(name + ".router", in, s.experts, no_bias(TensorSplit::kNone));
    const Tensor choice = net.layer({name + ".topk", "topk"}, {scores}, {s.sequence, s.top_k});
    const Tensor x = net.layer({name + ".dispatch", "dispatch"}, {in, choice}, {chosen, s.hidden});
    Tensor gate = experts(net, name + ".gate_proj", x, s.feed_forward, s.experts);
    const Tensor up = experts(net, name + ".up_proj", x, s.feed_forward, s.experts);
    gate = net.each(name + ".silu", "silu", gate, TensorSplit::kExperts);
    Tensor y = net.each_of(name + ".mul", "mul", {gate, up}, TensorSplit::kExperts);
    y = experts(net, name + ".down_proj", y, s.hidden, s.experts);
    return net.layer({name + ".combine", "combine"}, {y, choice}, in.shape);
}

Tensor
feed_forward(NetworkBuilder& net, const std::string& block, const Tensor& in, const LlamaShape& s) {
    return gated_feed_forward(net, block + ".mlp", in, s.feed_forward, s.hidden);
}
Tensor feed_forward(
    NetworkBuilder& net, const std::string& block, const Tensor& in, const MixtureShape& s) {
    return mixture(net, block + ".moe", in, s);
}

template <class Shape>
Network rotary_decoder(std::string name, const Shape& s) {
    NetworkBuilder net(std::move(name), s.sequence);
    const Tensor embedded = net.embedding(
        "embed_tokens", Tensor{{s.sequence}}, s.vocabulary, s.hidden,
        {true, TensorSplit::kVocabulary});
    Tensor x = embedded;
    for (std::uint32_t i = 0; i < s.layers; ++i) {
        net.begin_block();
        const std::string block = fmt::format("layers.{}", i);
        const Tensor half = rotary_attention(net, block, x, s);
        x = net.rmsnorm(block + ".post_attention_layernorm", half);
        x = feed_forward(net, block, x, s);
        x = net.each_of(block + ".add_2", "add", {half, x});
    }
    net.end_block();
    x = net.rmsnorm("norm", x);
    x = head(net, x, embedded, s.vocabulary, s.tied);
    net.loss("loss", "softmax_loss", {x}, TensorSplit::kVocabulary);
    return net.take();
}

}  // namespace

void GptShape::check(ParamChecker& checker) const {
    check_heads(*this, checker);
}
void LlamaShape::check(ParamChecker& checker) const {
    check_grouped_heads(*this, checker);
}
void MixtureShape::check(ParamChecker& checker) const {
    check_grouped_heads(*this, checker);
    if (top_k > experts)
        checker.error(
            "/top_k", fmt::format("is {} of {} experts; expected at most those", top_k, experts));
}

Network decoder(std::string name, const GptShape& s) {
    NetworkBuilder net(std::move(name), s.sequence);
    const Tensor words{{s.sequence}};
    const Tensor embedded =
        net.embedding("wte", words, s.vocabulary, s.hidden, {true, TensorSplit::kVocabulary});
    const Tensor positions = net.embedding("wpe", words, s.sequence, s.hidden);
    Tensor x = net.each_of("embed_add", "add", {embedded, positions});
    for (std::uint32_t i = 0; i < s.layers; ++i) {
        net.begin_block();
        x = block(net, fmt::format("h.{}", i), x, s);
    }
    net.end_block();
    x = net.layernorm("ln_f", x);
    x = head(net, x, embedded, s.vocabulary, s.tied);
    net.loss("loss", "softmax_loss", {x}, TensorSplit::kVocabulary);
    return net.take();
}

Network decoder(std::string name, const LlamaShape& shape) {
    return rotary_decoder(std::move(name), shape);
}

Network decoder(std::string name, const MixtureShape& shape) {
    return rotary_decoder(std::move(name), shape);
}

}  // namespace switchfold
