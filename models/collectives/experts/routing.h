// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace switchfold {

/// Experts chosen by the tokens of one rank: `top_k` per token, distinct, in the order drawn.
/// Random choices derive from the exchange's seed and the rank.
[[nodiscard]] std::vector<std::uint32_t>
choose_experts_of(const ExpertExchange& exchange, std::uint32_t ranks, std::uint32_t rank);

/// Destinations of all tokens of an exchange. A token goes once to each distinct rank among its
/// experts' ranks.
class Routing {
public:
    Routing(const ExpertExchange& exchange, std::uint32_t ranks);

    [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
    [[nodiscard]] std::uint32_t tokens() const { return tokens_; }
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
    std::uint32_t ranks_;
    std::uint32_t tokens_;
    std::vector<Rank> by_rank_;
    std::vector<std::vector<std::uint32_t>> pairs_;  ///< by sender and receiver
};

}  // namespace switchfold
