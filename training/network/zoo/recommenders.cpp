// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"

#include <fmt/format.h>

#include <array>
#include <initializer_list>

namespace switchfold::zoo {

namespace of_recommenders {

/// Distinct values of Criteo Terabyte's 26 categories, indices modulo 40 million: MLPerf's DLRM
/// (facebookresearch/dlrm, bench/run_and_time.sh, --max-ind-range=40000000).
constexpr std::array<std::uint64_t, 26> kRows{
    39'884'406, 39'043,     17'289,     7420,       20'263,  3,      7120, 1543, 63,
    38'532'951, 2'953'546,  403'346,    10,         2208,    11'938, 155,  4,    976,
    14,         39'979'771, 25'641'295, 39'664'984, 585'935, 12'972, 108,  36};
constexpr std::uint64_t kWidth = 128;
constexpr std::uint64_t kDense = 13;

Tensor perceptron(
    NetworkBuilder& net, const std::string& name, Tensor x,
    std::initializer_list<std::uint64_t> widths, const char* last) {
    std::uint32_t n = 0;
    for (const std::uint64_t width : widths) {
        x = net.linear(fmt::format("{}.{}", name, n++), x, width);
        const char* activation = n == widths.size() ? last : "relu";
        x = net.each(fmt::format("{}.{}", name, n++), activation, x);
    }
    return x;
}

/// Naumov et al. 2019 (arXiv 1906.00091) with MLPerf's sizes: pairwise products of the 26
/// embeddings and the dense features' vector enter the last perceptron together with that vector.
Network dlrm() {
    NetworkBuilder net("dlrm");
    const Tensor dense = perceptron(net, "bot_l", {{kDense}}, {512, 256, kWidth}, "relu");
    std::vector<Tensor> vectors{dense};
    for (std::size_t i = 0; i < kRows.size(); ++i) {
        const Tensor row = net.embedding(fmt::format("emb_l.{}", i), {{1}}, kRows[i], kWidth);
        vectors.push_back(row);
    }
    const std::uint64_t count = vectors.size();
    // One product of all vectors with each other; the part above the diagonal is kept.
    Layer pairs{"interaction", "interaction", 0, count * count * kWidth};
    Tensor x = net.layer(std::move(pairs), vectors, {kWidth + count * (count - 1) / 2});
    x = perceptron(net, "top_l", x, {1024, 1024, 512, 256, 1}, "sigmoid");
    net.loss("loss", "bce_loss", {x});
    return net.take();
}

constexpr std::array kEntries{Entry{"dlrm", dlrm}};

}  // namespace of_recommenders

std::span<const Entry> recommenders() {
    return of_recommenders::kEntries;
}

}  // namespace switchfold::zoo
