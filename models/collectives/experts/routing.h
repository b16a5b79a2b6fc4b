// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/experts/token_counts.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace switchfold {

/// `top_k` experts for each token; with splits, the fewest tokens that have so many rows.
[[nodiscard]] TokenCounts
token_counts(const ExpertExchange& exchange, std::uint32_t ranks, std::uint32_t rank);

/// Experts chosen by the tokens of one rank, distinct for each token, in the order drawn. Random
/// choices derive from the exchange's seed and the rank.
[[nodiscard]] std::vector<std::uint32_t>
choose_experts_of(const ExpertExchange& exchange, std::uint32_t ranks, std::uint32_t rank);

/// Rows that each rank's tokens have at each rank's experts, one for each choice.
[[nodiscard]] std::vector<std::uint32_t>
rows_of_ranks(const ExpertExchange& exchange, std::uint32_t ranks);

/// Destinations of all tokens of an exchange. A token goes once to each distinct rank among its
/// experts' ranks.
class Routing {
public:
    Routing(const ExpertExchange& exchange, std::uint32_t ranks);

    [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
    /// Tokens of a rank.
    [[nodiscard]] std::uint32_t tokens(std::uint32_t from) const {
        return static_cast<std::uint32_t>(by_rank_[from].first.size() - 1);
    }
    /// Destination ranks of a token of `from`, ascending.
    [[nodiscard]] std::span<const std::uint16_t>
    destinations(std::uint32_t from, std::uint32_t token) const {
        const Rank& rank = by_rank_[from];
        return {rank.to.data() + rank.first[token], rank.to.data() + rank.first[token + 1]};
    }
    /// Tokens of `from` that go to `to`, ascending.
    [[nodiscard]] std::span<const std::uint32_t>
    tokens_to(std::uint32_t from, std::uint32_t to) const {
        return pairs_[std::size_t{from} * ranks_ + to];
    }
    /// Number of tokens that arrive at a rank.
    [[nodiscard]] std::uint64_t received(std::uint32_t to) const;
    /// Number of token copies that a rank sends, including those to itself.
    [[nodiscard]] std::uint64_t sent(std::uint32_t from) const { return by_rank_[from].to.size(); }
    /// The most copies that any rank sends or receives.
    [[nodiscard]] std::uint64_t busiest() const;

private:
    struct Rank {
        std::vector<std::uint32_t> first;  ///< by token, index into `to`; one more than tokens
        std::vector<std::uint16_t> to;
    };
    void find_destinations(
        const ExpertExchange& exchange, const std::vector<std::uint16_t>& rank_of,
        std::uint32_t from);

    std::uint32_t ranks_;
    std::vector<Rank> by_rank_;
    std::vector<std::vector<std::uint32_t>> pairs_;  ///< by sender and receiver
};

}  // namespace switchfold
