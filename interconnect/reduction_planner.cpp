// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace switchfold {

namespace {

constexpr std::uint32_t kNone = ReductionTreeNode::kNone;
constexpr std::size_t kTrees = 64;

}  // namespace

ReductionPlanner::ReductionPlanner(const Topology& topology) :
    topology_(topology), own_(adjacency_of(topology)), neighbours_(&own_) {
    prepare();
}

ReductionPlanner::ReductionPlanner(const Topology& topology, const Adjacency& neighbours) :
    topology_(topology), neighbours_(&neighbours) {
    prepare();
}

void ReductionPlanner::prepare() {
    const std::size_t nodes = topology_.nodes.size();
    member_.assign(nodes, kNone);
    place_.assign(nodes, kNone);
    for (Reached* reached : {&from_first_, &tree_}) {
        reached->depth.assign(nodes, kNone);
        reached->parent_hop.assign(nodes, kNone);
    }
    const bool any =
        std::any_of(topology_.switches.begin(), topology_.switches.end(), [](const auto& s) {
            return s.reduction.has_value();
        });
    const bool switched =
        std::any_of(topology_.nodes.begin(), topology_.nodes.end(), [](const auto& n) {
            return n.kind == NodeKind::kSwitch;
        });
    none_ = !any && !switched;
}

ReductionPlan ReductionPlanner::plan(std::span<const std::uint32_t> ranks) {
    if (ranks.size() < 2 || none_)
        return {{}, "no switch is joined to all of the group's GPUs"};
    ranks_ = ranks;
    for (std::uint32_t m = 0; m < ranks.size(); ++m)
        member_[ranks[m]] = m;
    ReductionPlan plan = plan_trees();
    for (const std::uint32_t rank : ranks)
        member_[rank] = kNone;
    return plan;
}

/// Tries the switches that can reduce as roots, by distance from the first member.
ReductionPlan ReductionPlanner::plan_trees() {
    ReductionPlan plan;
    std::uint32_t least = kNone;
    restart(from_first_, ranks_.front());
    std::vector<std::uint32_t> level{ranks_.front()};
    // A root that is farther from some member has a taller tree, which only adds hops.
    for (std::uint32_t distance = 1; !level.empty() && distance <= least; ++distance) {
        level = next_level(from_first_, level, distance, 0);
        std::vector<std::uint32_t> roots;
        std::copy_if(
            level.begin(), level.end(), std::back_inserter(roots),
            [&](std::uint32_t node) { return can_reduce(node); });
        std::sort(roots.begin(), roots.end());
        for (const std::uint32_t node : roots) {
            if (distance > least)
                break;
            std::optional<std::uint32_t> height = grow(node, least, plan.trees.size());
            if (!height || *height > least)
                continue;
            if (*height < least) {
                plan.trees.clear();
                least = *height;
                height = grow(node, least, 0);
            }
            ReductionTree tree = build(node);
            const std::string reason = fault_of(tree);
            if (reason.empty() && plan.trees.size() < kTrees)
                plan.trees.push_back(std::move(tree));
            else if (plan.why_not.empty())
                plan.why_not = reason;
        }
    }
    if (!plan.trees.empty())
        plan.why_not.clear();
    else if (plan.why_not.empty())
        plan.why_not = why_none();
    return plan;
}

const SwitchParams& ReductionPlanner::params(std::uint32_t node) const {
    return topology_.switches[topology_.nodes[node].switch_class];
}

bool ReductionPlanner::is_gpu(std::uint32_t node) const {
    return topology_.nodes[node].kind == NodeKind::kGpu;
}

/// Whether a node may be part of a tree: operands travel from members over switches and NICs.
bool ReductionPlanner::belongs(std::uint32_t node) const {
    switch (topology_.nodes[node].kind) {
    case NodeKind::kGpu:
        return member_[node] != kNone;
    case NodeKind::kSwitch:
    case NodeKind::kNic:
    case NodeKind::kPcie:
        return true;
    default:
        return false;
    }
}

/// Whether it is a switch of the GPUs' own links, of the network, or of PCIe, or a NIC, that can
/// reduce.
bool ReductionPlanner::can_reduce(std::uint32_t node) const {
    const NodeKind kind = topology_.nodes[node].kind;
    return (kind == NodeKind::kSwitch || kind == NodeKind::kPcie || kind == NodeKind::kNic) &&
           params(node).reduction && params(node).multicast;
}

void ReductionPlanner::restart(Reached& reached, std::uint32_t root) const {
    for (const std::uint32_t node : reached.touched) {
        reached.depth[node] = kNone;
        reached.parent_hop[node] = kNone;
    }
    reached.touched.assign(1, root);
    reached.depth[root] = 0;
}

