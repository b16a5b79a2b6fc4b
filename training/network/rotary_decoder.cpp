// SPDX-License-Identifier: Apache-2.0
// Decoders with rotary positions: LLaMA's and what became of it, dense or with experts.
#include "training/network/decoder_parts.h"

#include <fmt/format.h>

#include <utility>

namespace switchfold {

namespace {

class RotaryDecoder {
public:
    RotaryDecoder(std::string name, const LlamaShape& shape, const MixtureShape* experts) :
        net_(std::move(name), shape.sequence),
        s_(shape),
        experts_(experts),
        columns_{shape.bias, TensorSplit::kColumns},
        rows_{shape.bias, TensorSplit::kRows} {}

    Network build() {
        const Tensor embedded = net_.embedding(
            "embed_tokens", words(), s_.vocabulary, s_.hidden, {true, TensorSplit::kVocabulary});
        Tensor x = embedded;
        for (std::uint32_t i = 0; i < s_.layers; ++i) {
            net_.begin_block();
            x = block(fmt::format("layers.{}", i), x, i);
        }
        net_.end_block();
        const Tensor out = net_.rmsnorm("norm", x);
        const Tensor scores = head(
            net_, "lm_head", out, s_.vocabulary, s_.tied ? std::optional(embedded) : std::nullopt);
        net_.loss("loss", "softmax_loss", {scores}, TensorSplit::kVocabulary);
        for (std::uint32_t i = 0; i < s_.predicted_ahead; ++i)
            x = predict_ahead(fmt::format("mtp.{}", i), x, embedded, s_.tied ? embedded : scores);
        return net_.take();
    }

private:
    [[nodiscard]] Tensor words() const { return Tensor{{s_.sequence}}; }

    /// One token further (DeepSeek-V3, arXiv 2412.19437, section 2.2): the blocks' output and the
    /// next token's embedding, side by side, are brought to the width and pass a block, and the
    /// head. It belongs to no block, so that it stays in the head's stage.
    Tensor predict_ahead(
        const std::string& name, const Tensor& in, const Tensor& embedded, const Tensor& scores) {
        const Tensor next = net_.embedding(
            name + ".embed_tokens", words(), s_.vocabulary, s_.hidden,
            {true, TensorSplit::kVocabulary, embedded});
        const Tensor word = net_.rmsnorm(name + ".enorm", next);
        const Tensor state = net_.rmsnorm(name + ".hnorm", in);
        Tensor x = net_.layer(
            {name + ".concat", "concat"}, {word, state}, {s_.sequence, 2ULL * s_.hidden});
        x = net_.linear(name + ".eh_proj", x, s_.hidden, {false});
        x = block(name, x, s_.layers - 1);
        const Tensor out = net_.rmsnorm(name + ".norm", x);
        const Tensor further = head(net_, name + ".lm_head", out, s_.vocabulary, scores);
        net_.loss(name + ".loss", "softmax_loss", {further}, TensorSplit::kVocabulary);
        return x;
    }

    Tensor block(const std::string& name, const Tensor& in, std::uint32_t index) {
        const bool before = s_.norms != NormPlaces::kAfter;
        const bool after = s_.norms != NormPlaces::kBefore;
        Tensor x = before ? net_.rmsnorm(name + ".input_layernorm", in) : in;
        const bool whole = s_.whole_every != 0 && (index + 1) % s_.whole_every == 0;
        x = attention(name + ".self_attn", x, whole ? 0 : s_.window);
        if (after)
            x = net_.rmsnorm(name + ".post_attention_layernorm", x);
        const Tensor half = net_.each_of(name + ".add_1", "add", {in, x});
        x = half;
        if (before)
            x = net_.rmsnorm(
                name + (after ? ".pre_feedforward_layernorm" : ".post_attention_layernorm"), x);
        x = experts_ != nullptr && experts_->has_experts(index)
                ? mixture(name + ".moe", x)
                : dense(
                      name + ".mlp", x,
                      experts_ == nullptr ? s_.feed_forward : experts_->dense_feed_forward);
        if (after)
            x = net_.rmsnorm(name + ".post_feedforward_layernorm", x);
        return net_.each_of(name + ".add_2", "add", {half, x});
    }

    Tensor dense(const std::string& module, const Tensor& in, std::uint64_t inner) {
        return feed_forward(
            net_, {module, "gate_proj", "up_proj", "down_proj"}, in, inner,
            {s_.activation, s_.bias});
    }

    Tensor attention(const std::string& name, const Tensor& in, std::uint32_t window) {
        Heads heads{s_.heads, true, s_.heads, 0, window, s_.sinks};
        const Tensor out =
            s_.latent ? latent(name, in, heads) : own_keys_and_values(name, in, heads);
        return net_.linear(name + ".o_proj", out, s_.hidden, rows_);
    }

    Tensor own_keys_and_values(const std::string& name, const Tensor& in, Heads heads) {
        heads.kv_count = s_.kv_heads == 0 ? s_.heads : s_.kv_heads;
        const std::uint64_t width = s_.head_width == 0 ? s_.hidden / s_.heads : s_.head_width;
        Tensor q = net_.linear(name + ".q_proj", in, s_.heads * width, columns_);
        Tensor k = net_.linear(name + ".k_proj", in, heads.kv_count * width, columns_);
        const Tensor v = net_.linear(name + ".v_proj", in, heads.kv_count * width, columns_);
        q = normed(name + ".q_norm", q, width);
        k = normed(name + ".k_norm", k, width);
        q = net_.each(name + ".q_rotary", "rotary", q, TensorSplit::kHeads);
        k = net_.each(name + ".k_rotary", "rotary", k, TensorSplit::kHeads);
        return net_.attention(name + ".sdpa", {q, k, v}, s_.heads * width, heads);
    }

