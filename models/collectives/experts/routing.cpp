// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/routing.h"

#include "core/random_stream.h"
#include "models/collectives/experts/split_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

/// Draws distinct experts by weight: if one is taken, the next free one is used.
class Drawer {
public:
    explicit Drawer(const ExpertExchange& exchange) {
        if (exchange.routing != ExpertRouting::kSkewed)
            return;
        constexpr double kWhole = 4294967296.0;
        std::uint64_t sum = 0;
        for (std::uint32_t expert = 0; expert < exchange.experts; ++expert) {
            const double weight = std::pow(expert + 1.0, -exchange.skew);
            sum += static_cast<std::uint64_t>(weight * kWhole) + 1;
            sums_.push_back(sum);
        }
    }
    std::uint32_t draw(RandomStream& random, std::uint32_t experts) const {
        if (sums_.empty())
            return static_cast<std::uint32_t>(random.below(experts));
        const std::uint64_t at = random.below(sums_.back());
        return static_cast<std::uint32_t>(
            std::upper_bound(sums_.begin(), sums_.end(), at) - sums_.begin());
    }

private:
    std::vector<std::uint64_t> sums_;
};

/// As in TensorRT-LLM's benchmark (collect_trtllm_alltoall.py): if there are more ranks than
/// experts per token, the token goes to top_k neighbouring ranks, and groups of such ranks take
/// turns; otherwise its experts rotate over all ranks.
std::uint32_t balanced(
    const ExpertExchange& exchange, std::uint32_t ranks, std::uint32_t token, std::uint32_t k) {
    const std::uint32_t each = exchange.experts / ranks;
    const std::uint32_t groups = std::max(1U, ranks / exchange.top_k);
    const std::uint32_t rank = (token % groups * exchange.top_k + k) % ranks;
    // The k-th expert on a rank, rotating from token to token.
    return rank * each + (token / groups + k / ranks) % each;
}

}  // namespace

TokenCounts token_counts(const ExpertExchange& exchange, std::uint32_t ranks, std::uint32_t rank) {
    if (exchange.splits.empty())
        return {exchange.tokens, std::uint64_t{exchange.tokens} * exchange.top_k};
    return tokens_of_splits(exchange, ranks, rank);
}

std::vector<std::uint32_t>
choose_experts_of(const ExpertExchange& exchange, std::uint32_t ranks, std::uint32_t rank) {
    RandomStream random(exchange.seed, fmt::format("experts of rank {}", rank));
    if (!exchange.splits.empty())
        return choose_by_splits(exchange, ranks, rank, random);
    const Drawer drawer(exchange);
    std::vector<std::uint32_t> chosen;
    chosen.reserve(std::size_t{exchange.tokens} * exchange.top_k);
    for (std::uint32_t token = 0; token < exchange.tokens; ++token) {
        const auto begin = static_cast<std::ptrdiff_t>(chosen.size());
        for (std::uint32_t k = 0; k < exchange.top_k; ++k) {
            if (exchange.routing == ExpertRouting::kBalanced) {
                chosen.push_back(balanced(exchange, ranks, token, k));
                continue;
            }
            std::uint32_t expert = drawer.draw(random, exchange.experts);
            const bool skewed = exchange.routing == ExpertRouting::kSkewed;
            while (std::find(chosen.begin() + begin, chosen.end(), expert) != chosen.end())
                expert = skewed ? (expert + 1) % exchange.experts
                                : drawer.draw(random, exchange.experts);
            chosen.push_back(expert);
        }
    }
    return chosen;
}

std::vector<std::uint32_t> rows_of_ranks(const ExpertExchange& exchange, std::uint32_t ranks) {
    if (!exchange.splits.empty())
        return exchange.splits;
    const std::uint32_t each = std::max(1U, exchange.experts / ranks);
    std::vector<std::uint32_t> rows(std::size_t{ranks} * ranks);
    for (std::uint32_t from = 0; from < ranks; ++from)
        for (const std::uint32_t expert : choose_experts_of(exchange, ranks, from))
            ++rows[std::size_t{from} * ranks + expert / each];
    return rows;
}

Routing::Routing(const ExpertExchange& exchange, std::uint32_t ranks) :
    ranks_(ranks), by_rank_(ranks), pairs_(std::size_t{ranks} * ranks) {
    const std::uint32_t each = std::max(1U, exchange.experts / ranks);
    std::vector<std::uint16_t> of_token;
    for (std::uint32_t from = 0; from < ranks; ++from) {
        const std::vector<std::uint32_t> experts = choose_experts_of(exchange, ranks, from);
        const TokenCounts counts = token_counts(exchange, ranks, from);
        Rank& rank = by_rank_[from];
        rank.first.reserve(counts.tokens + std::size_t{1});
        rank.first.push_back(0);
        for (std::uint32_t token = 0; token < counts.tokens; ++token) {
            of_token.clear();
            for (std::uint64_t i = counts.first(token); i < counts.first(token + 1); ++i)
                of_token.push_back(static_cast<std::uint16_t>(experts[i] / each));
            std::sort(of_token.begin(), of_token.end());
            of_token.erase(std::unique(of_token.begin(), of_token.end()), of_token.end());
            for (const std::uint16_t to : of_token)
                pairs_[std::size_t{from} * ranks_ + to].push_back(token);
            rank.to.insert(rank.to.end(), of_token.begin(), of_token.end());
            rank.first.push_back(static_cast<std::uint32_t>(rank.to.size()));
        }
    }
}

std::uint64_t Routing::received(std::uint32_t to) const {
    std::uint64_t sum = 0;
    for (std::uint32_t from = 0; from < ranks_; ++from)
        sum += tokens_to(from, to).size();
    return sum;
}

std::uint64_t Routing::busiest() const {
    std::uint64_t most = 0;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
        most = std::max({most, sent(rank), received(rank)});
    return most;
}

}  // namespace switchfold
