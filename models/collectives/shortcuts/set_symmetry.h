// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/hop.h"
#include "interconnect/path_finder.h"
#include "interconnect/reduction_planner.h"
#include "models/collectives/shortcuts/rank_symmetry.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace switchfold {

/// The ways of data between ranks that communicate, and of their sums through switches.
class WaysOfRanks {
public:
    /// `groups`: among each, every rank may send to every other. `messages`: pairs of sender and
    /// receiver.
    WaysOfRanks(
        const Topology& topology, std::vector<std::vector<std::uint32_t>> groups,
        std::vector<std::pair<std::uint32_t, std::uint32_t>> messages);
    /// Calls share(rank, other) for ranks whose ways share a link, so that all of a link are tied.
    template <class Share>
    void for_each_shared(const Share& share) const {
        for_each_use([&](std::uint32_t edge, std::uint32_t rank) { share(user_[edge], rank); });
    }
    /// A rank whose data use the edge; kIdle: none's do.
    [[nodiscard]] std::uint32_t user_of(std::uint32_t edge) const { return user_[edge]; }
    /// Notes in the fold, whose ranks have their images, those of links and nodes. \returns whether
    /// every link carries what its image does.
    [[nodiscard]] bool resemble(RankSymmetry& fold) const;
    /// Whether switches can reduce for one of the groups.
    [[nodiscard]] bool through_switches() const { return !trees_.empty(); }

    /// So many pairs cost a tenth of a second.
    static constexpr std::size_t kMostPairs = 20'000;
    [[nodiscard]] static std::size_t
    pairs_of(const std::vector<std::vector<std::uint32_t>>& groups);

private:
    /// By sender and receiver.
    using Flow = std::pair<std::pair<std::uint32_t, std::uint32_t>, std::vector<Path>>;
    /// By ranks: a single hop each.
    using Tree = std::pair<std::vector<std::uint32_t>, std::vector<Path>>;

    /// Calls visit(edge, rank) for each edge on a rank's ways.
    template <class Visit>
    void for_each_use(const Visit& visit) const {
        const auto all = [&](const std::vector<Path>& ways, std::uint32_t rank) {
            for (const Path& way : ways)
                for (const std::uint32_t hop : way.hops)
                    visit(edge_of(hop), rank);
        };
        for (const auto& [pair, ways] : flows_)
            all(ways, pair.first);
        for (const auto& [group, hops] : trees_)
            all(hops, group.front());
    }

    const Topology& topology_;
    std::vector<Flow> flows_;          ///< ascending
    std::vector<Tree> trees_;          ///< ascending
    std::vector<std::uint32_t> user_;  ///< by edge
};

}  // namespace switchfold