    Tensor normed(const std::string& name, const Tensor& in, std::uint64_t head_width) {
        if (s_.query_norm == QueryNorm::kNone)
            return in;
        Layer layer{name, "rmsnorm"};
        layer.parameters = s_.query_norm == QueryNorm::kHead ? head_width : in.width();
        layer.split = TensorSplit::kHeads;
        return net_.layer(std::move(layer), {in}, in.shape);
    }

    /// Keys are put together from a part of each head and the part with position, which all heads
    /// share; values are the rest of what the same product gives.
    Tensor latent(const std::string& name, const Tensor& in, Heads heads) {
        const LatentParams& l = *s_.latent;
        heads.score_width = l.plain_width + l.rotary_width;
        Tensor q = in;
        const char* product = ".q_proj";
        if (l.query_rank != 0) {
            q = net_.linear(name + ".q_a_proj", q, l.query_rank, {s_.bias});
            q = net_.rmsnorm(name + ".q_a_layernorm", q);
            product = ".q_b_proj";
        }
        q = net_.linear(name + product, q, s_.heads * heads.score_width, columns_);
        q = net_.each(name + ".q_rotary", "rotary", q, TensorSplit::kHeads);
        const Tensor narrow = net_.linear(
            name + ".kv_a_proj", in, std::uint64_t{l.key_value_rank} + l.rotary_width, {s_.bias});
        const Tensor normed = net_.layer(
            {name + ".kv_a_layernorm", "rmsnorm", l.key_value_rank}, {narrow},
            {s_.sequence, l.key_value_rank});
        const Tensor turned =
            net_.layer({name + ".k_rotary", "rotary"}, {narrow}, {s_.sequence, l.rotary_width});
        const Tensor wide = net_.linear(
            name + ".kv_b_proj", normed, std::uint64_t{s_.heads} * (l.plain_width + l.value_width),
            columns_);
        const Tensor k = of_heads(name + ".keys", "concat", {wide, turned}, heads.score_width);
        const Tensor v = of_heads(name + ".values", "slice", {wide}, l.value_width);
        return net_.attention(
            name + ".sdpa", {q, k, v}, std::uint64_t{s_.heads} * l.value_width, heads);
    }

    Tensor of_heads(
        const std::string& name, const char* type, const std::vector<Tensor>& in,
        std::uint64_t width) {
        Layer layer{name, type};
        layer.split = TensorSplit::kHeads;
        return net_.layer(std::move(layer), in, {s_.sequence, s_.heads * width});
    }

    /// A product of every expert with its tokens.
    Tensor experts(std::string name, const Tensor& in, std::uint64_t width) {
        Layer layer{std::move(name), "linear"};
        layer.parameters = experts_->experts * (in.width() + (s_.bias ? 1 : 0)) * width;
        layer.macs = in.elements() * width;
        layer.split = TensorSplit::kExperts;
        layer.groups = experts_->experts;
        return net_.layer(std::move(layer), {in}, {in.shape[0], width});
    }

    /// Router, dispatch of the tokens to experts, the experts, and the weighted sum; beside it the
    /// experts of all tokens.
    Tensor mixture(const std::string& name, const Tensor& in) {
        const std::uint64_t chosen = std::uint64_t{s_.sequence} * experts_->top_k;
        const Tensor scores = net_.linear(name + ".router", in, experts_->experts, {s_.bias});
        const Tensor choice =
            net_.layer({name + ".topk", "topk"}, {scores}, {s_.sequence, experts_->top_k});
        const Tensor x =
            net_.layer({name + ".dispatch", "dispatch"}, {in, choice}, {chosen, s_.hidden});
        const std::string function = function_of(s_.activation);
        const bool gated = is_gated(s_.activation);
        Tensor y = gated ? experts(name + ".gate_proj", x, s_.feed_forward) : x;
        const Tensor up = experts(name + ".up_proj", x, s_.feed_forward);
        y = net_.each(name + "." + function, function, gated ? y : up, TensorSplit::kExperts);
        if (gated)
            y = net_.each_of(name + ".mul", "mul", {y, up}, TensorSplit::kExperts);
        y = experts(name + ".down_proj", y, s_.hidden);
        y = net_.layer({name + ".combine", "combine"}, {y, choice}, in.shape);
        if (experts_->shared_width == 0)
            return y;
        const Tensor all = dense(name + ".shared_experts", in, experts_->shared_width);
        return net_.each_of(name + ".add", "add", {y, all});
    }

    NetworkBuilder net_;
    const LlamaShape& s_;
    const MixtureShape* experts_;
    Weights columns_;
    Weights rows_;
};

}  // namespace

Network rotary_decoder(std::string name, const LlamaShape& shape, const MixtureShape* experts) {
    return RotaryDecoder(std::move(name), shape, experts).build();
}

}  // namespace switchfold
