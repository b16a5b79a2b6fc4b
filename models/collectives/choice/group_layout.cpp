// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/group_layout.h"

#include "interconnect/rings.h"
#include "models/collectives/choice/machine_paths.h"
#include "models/collectives/fifo/step.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace switchfold {

namespace {

/// Rings inside one machine, as positions in the group.
std::vector<std::vector<std::uint32_t>> rings_inside(
    const Topology& topology, const Adjacency& neighbours, const std::vector<std::uint32_t>& ranks,
    const std::vector<std::uint32_t>& members) {
    std::vector<std::uint32_t> here;
    for (const std::uint32_t member : members)
        here.push_back(ranks[member]);
    std::vector<std::vector<std::uint32_t>> rings = find_rings(topology, neighbours, here);
    if (rings.empty())
        rings.push_back(here);  // no direct ring: neighbours by rank, over any links
    for (auto& ring : rings)
        for (auto& rank : ring)
            rank = static_cast<std::uint32_t>(
                std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
    return rings;
}

}  // namespace

bool GroupLayout::even() const {
    return std::all_of(machines.begin(), machines.end(), [&](const auto& members) {
        return members.size() == machines.front().size();
    });
}

GroupLayout lay_out(const Topology& topology, const std::vector<std::uint32_t>& ranks) {
    GroupLayout layout;
    layout.machine_of.resize(ranks.size());
    std::map<std::uint32_t, std::uint32_t> index;
    for (std::uint32_t position = 0; position < ranks.size(); ++position) {
        const auto [at, fresh] = index.try_emplace(
            topology.machine_of(ranks[position]),
            static_cast<std::uint32_t>(layout.machines.size()));
        if (fresh)
            layout.machines.emplace_back();
        layout.machine_of[position] = at->second;
        layout.machines[at->second].push_back(position);
    }
    return layout;
}

GroupLayout one_domain(std::uint32_t members) {
    GroupLayout layout{
        {std::vector<std::uint32_t>(members)}, std::vector<std::uint32_t>(members, 0)};
    std::iota(layout.machines.front().begin(), layout.machines.front().end(), 0U);
    return layout;
}

std::vector<std::vector<std::uint32_t>> rails_across(const GroupLayout& layout) {
    std::vector<std::vector<std::uint32_t>> rails(layout.machines.front().size());
    for (const auto& members : layout.machines)
        for (std::size_t rail = 0; rail < rails.size(); ++rail)
            rails[rail].push_back(members[rail]);
    return rails;
}

std::uint32_t rails_of(
    const Topology& topology, const std::vector<std::uint32_t>& ranks, const GroupLayout& layout) {
    const auto& members = layout.machines.front();
    const std::uint32_t machine = topology.machine_of(ranks[members.front()]);
    const auto interfaces =
        std::count_if(topology.nodes.begin(), topology.nodes.end(), [&](const TopologyNode& node) {
            return node.kind == NodeKind::kNic && node.machine == machine;
        });
    // Without NICs, the GPUs' own links connect the machines.
    const auto count = static_cast<std::uint32_t>(members.size());
    return interfaces == 0 ? count : std::min(count, static_cast<std::uint32_t>(interfaces));
}

std::vector<std::vector<std::uint32_t>> ring_orders(
    const Topology& topology, const std::vector<std::uint32_t>& ranks, const GroupLayout& layout) {
    const Adjacency neighbours = adjacency_of(topology);
    if (layout.machines.size() == 1)
        return rings_inside(topology, neighbours, ranks, layout.machines.front());
    std::vector<std::vector<MachinePath>> inside;
    const std::size_t rails = rails_of(topology, ranks, layout);
    std::size_t most = rails;
    for (const auto& members : layout.machines) {
        inside.push_back(rings_inside(topology, neighbours, ranks, members));
        most = std::max(most, inside.back().size());
    }
    std::vector<std::vector<std::uint32_t>> orders(most);
    for (std::size_t machine = 0; machine < inside.size(); ++machine) {
        std::vector<MachinePath> paths = paths_through(inside[machine], most, rails);
        for (std::size_t channel = 0; channel < most; ++channel) {
            MachinePath& path = paths[channel];
            if (machine % 2 == 1)
                std::reverse(path.begin(), path.end());
            orders[channel].insert(orders[channel].end(), path.begin(), path.end());
        }
    }
    return orders;
}

namespace {

BinaryTreeNode binary_tree(std::uint32_t n, std::uint32_t index) {
    if (index == 0)
        return {kNoParent};
    const std::uint32_t bit = index & (~index + 1U);  // lowest set bit
    std::uint32_t parent = (index ^ bit) | (bit << 1U);
    if (parent >= n)
        parent = index ^ bit;
    // The root's only child counts as its second child.
    return {parent, index > parent};
}

}  // namespace

BinaryTreeNode double_binary_tree(std::uint32_t n, std::uint32_t index, int tree) {
    if (tree == 0)
        return binary_tree(n, index);
    const bool mirror = n % 2 == 0;
    BinaryTreeNode node = binary_tree(n, mirror ? n - 1 - index : (index + n - 1) % n);
    if (node.parent != kNoParent)
        node.parent = mirror ? n - 1 - node.parent : (node.parent + 1) % n;
    return node;
}

std::vector<std::vector<std::uint32_t>>
tree_parents(const GroupLayout& layout, const std::vector<std::vector<std::uint32_t>>& orders) {
    const auto machines = static_cast<std::uint32_t>(layout.machines.size());
    std::vector<std::vector<std::uint32_t>> trees;
    for (const auto& order : orders) {
        // The chain inside each machine. Every other chain appears reversed in the ring, which
        // would put its inter-machine links on other rails.
        std::vector<std::vector<std::uint32_t>> chains(machines);
        for (const std::uint32_t position : order)
            chains[layout.machine_of[position]].push_back(position);
        for (std::uint32_t machine = 1; machine < machines; machine += 2)
            std::reverse(chains[machine].begin(), chains[machine].end());
        for (int tree = 0; tree < (machines > 1 ? 2 : 1); ++tree) {
            std::vector<std::uint32_t> parent(order.size(), kNoParent);
            for (std::uint32_t machine = 0; machine < machines; ++machine) {
                const auto& chain = chains[machine];
                for (std::size_t i = 1; i < chain.size(); ++i)
                    parent[chain[i]] = chain[i - 1];
                const BinaryTreeNode node = double_binary_tree(machines, machine, tree);
                if (node.parent == kNoParent)
                    continue;
                const auto& above = chains[node.parent];
                parent[chain.front()] = above[node.second && above.size() > 1 ? 1 : 0];
            }
            trees.push_back(std::move(parent));
        }
    }
    return trees;
}

}  // namespace switchfold
