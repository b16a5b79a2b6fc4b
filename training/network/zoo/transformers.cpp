// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::zoo {

namespace of_transformers {

const Weights kColumns{true, TensorSplit::kColumns};
const Weights kRows{true, TensorSplit::kRows};

/// Attention with queries from one tensor, keys and values from another; `out` names the output
/// projection.
Tensor attend(
    NetworkBuilder& net, const std::string& name, const std::string& out, const Tensor& in,
    const Tensor& memory, const Heads& heads) {
    const Tensor q = net.linear(name + "q", in, in.width(), kColumns);
    const Tensor k = net.linear(name + "k", memory, in.width(), kColumns);
    const Tensor v = net.linear(name + "v", memory, in.width(), kColumns);
    const Tensor x = net.attention(name + "sdpa", {q, k, v}, in.width(), heads);
    return net.linear(name + out, x, in.width(), kRows);
}

/// Vaswani et al. 2017 (arXiv 1706.03762): post-norm, one matrix for both embeddings and the head;
/// sequences of 64 and 64 tokens.
class Vaswani {
public:
    Vaswani(std::string name, std::uint64_t width, std::uint64_t inner, std::uint32_t heads) :
        net_(std::move(name), kTokens), width_(width), inner_(inner), heads_(heads) {}

    Network make() {
        const Tensor words{{kTokens}};
        const Tensor source =
            net_.embedding("embed", words, kVocabulary, width_, {true, TensorSplit::kVocabulary});
        Tensor memory = source;
        for (std::uint32_t i = 0; i < kBlocks; ++i)
            memory = encoder(fmt::format("encoder.{}", i), memory);
        net_.end_block();
        const Weights shared{false, TensorSplit::kVocabulary, source};
        Tensor x = net_.embedding("target_embed", words, kVocabulary, width_, shared);
        for (std::uint32_t i = 0; i < kBlocks; ++i)
            x = decoder(fmt::format("decoder.{}", i), x, memory);
        net_.end_block();
        x = net_.linear("head", x, kVocabulary, shared);
        net_.loss("loss", "softmax_loss", {x}, TensorSplit::kVocabulary);
        return net_.take();
    }

private:
    static constexpr std::uint64_t kTokens = 64;
    static constexpr std::uint64_t kVocabulary = 37'000;
    static constexpr std::uint32_t kBlocks = 6;

    Tensor
    sum_and_norm(const std::string& name, std::uint32_t n, const Tensor& in, const Tensor& x) {
        const Tensor sum = net_.each_of(fmt::format("{}.add{}", name, n), "add", {in, x});
        return net_.layernorm(fmt::format("{}.norm{}", name, n), sum);
    }
    Tensor feed_forward(const std::string& name, const Tensor& in) {
        Tensor x = net_.linear(name + ".ffn.0", in, inner_, kColumns);
        x = net_.each(name + ".ffn.relu", "relu", x, TensorSplit::kHeads);
        return net_.linear(name + ".ffn.2", x, width_, kRows);
    }
    Tensor encoder(const std::string& name, const Tensor& in) {
        net_.begin_block();
        Tensor x = attend(net_, name + ".self.", "out", in, in, {heads_});
        x = sum_and_norm(name, 1, in, x);
        return sum_and_norm(name, 2, x, feed_forward(name, x));
    }
    Tensor decoder(const std::string& name, const Tensor& in, const Tensor& memory) {
        net_.begin_block();
        Tensor x = attend(net_, name + ".self.", "out", in, in, {heads_, true});
        const Tensor own = sum_and_norm(name, 1, in, x);
        x = attend(net_, name + ".cross.", "out", own, memory, {heads_});
        x = sum_and_norm(name, 2, own, x);
        return sum_and_norm(name, 3, x, feed_forward(name, x));
    }

    NetworkBuilder net_;
    std::uint64_t width_;
    std::uint64_t inner_;
    std::uint32_t heads_;
};

/// ntueclab/SpecTrain-PyTorch (MIT). Both residual sums of a block add the block's input, as in
/// that code.
Network imdb_transformer() {
    constexpr std::uint64_t kWords = 200;
    constexpr std::uint64_t kVocabulary = 10'000;
    constexpr std::uint64_t kWidth = 128;
    constexpr std::uint32_t kHeads = 4;
    constexpr std::uint32_t kBlocks = 3;
    NetworkBuilder net("imdb_transformer", kWords);
    const Tensor embedded = net.embedding("embeddings", {{kWords}}, kVocabulary, kWidth);
    Tensor x = net.linear("emb_ff", embedded, kWidth);
    // A matrix times one-hot position vectors, which are not an input of the sample.
    Layer positions{"pos", "linear", kWords * kWidth + kWidth, kWords * kWords * kWidth};
    x = net.each_of("pos_add", "add", {x, net.layer(std::move(positions), {}, x.shape)});
    for (std::uint32_t i = 0; i < kBlocks; ++i) {
        net.begin_block();
        const std::string name = fmt::format("block{}.", i);
        const Tensor in = x;
        x = attend(net, name, "joint", in, in, {kHeads});
        x = net.each(name + "attention_dropout", "dropout", x);
        x = net.each_of(name + "add1", "add", {x, in});
        x = net.layernorm(name + "attention_norm", x);
        x = net.linear(name + "ff.0", x, kWidth, kColumns);
        x = net.each(name + "ff.relu", "relu", x, TensorSplit::kHeads);
        x = net.linear(name + "ff.2", x, kWidth, kRows);
        x = net.each(name + "ff.dropout", "dropout", x);
        x = net.each_of(name + "add2", "add", {x, in});
        x = net.layernorm(name + "ff_norm", x);
    }
    net.end_block();
    x = net.layer({"mean", "avgpool"}, {x}, {1, kWidth});
    x = net.linear("output", x, 2);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

constexpr std::array kEntries{
    Entry{"transformer_base", [] { return Vaswani("transformer_base", 512, 2048, 8).make(); }},
    Entry{"transformer_big", [] { return Vaswani("transformer_big", 1024, 4096, 16).make(); }},
    Entry{"imdb_transformer", imdb_transformer}};

}  // namespace of_transformers

std::span<const Entry> transformers() {
    return of_transformers::kEntries;
}

}  // namespace switchfold::zoo
