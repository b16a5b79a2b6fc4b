// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::zoo {

namespace of_gnmt {

constexpr std::uint64_t kTokens = 50;  // of the source and of the target each
constexpr std::uint64_t kVocabulary = 32'320;
constexpr std::uint64_t kHidden = 1024;

/// Normalised Bahdanau attention: one matrix each for queries and keys, without biases; the vector
/// that scores their sum, a bias, and the norm.
Tensor attention(NetworkBuilder& net, const Tensor& query, const Tensor& memory) {
    Layer layer{"decoder.attn", "linear"};
    layer.parameters = 2 * kHidden * kHidden + 2 * kHidden + 1;
    layer.macs = (query.elements() + memory.elements()) * kHidden;
    return net.layer(std::move(layer), {query, memory}, query.shape);
}

/// One bidirectional layer, one layer over both directions, then layers with residuals.
Tensor encoder(NetworkBuilder& net, const Tensor& in, std::uint32_t layers) {
    const Tensor forward = net.lstm("encoder.rnn0.fwd", {in}, kHidden);
    const Tensor reverse = net.lstm("encoder.rnn0.rev", {in}, kHidden);
    Tensor x = net.lstm("encoder.rnn1.fwd", {forward, reverse}, kHidden);
    for (std::uint32_t i = 2; i < layers; ++i) {
        const Tensor y = net.lstm(fmt::format("encoder.rnn{}.fwd", i), {x}, kHidden);
        x = net.each_of(fmt::format("encoder.add{}", i), "add", {x, y});
    }
    return x;
}

/// Every layer reads the attention and the previous layer.
Tensor decoder(NetworkBuilder& net, const Tensor& in, const Tensor& memory, std::uint32_t layers) {
    const Tensor first = net.lstm("decoder.att_rnn.fwd", {in}, kHidden);
    const Tensor attended = attention(net, first, memory);
    Tensor x = net.lstm("decoder.rnn0.fwd", {first, attended}, kHidden);
    for (std::uint32_t i = 1; i + 1 < layers; ++i) {
        const Tensor y = net.lstm(fmt::format("decoder.rnn{}.fwd", i), {x, attended}, kHidden);
        x = net.each_of(fmt::format("decoder.add{}", i), "add", {x, y});
    }
    return x;
}

/// Wu et al. 2016 (arXiv 1609.08144) as in MLPerf, with `layers` layers each in encoder and
/// decoder. MLPerf's own model of 4 shares one embedding between the languages; PipeDream's, which
/// counts the layers of both, does not.
Network gnmt(std::string name, std::uint32_t layers, bool one_embedding) {
    NetworkBuilder net(std::move(name), kTokens);
    const Tensor words{{kTokens}};
    const Tensor source = net.embedding("embedder", words, kVocabulary, kHidden);
    const Tensor memory = encoder(net, source, layers);
    Weights weights;
    if (one_embedding)
        weights.shares = source;
    const Tensor target = net.embedding("target_embedder", words, kVocabulary, kHidden, weights);
    Tensor x = decoder(net, target, memory, layers);
    x = net.linear("decoder.classifier", x, kVocabulary);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

constexpr std::array kEntries{
    Entry{"gnmt_4layer", [] { return gnmt("gnmt_4layer", 4, true); }},
    Entry{"gnmt_8layer", [] { return gnmt("gnmt_8layer", 4, false); }},
    Entry{"gnmt_16layer", [] { return gnmt("gnmt_16layer", 8, false); }}};

}  // namespace of_gnmt

std::span<const Entry> gnmts() {
    return of_gnmt::kEntries;
}

}  // namespace switchfold::zoo
