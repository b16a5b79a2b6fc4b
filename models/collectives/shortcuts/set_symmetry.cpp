// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/set_symmetry.h"

#include "models/collectives/shortcuts/flow_images.h"

#include <algorithm>

namespace switchfold {

namespace {

/// Ways of pairs that are alike come in the same order.
std::vector<Path> in_order(std::vector<Path> ways) {
    std::ranges::sort(ways, {}, &Path::hops);
    return ways;
}

/// Of all trees, each hop down, which carries what goes either way.
std::vector<Path> hops_of(const ReductionPlan& plan) {
    std::vector<Path> hops;
    for (const ReductionTree& tree : plan.trees)
        for (const ReductionTreeNode& node : tree.nodes)
            for (const std::uint32_t down : node.down)
                hops.push_back({{down}, tree.weight});
    return hops;
}

template <class Entries, class Key>
std::size_t place_of(const Entries& entries, const Key& key) {
    const auto at =
        std::ranges::lower_bound(entries, key, {}, [](const auto& entry) { return entry.first; });
    return at != entries.end() && at->first == key ? static_cast<std::size_t>(at - entries.begin())
                                                   : entries.size();
}

}  // namespace

std::size_t WaysOfRanks::pairs_of(const std::vector<std::vector<std::uint32_t>>& groups) {
    std::size_t pairs = 0;
    for (const auto& group : groups)
        pairs += group.size() * (group.size() - 1);
    return pairs;
}

WaysOfRanks::WaysOfRanks(
    const Topology& topology, std::vector<std::vector<std::uint32_t>> groups,
    std::vector<std::pair<std::uint32_t, std::uint32_t>> messages) :
    topology_(topology), user_(topology.edges.size(), RankSymmetry::kIdle) {
    for (const auto& group : groups)
        for (const std::uint32_t from : group)
            for (const std::uint32_t to : group)
                if (from != to)
                    messages.emplace_back(from, to);
    std::ranges::sort(messages);
    messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
    PathFinder finder(topology);
    for (const auto& pair : messages)
        flows_.emplace_back(pair, in_order(finder.shortest(pair.first, pair.second)));
    std::ranges::sort(groups);
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    ReductionPlanner planner(topology);
    for (auto& group : groups) {
        std::vector<Path> hops = hops_of(planner.plan(group));
        if (!hops.empty())
            trees_.emplace_back(std::move(group), std::move(hops));
    }
    for_each_use([&](std::uint32_t edge, std::uint32_t rank) { user_[edge] = rank; });
}

bool WaysOfRanks::resemble(RankSymmetry& fold) const {
    for (std::uint32_t rank = 0; rank < fold.ranks(); ++rank)
        fold.image_of_node[rank] = fold.image_of_rank[rank];
    FlowImages images(topology_, fold);
    for (const auto& [pair, ways] : flows_) {
        const std::size_t kept = place_of(
            flows_, std::pair(fold.image_of_rank[pair.first], fold.image_of_rank[pair.second]));
        if (kept == flows_.size() || !images.add(ways, flows_[kept].second, kept))
            return false;
    }
    for (const auto& [group, hops] : trees_) {
        std::vector<std::uint32_t> ranks = group;
        for (std::uint32_t& rank : ranks)
            rank = fold.image_of_rank[rank];
        const std::size_t kept = place_of(trees_, ranks);
        if (kept == trees_.size() || !images.add(hops, trees_[kept].second, flows_.size() + kept))
            return false;
    }
    return images.finish();
}

}  // namespace switchfold
