// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/split_choices.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace switchfold {

namespace {

std::span<const std::uint32_t>
rows_of(const ExpertExchange& exchange, std::uint32_t ranks, std::uint32_t rank) {
    return {exchange.splits.data() + std::size_t{rank} * ranks, ranks};
}

std::uint64_t sum_of(std::span<const std::uint32_t> rows) {
    std::uint64_t sum = 0;
    for (const std::uint32_t row : rows)
        sum += row;
    return sum;
}

/// Destination ranks of a rank's choices, token by token. A token has at most as many choices of a
/// rank as that has experts.
class Destinations {
public:
    Destinations(TokenCounts counts, std::uint32_t each, std::span<const std::uint32_t> rows) :
        counts_(counts), each_(each), to_(counts.choices) {
        // Dealt out in turn, what goes to one rank is spread over the tokens as evenly as can be.
        std::uint64_t dealt = 0;
        for (std::uint32_t to = 0; to < rows.size(); ++to)
            for (std::uint32_t i = 0; i < rows[to]; ++i, ++dealt)
                to_[counts.first(static_cast<std::uint32_t>(dealt % counts.tokens)) +
                    dealt / counts.tokens] = to;
    }
    /// Exchanges choices of random tokens, as a shuffle does, where both tokens still have an
    /// expert for each.
    void shuffle(RandomStream& random) {
        for (std::uint64_t i = to_.size(); i-- > 1;) {
            const std::uint64_t other = random.below(i + 1);
            if (fits(i, to_[other]) && fits(other, to_[i]))
                std::swap(to_[i], to_[other]);
        }
    }
    [[nodiscard]] std::span<const std::uint32_t> of_token(std::uint32_t token) const {
        return {to_.data() + counts_.first(token), to_.data() + counts_.first(token + 1)};
    }

private:
    [[nodiscard]] bool fits(std::uint64_t choice, std::uint32_t to) const {
        const auto all = of_token(counts_.token_of(choice));
        return to_[choice] == to || std::count(all.begin(), all.end(), to) < each_;
    }

    TokenCounts counts_;
    std::uint32_t each_;
    std::vector<std::uint32_t> to_;
};

}  // namespace

TokenCounts
tokens_of_splits(const ExpertExchange& exchange, std::uint32_t ranks, std::uint32_t rank) {
    const auto rows = rows_of(exchange, ranks, rank);
    const std::uint32_t each = std::max(1U, exchange.experts / ranks);
    TokenCounts counts;
    counts.choices = sum_of(rows);
    std::uint64_t tokens = (counts.choices + exchange.top_k - 1) / exchange.top_k;
    for (const std::uint32_t row : rows)
        tokens = std::max<std::uint64_t>(tokens, (row + std::uint64_t{each} - 1) / each);
    counts.tokens = static_cast<std::uint32_t>(tokens);
    return counts;
}

std::vector<std::uint32_t> choose_by_splits(
    const ExpertExchange& exchange, std::uint32_t ranks, std::uint32_t rank, RandomStream& random) {
    const std::uint32_t each = std::max(1U, exchange.experts / ranks);
    const TokenCounts counts = tokens_of_splits(exchange, ranks, rank);
    std::vector<std::uint32_t> chosen;
    if (counts.tokens == 0)
        return chosen;
    Destinations destinations(counts, each, rows_of(exchange, ranks, rank));
    // A single shuffle is uniform if every exchange is possible; else several come near it.
    constexpr int kTurns = 4;
    for (int turn = 0; turn < (each < exchange.top_k ? kTurns : 1); ++turn)
        destinations.shuffle(random);
    chosen.reserve(counts.choices);
    for (std::uint32_t token = 0; token < counts.tokens; ++token) {
        const auto begin = static_cast<std::ptrdiff_t>(chosen.size());
        for (const std::uint32_t to : destinations.of_token(token)) {
            std::uint32_t expert = 0;
            do
                expert = to * each + static_cast<std::uint32_t>(random.below(each));
            while (std::find(chosen.begin() + begin, chosen.end(), expert) != chosen.end());
            chosen.push_back(expert);
        }
    }
    return chosen;
}

}  // namespace switchfold
