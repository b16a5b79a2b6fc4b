// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topology.h"

#include "interconnect/adjacency.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace switchfold {

std::uint32_t Topology::gpus() const {
    return static_cast<std::uint32_t>(std::count_if(
        nodes.begin(), nodes.end(), [](const auto& n) { return n.kind == NodeKind::kGpu; }));
}

std::uint32_t Topology::machines() const {
    std::uint32_t count = 0;
    for (const TopologyNode& node : nodes)
        if (node.kind == NodeKind::kGpu)
            count = std::max(count, node.machine + 1);
    return count;
}

std::vector<std::vector<std::uint32_t>> nearest_nics(const Topology& topology) {
    const auto takes_part = [&](std::uint32_t node) {
        const NodeKind kind = topology.nodes[node].kind;
        return is_pcie(kind) || kind == NodeKind::kGpu || kind == NodeKind::kNic;
    };
    const Adjacency neighbours = adjacency_of(topology, [&](const TopologyEdge& edge) {
        return takes_part(edge.a) && takes_part(edge.b);
    });
    std::vector<std::vector<std::uint32_t>> nics(topology.gpus());
    std::vector<std::uint32_t> seen(topology.nodes.size(), UINT32_MAX);
    for (std::uint32_t gpu = 0; gpu < nics.size(); ++gpu) {
        std::vector<std::uint32_t> level{gpu};
        seen[gpu] = gpu;
        while (!level.empty() && nics[gpu].empty()) {
            std::vector<std::uint32_t> next;
            for (const std::uint32_t node : level)
                for (const auto& [other, hop] : neighbours[node]) {
                    if (seen[other] == gpu)
                        continue;
                    seen[other] = gpu;
                    if (topology.nodes[other].kind == NodeKind::kNic)
                        nics[gpu].push_back(other);
                    else if (is_pcie(topology.nodes[other].kind))
                        next.push_back(other);
                }
            level = std::move(next);
        }
        std::sort(nics[gpu].begin(), nics[gpu].end());
    }
    return nics;
}

std::vector<std::uint32_t> stripe_order(const std::vector<std::uint32_t>& weights) {
    std::uint32_t divisor = 0;
    for (const std::uint32_t w : weights)
        divisor = std::gcd(divisor, w);
    std::vector<std::uint32_t> order;
    if (divisor == 0)
        return order;
    const std::uint32_t total = std::accumulate(weights.begin(), weights.end(), 0U) / divisor;
    std::vector<std::int64_t> credit(weights.size(), 0);
    for (std::uint32_t slot = 0; slot < total; ++slot) {
        std::size_t best = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            credit[i] += weights[i] / divisor;
            if (credit[i] > credit[best])
                best = i;
        }
        credit[best] -= total;
        order.push_back(static_cast<std::uint32_t>(best));
    }
    return order;
}

std::string Topology::link_name(std::uint32_t hop) const {
    const TopologyEdge& edge = edges[edge_of(hop)];
    const std::uint32_t from = runs_from_b(hop) ? edge.b : edge.a;
    return fmt::format("{}_to_{}_e{}", nodes[from].name, nodes[end_of(hop)].name, edge_of(hop));
}

bool Topology::sums_in_elements() const {
    return std::any_of(switches.begin(), switches.end(), [](const SwitchParams& node) {
        return node.reduction && node.reduction->accumulation == Accumulation::kElement;
    });
}

}  // namespace switchfold
