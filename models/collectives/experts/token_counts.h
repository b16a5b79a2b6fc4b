// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace switchfold {

/// A rank's tokens and the experts that they choose: each token as many, or the first ones one
/// more.
struct TokenCounts {
    std::uint32_t tokens = 0;
    std::uint64_t choices = 0;  ///< of all tokens
    /// Number of choices of the tokens before this one.
    [[nodiscard]] std::uint64_t first(std::uint32_t token) const {
        return tokens == 0
                   ? 0
                   : choices / tokens * token + std::min<std::uint64_t>(token, choices % tokens);
    }
    /// The token of a choice. \pre choice < choices
    [[nodiscard]] std::uint32_t token_of(std::uint64_t choice) const {
        const std::uint64_t few = choices / tokens;
        const std::uint64_t of_more = choices % tokens * (few + 1);
        return static_cast<std::uint32_t>(
            choice < of_more ? choice / (few + 1) : choices % tokens + (choice - of_more) / few);
    }
};

}  // namespace switchfold
