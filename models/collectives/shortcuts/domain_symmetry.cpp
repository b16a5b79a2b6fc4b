// SPDX-License-Identifier: Apache-2.0
#include "interconnect/hop.h"
#include "interconnect/reduction_planner.h"
#include "models/collectives/shortcuts/flow_images.h"

#include <algorithm>

namespace switchfold {

namespace {

/// The shortest all-reduce of which a fold onto heads is known well.
constexpr Bytes kLongHeads = mebibytes(512);

/// The trees of a domain, each of one switch that attaches all ranks by equal links; none if there
/// are others.
std::vector<ReductionTree> equal_trees(
    const Topology& topology, ReductionPlanner& planner, const std::vector<std::uint32_t>& ranks) {
    std::vector<ReductionTree> trees = planner.plan(ranks).trees;
    const auto class_of = [&](const ReductionTree& tree) {
        return topology.nodes[tree.nodes.front().node].switch_class;
    };
    const auto equal = [&](const ReductionTree& tree) {
        const std::vector<std::uint32_t>& down = tree.nodes.front().down;
        return tree.nodes.size() == 1 && down.size() == ranks.size() &&
               class_of(tree) == class_of(trees.front()) &&
               std::all_of(down.begin(), down.end(), [&](std::uint32_t hop) {
                   return same_link(topology, hop, down.front());
               });
    };
    if (!std::all_of(trees.begin(), trees.end(), equal))
        trees.clear();
    return trees;
}

/// Notes in the fold that the first of these ranks stands for all. \returns whether it can.
bool fold_into_first(
    const Topology& topology, ReductionPlanner& planner, const std::vector<std::uint32_t>& ranks,
    RankSymmetry& fold) {
    const std::vector<ReductionTree> trees = equal_trees(topology, planner, ranks);
    for (const std::uint32_t rank : ranks) {
        fold.image_of_rank[rank] = ranks.front();
        if (!RankSymmetry::set(fold.image_of_node[rank], ranks.front()))
            return false;
    }
    for (const ReductionTree& tree : trees) {
        const ReductionTreeNode& root = tree.nodes.front();
        fold.image_of_node[root.node] = root.node;
        for (const std::uint32_t hop : root.down)
            if (!fold.set_hop(hop, root.down.front()))
                return false;
    }
    return !trees.empty();
}

}  // namespace

std::optional<RankSymmetry> fold_domain(const Topology& topology, std::uint32_t ranks) {
    if (ranks < 2)
        return std::nullopt;
    RankSymmetry fold(topology, ranks);
    ReductionPlanner planner(topology);
    if (!fold_into_first(topology, planner, fold.kept(), fold))
        return std::nullopt;
    return fold;
}

std::optional<RankSymmetry> fold_heads(
    const Topology& topology, const GroupLayout& layout,
    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& between, Bytes bytes) {
    const auto heads = static_cast<std::uint32_t>(layout.machines.front().size());
    if (heads < 2 || !layout.even())
        return std::nullopt;
    RankSymmetry fold(topology, static_cast<std::uint32_t>(layout.machine_of.size()));
    PathFinder finder(topology);
    // docs/notebook/performance.md: the longer, the less it matters which head runs ahead. Where
    // several NICs serve a GPU, links inside machines are the limit, and all runs take part in it.
    const bool known = bytes >= kLongHeads && one_nic_each(topology);
    fold.error = known ? 0.03 : 0.07;
    fold.typical = known ? 0.014 : 0.03;
    FlowImages images(topology, fold);
    for (std::size_t i = 0; i < between.size(); ++i) {
        const auto& from = layout.machines[between[i].first];
        const auto& to = layout.machines[between[i].second];
        const std::vector<Path> first = finder.shortest(from.front(), to.front());
        for (std::uint32_t head = 0; head < heads; ++head)
            if (!images.add(finder.shortest(from[head], to[head]), first, i))
                return std::nullopt;
    }
    if (!images.finish())
        return std::nullopt;
    ReductionPlanner planner(topology);
    for (const auto& members : layout.machines) {
        // A folded group is one of consecutive ranks.
        if (members.back() - members.front() + 1 != heads ||
            !fold_into_first(topology, planner, members, fold))
            return std::nullopt;
    }
    return fold;
}

}  // namespace switchfold
