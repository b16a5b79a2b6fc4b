// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/group_tables.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace switchfold {

GroupTables::GroupTables(const Routing& routing) {
    constexpr std::size_t kFewest = 3;  // a single other rank gets a plain store
    std::map<std::vector<std::uint32_t>, std::uint32_t> index;
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t from = 0; from < routing.ranks(); ++from) {
        first_.push_back(of_token_.size());
        of_token_.resize(of_token_.size() + routing.tokens(from), kNone);
        for (std::uint32_t token = 0; token < routing.tokens(from); ++token) {
            const auto to = routing.destinations(from, token);
            ranks.assign(to.begin(), to.end());
            const auto at = std::lower_bound(ranks.begin(), ranks.end(), from);
            if (at == ranks.end() || *at != from)
                ranks.insert(at, from);
            if (ranks.size() < kFewest)
                continue;
            const auto [found, fresh] =
                index.try_emplace(ranks, static_cast<std::uint32_t>(sets_.size()));
            if (fresh)
                sets_.push_back({ranks, 0});
            ++sets_[found->second].tokens;
            of_token_[first_[from] + token] = found->second;
        }
    }
    std::vector<std::uint32_t> order(sets_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return sets_[a].tokens != sets_[b].tokens ? sets_[a].tokens > sets_[b].tokens
                                                  : sets_[a].ranks < sets_[b].ranks;
    });
    std::vector<Set> sorted;
    std::vector<std::uint32_t> place(sets_.size());
    for (const std::uint32_t old : order) {
        place[old] = static_cast<std::uint32_t>(sorted.size());
        sorted.push_back(std::move(sets_[old]));
    }
    sets_ = std::move(sorted);
    for (std::uint32_t& set : of_token_)
        if (set != kNone)
            set = place[set];
}

}  // namespace switchfold
