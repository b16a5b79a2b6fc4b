// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_tree.h"

#include "interconnect/adjacency.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

constexpr std::uint32_t kNone = ReductionTreeNode::kNone;
constexpr std::size_t kTrees = 64;

class Planner {
public:
    Planner(const Topology& topology, std::span<const std::uint32_t> ranks) :
        topology_(topology),
        ranks_(ranks),
        neighbours_(adjacency_of(topology)),
        member_(topology.nodes.size(), kNone) {
        for (std::uint32_t m = 0; m < ranks.size(); ++m)
            member_[ranks[m]] = m;
    }

    ReductionPlan run() {
        ReductionPlan plan;
        std::uint32_t least = kNone;
        for (const auto& [distance, node] : candidates()) {
            // A root that is farther from some member has a taller tree, which only adds hops.
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
        if (!plan.trees.empty())
            plan.why_not.clear();
        else if (plan.why_not.empty())
            plan.why_not = why_none();
        return plan;
    }

private:
    [[nodiscard]] const SwitchParams& params(std::uint32_t node) const {
        return topology_.switches[topology_.nodes[node].switch_class];
    }
    [[nodiscard]] bool is_gpu(std::uint32_t node) const {
        return topology_.nodes[node].kind == NodeKind::kGpu;
    }
    /// Whether a node may be part of a tree: operands travel from members over switches and NICs.
    [[nodiscard]] bool belongs(std::uint32_t node) const {
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
    /// Whether it is a switch of the GPUs' own links, of the network, or of PCIe that can reduce.
    [[nodiscard]] bool can_reduce(std::uint32_t node) const {
        const NodeKind kind = topology_.nodes[node].kind;
        return (kind == NodeKind::kSwitch || kind == NodeKind::kPcie) && params(node).reduction &&
               params(node).multicast;
    }

    /// Switches that can reduce, by distance from the first member.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> candidates() {
        static_cast<void>(grow(ranks_.front(), kNone - 1, 0));
        std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
        for (std::uint32_t node = 0; node < topology_.nodes.size(); ++node)
            if (can_reduce(node) && depth_[node] != kNone)
                found.emplace_back(depth_[node], node);
        std::sort(found.begin(), found.end());
        return found;
    }

    /// Breadth-first from the root, with GPUs as leaves. Alternates between equal choices, so that
    /// trees spread over the machine. \returns the height, or nothing if above `limit`.
    std::optional<std::uint32_t> grow(std::uint32_t root, std::uint32_t limit, std::size_t turn) {
        parent_hop_.assign(topology_.nodes.size(), kNone);
        depth_.assign(topology_.nodes.size(), kNone);
        std::vector<std::uint32_t> level{root};
        depth_[root] = 0;
        std::size_t found = 0;
        for (std::uint32_t height = 1; !level.empty() && height <= limit; ++height) {
            std::vector<std::uint32_t> next;
            for (std::size_t i = 0; i < level.size(); ++i)
                for (const Neighbour& n : neighbours_[level[(i + turn) % level.size()]]) {
                    if (depth_[n.node] != kNone || !belongs(n.node))
                        continue;
                    depth_[n.node] = height;
                    parent_hop_[n.node] = reversed(n.hop);
                    if (is_gpu(n.node))
                        ++found;
                    else
                        next.push_back(n.node);
                }
            if (found == ranks_.size())
                return height;
            level = std::move(next);
        }
        return std::nullopt;
    }

    /// The part of the last tree that leads to members.
    ReductionTree build(std::uint32_t root) {
        ReductionTree tree;
        tree.weight = UINT32_MAX;
        std::vector<std::uint32_t> place(topology_.nodes.size(), kNone);
        const auto at = [&](std::uint32_t node) -> ReductionTreeNode& {
            if (place[node] == kNone) {
                place[node] = static_cast<std::uint32_t>(tree.nodes.size());
                ReductionTreeNode& added = tree.nodes.emplace_back();
                added.node = node;
                added.up = node == root ? kNone : parent_hop_[node];
                added.towards.assign(ranks_.size(), kNone);
            }
            return tree.nodes[place[node]];
        };
        at(root);
        for (std::uint32_t m = 0; m < ranks_.size(); ++m) {
            std::uint32_t hop = parent_hop_[ranks_[m]];
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
                hop = parent_hop_[node];
            }
        }
        for (ReductionTreeNode& node : tree.nodes)
            node.reduces = node.node == root || (can_reduce(node.node) && node.down.size() > 1);
        count_answers(tree, place);
        return tree;
    }

    void count_answers(ReductionTree& tree, const std::vector<std::uint32_t>& place) const {
        std::vector<ReductionTreeNode*> deepest_first;
        for (ReductionTreeNode& node : tree.nodes)
            deepest_first.push_back(&node);
        std::stable_sort(
            deepest_first.begin(), deepest_first.end(),
            [&](const auto* a, const auto* b) { return depth_[a->node] > depth_[b->node]; });
        for (ReductionTreeNode* node : deepest_first)
            for (const std::uint32_t hop : node->down) {
                const std::uint32_t child = topology_.end_of(hop);
                const bool one = is_gpu(child) || tree.nodes[place[child]].reduces;
                node->answers += one ? 1 : tree.nodes[place[child]].answers;
            }
    }

    [[nodiscard]] std::string fault_of(const ReductionTree& tree) const {
        for (const ReductionTreeNode& node : tree.nodes) {
            const SwitchParams& p = params(node.node);
            if (!p.multicast && node.down.size() > 1)
                return fmt::format("switch {} has no multicast", topology_.nodes[node.node].name);
            if (node.reduces && node.down.size() > p.reduction->max_members)
                return fmt::format(
                    "a group of {} is more than the {} members that switch {} serves",
                    node.down.size(), p.reduction->max_members, topology_.nodes[node.node].name);
        }
        return {};
    }

    /// Explains why no switch can reduce and reach all members; prefers a switch to which all are
    /// attached.
    [[nodiscard]] std::string why_none() const {
        bool any = false;
        for (std::uint32_t node = 0; node < topology_.nodes.size(); ++node) {
            any = any || can_reduce(node);
            std::size_t joined = 0;
            for (const Neighbour& n : neighbours_[node])
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

    const Topology& topology_;
    std::span<const std::uint32_t> ranks_;
    Adjacency neighbours_;
    std::vector<std::uint32_t> member_;
    std::vector<std::uint32_t> parent_hop_;  ///< for each node, towards the root
    std::vector<std::uint32_t> depth_;
};

}  // namespace

ReductionPlan plan_reduction(const Topology& topology, std::span<const std::uint32_t> ranks) {
    const bool any =
        std::any_of(topology.switches.begin(), topology.switches.end(), [](const auto& s) {
            return s.reduction.has_value();
        });
    const bool switched = std::any_of(topology.nodes.begin(), topology.nodes.end(), [](auto& n) {
        return n.kind == NodeKind::kSwitch;
    });
    if (ranks.size() < 2 || (!any && !switched))
        return {{}, "no switch is joined to all of the group's GPUs"};
    return Planner(topology, ranks).run();
}

std::string why_no_reduction(const Topology& topology, std::span<const std::uint32_t> ranks) {
    return plan_reduction(topology, ranks).why_not;
}

}  // namespace switchfold
