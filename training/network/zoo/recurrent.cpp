// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::zoo {

namespace of_recurrent {

/// Merity et al. 2017 (arXiv 1708.02182) on Penn Treebank; the head shares the embedding's weights.
Network awd_lm() {
    constexpr std::uint64_t kTokens = 70;
    constexpr std::uint64_t kVocabulary = 10'000;
    constexpr std::uint64_t kWidth = 400;
    constexpr std::uint64_t kHidden = 1150;
    NetworkBuilder net("awd_lm", kTokens);
    const Tensor embedded = net.embedding("encoder", {{kTokens}}, kVocabulary, kWidth);
    Tensor x = net.lstm("rnn0", {embedded}, kHidden);
    x = net.lstm("rnn1", {x}, kHidden);
    x = net.lstm("rnn2", {x}, kWidth);
    Weights shared;
    shared.shares = embedded;
    x = net.linear("decoder", x, kVocabulary, shared);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

/// Venugopalan et al. 2015 (arXiv 1505.00487): 80 frames as vectors of 4,096 (VGG's fc7) and 80
/// words. The vocabulary is not stated: 46,168 gives the 349 MB of arXiv 1806.03377.
Network s2vt() {
    constexpr std::uint64_t kTokens = 80;
    constexpr std::uint64_t kVocabulary = 46'168;
    constexpr std::uint64_t kEmbedding = 500;
    constexpr std::uint64_t kHidden = 1000;
    constexpr std::uint64_t kBiases = 1;  // Caffe's LSTM
    NetworkBuilder net("s2vt", kTokens);
    const Tensor frames = net.linear("frame_embed", {{kTokens, 4096}}, kEmbedding);
    const Tensor words = net.embedding("word_embed", {{kTokens}}, kVocabulary, kEmbedding);
    Tensor x = net.lstm("lstm1", {frames}, kHidden, kBiases);
    x = net.lstm("lstm2", {x, words}, kHidden, kBiases);
    x = net.linear("predict", x, kVocabulary);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

/// ntueclab/SpecTrain-PyTorch (MIT): stages of an LSTM and a projection with a shortcut.
Network imdb_residual_lstm() {
    constexpr std::uint64_t kWords = 200;
    constexpr std::uint64_t kVocabulary = 10'000;
    constexpr std::uint64_t kWidth = 128;
    constexpr std::uint32_t kStages = 4;
    NetworkBuilder net("imdb_residual_lstm", kWords);
    Tensor x = net.embedding("embeddings", {{kWords}}, kVocabulary, kWidth);
    for (std::uint32_t i = 0; i < kStages; ++i) {
        net.begin_block();
        const std::string name = fmt::format("stage{}", i);
        Tensor y = net.lstm(name + ".lstm", {x}, kWidth);
        y = net.linear(name + ".projection", y, kWidth);
        x = net.each_of(name + ".add", "add", {y, x});
    }
    net.end_block();
    x = net.layer({"mean", "avgpool"}, {x}, {1, kWidth});
    x = net.linear("output", x, 2);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

constexpr std::array kEntries{
    Entry{"awd_lm", awd_lm}, Entry{"s2vt", s2vt}, Entry{"imdb_residual_lstm", imdb_residual_lstm}};

}  // namespace of_recurrent

std::span<const Entry> recurrent() {
    return of_recurrent::kEntries;
}

}  // namespace switchfold::zoo
