// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/experts/routing.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Sets of destination ranks of tokens, including the sender: each would need a multicast group in
/// a switch. Most frequent sets come first.
class GroupTables {
public:
    struct Set {
        std::vector<std::uint32_t> ranks;  ///< ascending
        std::uint64_t tokens = 0;          ///< tokens of all ranks with exactly these destinations
    };
    static constexpr std::uint32_t kNone = UINT32_MAX;

    explicit GroupTables(const Routing& routing);

    [[nodiscard]] const std::vector<Set>& sets() const { return sets_; }
    /// Index of a token's set; kNone if it goes to at most one other rank and needs no group.
    [[nodiscard]] std::uint32_t set_of(std::uint32_t from, std::uint32_t token) const {
        return of_token_[first_[from] + token];
    }

private:
    std::vector<std::size_t> first_;  ///< by sender: index of its first token
    std::vector<Set> sets_;
    std::vector<std::uint32_t> of_token_;
};

}  // namespace switchfold
