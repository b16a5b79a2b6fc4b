// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/routing.h"

#include "core/random_stream.h"
#include "models/collectives/experts/split_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

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

/// Ranks whose tokens' destinations fit into the bits of a word.
constexpr std::uint32_t kBits = 64;

using RankOf = std::vector<std::uint16_t>;  ///< by expert

/// Appends the ranks of some experts, ascending, each once.
void append_by_bits(
    std::span<const std::uint32_t> experts, const RankOf& rank_of, std::vector<std::uint16_t>& to) {
    std::uint64_t ranks = 0;
    for (const std::uint32_t expert : experts)
        ranks |= std::uint64_t{1} << rank_of[expert];
    for (; ranks != 0; ranks &= ranks - 1)
        to.push_back(static_cast<std::uint16_t>(std::countr_zero(ranks)));
}
void append_sorted(
    std::span<const std::uint32_t> experts, const RankOf& rank_of, std::vector<std::uint16_t>& to) {
    const auto first = static_cast<std::ptrdiff_t>(to.size());
    for (const std::uint32_t expert : experts)
        to.push_back(rank_of[expert]);
    std::sort(to.begin() + first, to.end());
    to.erase(std::unique(to.begin() + first, to.end()), to.end());
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
    std::vector<std::uint16_t> rank_of(std::max(exchange.experts, ranks));
    for (std::uint32_t expert = 0; expert < rank_of.size(); ++expert)
        rank_of[expert] = static_cast<std::uint16_t>(expert / each);
    std::vector<std::uint32_t> sent(ranks);
    for (std::uint32_t from = 0; from < ranks; ++from) {
        find_destinations(exchange, rank_of, from);
        const Rank& rank = by_rank_[from];
        std::fill(sent.begin(), sent.end(), 0);
        for (const std::uint16_t to : rank.to)
            ++sent[to];
        for (std::uint32_t to = 0; to < ranks; ++to)
            pairs_[std::size_t{from} * ranks + to].reserve(sent[to]);
        for (std::uint32_t token = 0; token + 1 < rank.first.size(); ++token)
            for (const std::uint16_t to : destinations(from, token))
                pairs_[std::size_t{from} * ranks + to].push_back(token);
    }
}

void Routing::find_destinations(
    const ExpertExchange& exchange, const std::vector<std::uint16_t>& rank_of, std::uint32_t from) {
    const std::vector<std::uint32_t> experts = choose_experts_of(exchange, ranks_, from);
    const TokenCounts counts = token_counts(exchange, ranks_, from);
    Rank& rank = by_rank_[from];
    rank.first.reserve(counts.tokens + std::size_t{1});
    rank.first.push_back(0);
    rank.to.reserve(experts.size());
    for (std::uint32_t token = 0; token < counts.tokens; ++token) {
        const auto chosen = std::span(experts).subspan(
            counts.first(token), counts.first(token + 1) - counts.first(token));
        if (ranks_ <= kBits)
            append_by_bits(chosen, rank_of, rank.to);
        else
            append_sorted(chosen, rank_of, rank.to);
        rank.first.push_back(static_cast<std::uint32_t>(rank.to.size()));
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