/// The nodes that a breadth-first search goes on from; GPUs are leaves. Begins at another node of
/// the level each turn.
std::vector<std::uint32_t> ReductionPlanner::next_level(
    Reached& reached, const std::vector<std::uint32_t>& level, std::uint32_t height,
    std::size_t turn) const {
    std::vector<std::uint32_t> next;
    for (std::size_t i = 0; i < level.size(); ++i)
        for (const Neighbour& n : (*neighbours_)[level[(i + turn) % level.size()]]) {
            if (reached.depth[n.node] != kNone || !belongs(n.node))
                continue;
            reached.depth[n.node] = height;
            reached.parent_hop[n.node] = reversed(n.hop);
            reached.touched.push_back(n.node);
            if (!is_gpu(n.node))
                next.push_back(n.node);
        }
    return next;
}

/// Alternates between equal choices, so that trees spread over the machine. \returns the height, or
/// nothing if above `limit`.
std::optional<std::uint32_t>
ReductionPlanner::grow(std::uint32_t root, std::uint32_t limit, std::size_t turn) {
    restart(tree_, root);
    std::vector<std::uint32_t> level{root};
    std::size_t found = 0;
    for (std::uint32_t height = 1; !level.empty() && height <= limit; ++height) {
        const std::size_t before = tree_.touched.size();
        std::vector<std::uint32_t> next = next_level(tree_, level, height, turn);
        found += tree_.touched.size() - before - next.size();
        if (found == ranks_.size())
            return height;
        level = std::move(next);
    }
    return std::nullopt;
}

/// The part of the last tree that leads to members.
ReductionTree ReductionPlanner::build(std::uint32_t root) {
    ReductionTree tree;
    tree.weight = UINT32_MAX;
    const auto at = [&](std::uint32_t node) -> ReductionTreeNode& {
        if (place_[node] == kNone) {
            place_[node] = static_cast<std::uint32_t>(tree.nodes.size());
            ReductionTreeNode& added = tree.nodes.emplace_back();
            added.node = node;
            added.up = node == root ? kNone : tree_.parent_hop[node];
            added.towards.assign(ranks_.size(), kNone);
        }
        return tree.nodes[place_[node]];
    };
    at(root);
    for (std::uint32_t m = 0; m < ranks_.size(); ++m) {
        std::uint32_t hop = tree_.parent_hop[ranks_[m]];
        tree.uplinks.push_back(hop);
        for (;;) {
            tree.weight = std::min(tree.weight, topology_.edges[edge_of(hop)].lanes);
            const std::uint32_t node = topology_.end_of(hop);
            ReductionTreeNode& here = at(node);
            here.towards[m] = reversed(hop);
            ++here.leaves;
            if (std::find(here.down.begin(), here.down.end(), reversed(hop)) == here.down.end())
                here.down.push_back(reversed(hop));
            if (node == root)
                break;
            hop = tree_.parent_hop[node];
        }
    }
    count_answers(tree);
    for (const ReductionTreeNode& node : tree.nodes)
        place_[node.node] = kNone;
    return tree;
}

/// And says which nodes reduce.
void ReductionPlanner::count_answers(ReductionTree& tree) const {
    std::vector<ReductionTreeNode*> deepest_first;
    for (ReductionTreeNode& node : tree.nodes)
        deepest_first.push_back(&node);
    std::stable_sort(deepest_first.begin(), deepest_first.end(), [&](const auto* a, const auto* b) {
        return tree_.depth[a->node] > tree_.depth[b->node];
    });
    for (ReductionTreeNode* node : deepest_first) {
        for (const std::uint32_t hop : node->down) {
            const std::uint32_t child = topology_.end_of(hop);
            const bool one = is_gpu(child) || tree.nodes[place_[child]].reduces;
            node->answers += one ? 1 : tree.nodes[place_[child]].answers;
        }
        // Operands may also meet in a NIC to which one switch forwards those of several GPUs.
        node->reduces = node->up == kNone || (can_reduce(node->node) && node->answers > 1);
    }
}

std::string ReductionPlanner::fault_of(const ReductionTree& tree) const {
    for (const ReductionTreeNode& node : tree.nodes) {
        const SwitchParams& p = params(node.node);
        if (!p.multicast && node.down.size() > 1)
            return fmt::format("switch {} has no multicast", topology_.nodes[node.node].name);
        if (node.reduces && node.down.size() > p.reduction->max_members)
            return fmt::format(
                "a group of {} is more than the {} members that switch {} serves", node.down.size(),
                p.reduction->max_members, topology_.nodes[node.node].name);
    }
    return {};
}

/// Explains why no switch can reduce and reach all members; prefers a switch to which all are
/// attached.
std::string ReductionPlanner::why_none() const {
    bool any = false;
    for (std::uint32_t node = 0; node < topology_.nodes.size(); ++node) {
        any = any || can_reduce(node);
        std::size_t joined = 0;
        for (const Neighbour& n : (*neighbours_)[node])
            joined += member_[n.node] != kNone ? 1 : 0;
        if (topology_.nodes[node].kind == NodeKind::kSwitch && joined >= ranks_.size() &&
            !can_reduce(node))
            return fmt::format(
                "switch {} has no {}", topology_.nodes[node].name,
                params(node).reduction ? "multicast" : "reduction unit");
    }
    return any ? "no switch that can reduce is joined to all of the group's GPUs"
               : "no switch has a reduction unit";
}

}  // namespace switchfold
