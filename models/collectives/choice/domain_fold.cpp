// SPDX-License-Identifier: Apache-2.0
#include "interconnect/hop.h"
#include "interconnect/reduction_tree.h"
#include "models/collectives/choice/rank_fold.h"

#include <algorithm>
#include <numeric>

namespace switchfold {

namespace {

bool same_link(const Topology& topology, std::uint32_t hop, std::uint32_t other) {
    const TopologyEdge& a = topology.edges[edge_of(hop)];
    const TopologyEdge& b = topology.edges[edge_of(other)];
    return a.lanes == b.lanes && a.link_class == b.link_class;
}

}  // namespace

std::optional<RankFold> fold_domain(const Topology& topology, std::uint32_t ranks) {
    std::vector<std::uint32_t> all(ranks);
    std::iota(all.begin(), all.end(), 0U);
    const std::vector<ReductionTree> trees = plan_reduction(topology, all).trees;
    const auto alike = [&](const ReductionTree& tree) {
        const std::vector<std::uint32_t>& down = tree.nodes.front().down;
        const auto class_of = [&](const ReductionTree& t) {
            return topology.nodes[t.nodes.front().node].switch_class;
        };
        return tree.nodes.size() == 1 && down.size() == ranks &&
               class_of(tree) == class_of(trees.front()) &&
               std::all_of(down.begin(), down.end(), [&](std::uint32_t hop) {
                   return same_link(topology, hop, trees.front().nodes.front().down.front());
               });
    };
    if (ranks < 2 || trees.empty() || !std::all_of(trees.begin(), trees.end(), alike))
        return std::nullopt;
    RankFold fold;
    fold.ranks = ranks;
    fold.kept = 1;
    fold.image_of_hop.assign(2 * topology.edges.size(), RankFold::kIdle);
    fold.image_of_node.resize(topology.nodes.size());
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        fold.image_of_node[rank].node = 0;
    for (const ReductionTree& tree : trees) {
        const ReductionTreeNode& root = tree.nodes.front();
        fold.image_of_node[root.node] = {root.node, ranks};
        for (const std::uint32_t hop : root.down) {
            fold.image_of_hop[hop] = root.down.front();
            fold.image_of_hop[reversed(hop)] = reversed(root.down.front());
        }
    }
    return fold;
}

}  // namespace switchfold
