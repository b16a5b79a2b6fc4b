// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::zoo {

namespace of_encoders {

constexpr std::uint64_t kHidden = 1024;
constexpr std::uint64_t kInner = 4096;
constexpr std::uint32_t kHeads = 16;
constexpr std::uint32_t kBlocks = 24;
const Weights kColumns{true, TensorSplit::kColumns};
const Weights kRows{true, TensorSplit::kRows};

/// Post-norm: a norm follows each sum.
Tensor bert_block(NetworkBuilder& net, const std::string& name, const Tensor& in) {
    const std::string self = name + ".attention.self";
    const Tensor q = net.linear(self + ".query", in, kHidden, kColumns);
    const Tensor k = net.linear(self + ".key", in, kHidden, kColumns);
    const Tensor v = net.linear(self + ".value", in, kHidden, kColumns);
    Tensor x = net.attention(self + ".sdpa", {q, k, v}, kHidden, {kHeads});
    x = net.linear(name + ".attention.output.dense", x, kHidden, kRows);
    x = net.each_of(name + ".attention.output.add", "add", {in, x});
    const Tensor half = net.layernorm(name + ".attention.output.LayerNorm", x);
    x = net.linear(name + ".intermediate.dense", half, kInner, kColumns);
    x = net.each(name + ".intermediate.gelu", "gelu", x, TensorSplit::kHeads);
    x = net.linear(name + ".output.dense", x, kHidden, kRows);
    x = net.each_of(name + ".output.add", "add", {half, x});
    return net.layernorm(name + ".output.LayerNorm", x);
}

/// Devlin et al. 2018 (arXiv 1810.04805), uncased, without the pre-training heads.
Network bert_large() {
    constexpr std::uint64_t kTokens = 512;
    constexpr std::uint64_t kVocabulary = 30'522;
    constexpr std::uint64_t kTokenTypes = 2;
    NetworkBuilder net("bert_large", kTokens);
    const Tensor words{{kTokens}};
    Tensor x = net.each_of(
        "embeddings.add", "add",
        {net.embedding(
             "embeddings.word", words, kVocabulary, kHidden, {true, TensorSplit::kVocabulary}),
         net.embedding("embeddings.position", words, kTokens, kHidden),
         net.embedding("embeddings.token_type", words, kTokenTypes, kHidden)});
    x = net.layernorm("embeddings.LayerNorm", x);
    for (std::uint32_t i = 0; i < kBlocks; ++i) {
        net.begin_block();
        x = bert_block(net, fmt::format("encoder.layer.{}", i), x);
    }
    net.end_block();
    x = net.layer({"pooler.take_first", "slice"}, {x}, {1, kHidden});
    x = net.linear("pooler.dense", x, kHidden);
    net.each("pooler.tanh", "tanh", x);
    return net.take();
}

/// Pre-norm: norms precede attention and feed-forward.
Tensor vit_block(NetworkBuilder& net, const std::string& name, const Tensor& in) {
    Tensor x = net.layernorm(name + ".ln_1", in);
    x = net.linear(name + ".attn.in_proj", x, 3 * kHidden, kColumns);
    x = net.attention(name + ".attn.sdpa", {x}, kHidden, {kHeads});
    x = net.linear(name + ".attn.out_proj", x, kHidden, kRows);
    const Tensor half = net.each_of(name + ".add_1", "add", {in, x});
    x = net.layernorm(name + ".ln_2", half);
    x = net.linear(name + ".mlp.0", x, kInner, kColumns);
    x = net.each(name + ".mlp.gelu", "gelu", x, TensorSplit::kHeads);
    x = net.linear(name + ".mlp.3", x, kHidden, kRows);
    return net.each_of(name + ".add_2", "add", {half, x});
}

/// Dosovitskiy et al. 2020 (arXiv 2010.11929), torchvision's: 16 x 16 patches and a class token.
Network vit_l_16() {
    constexpr std::uint64_t kPatch = 16;
    NetworkBuilder net("vit_l_16", 14 * 14 + 1);
    Tensor x = net.conv("conv_proj", {{3, 224, 224}}, kHidden, Window::square(kPatch, kPatch));
    const std::uint64_t tokens = x.shape[1] * x.shape[2] + 1;
    x = net.layer({"tokens", "concat", kHidden}, {x}, {tokens, kHidden});
    x = net.layer({"pos_embedding", "add", tokens * kHidden}, {x}, x.shape);
    for (std::uint32_t i = 0; i < kBlocks; ++i) {
        net.begin_block();
        x = vit_block(net, fmt::format("encoder.{}", i), x);
    }
    net.end_block();
    x = net.layernorm("encoder.ln", x);
    x = net.layer({"take_first", "slice"}, {x}, {1, kHidden});
    x = net.linear("head", x, 1000);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

constexpr std::array kEntries{Entry{"bert_large", bert_large}, Entry{"vit_l_16", vit_l_16}};

}  // namespace of_encoders

std::span<const Entry> encoders() {
    return of_encoders::kEntries;
}

}  // namespace switchfold::zoo
