// SPDX-License-Identifier: Apache-2.0
#include "interconnect/host_paths.h"

#include "interconnect/adjacency.h"
#include "interconnect/topology_analysis.h"

#include <algorithm>

namespace switchfold {

namespace {

/// The nearest node of this kind, reached over PCIe nodes only; UINT32_MAX if there is none.
/// Records the hop that led to each node.
std::uint32_t nearest(
    const Topology& topology, const Adjacency& neighbours, std::uint32_t gpu, NodeKind kind,
    std::vector<std::uint32_t>& came_by) {
    std::vector<std::uint32_t> seen{gpu};
    for (std::size_t next = 0; next < seen.size(); ++next) {
        if (topology.nodes[seen[next]].kind == kind)
            return seen[next];
        for (const auto& [node, hop] : neighbours[seen[next]]) {
            if (!is_pcie(topology.nodes[node].kind) ||
                std::find(seen.begin(), seen.end(), node) != seen.end())
                continue;
            came_by[node] = hop;
            seen.push_back(node);
        }
    }
    return UINT32_MAX;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> host_paths(const Topology& topology, bool with_down) {
    const Adjacency neighbours =
        adjacency_of(topology, [&](const TopologyEdge& edge) { return with_down || !edge.down; });
    std::vector<std::uint32_t> came_by(topology.nodes.size());
    std::vector<std::vector<std::uint32_t>> paths(topology.gpus());
    for (std::uint32_t gpu = 0; gpu < paths.size(); ++gpu) {
        std::uint32_t node = nearest(topology, neighbours, gpu, NodeKind::kMemory, came_by);
        if (node == UINT32_MAX)
            node = nearest(topology, neighbours, gpu, NodeKind::kHost, came_by);
        if (node == UINT32_MAX)
            continue;
        for (; node != gpu; node = topology.end_of(reversed(came_by[node])))
            paths[gpu].push_back(came_by[node]);
        std::reverse(paths[gpu].begin(), paths[gpu].end());
    }
    return paths;
}

std::optional<HostBound> host_bound(const Topology& topology, Bytes piece) {
    const auto paths = host_paths(topology);
    std::vector<std::uint32_t> users(topology.edges.size(), 0);
    for (const auto& path : paths)
        for (const std::uint32_t hop : path)
            ++users[edge_of(hop)];
    const auto payload = static_cast<std::uint32_t>(piece.count());
    HostBound bound{Bandwidth(UINT64_MAX), Bandwidth(UINT64_MAX)};
    for (const auto& path : paths)
        for (const std::uint32_t hop : path) {
            const TopologyEdge& edge = topology.edges[edge_of(hop)];
            const PacketFormat& format = topology.links[edge.link_class].format;
            const double share =
                static_cast<double>(payload) / format.wire_bytes(PacketKind::kCopyWrite, payload);
            const Bandwidth carried(static_cast<std::uint64_t>(
                static_cast<double>(usable_bandwidth(topology, edge).count()) * share));
            bound.alone = std::min(bound.alone, carried);
            bound.together =
                std::min(bound.together, Bandwidth(carried.count() / users[edge_of(hop)]));
        }
    if (bound.alone.count() == UINT64_MAX)
        return std::nullopt;
    return bound;
}

}  // namespace switchfold
