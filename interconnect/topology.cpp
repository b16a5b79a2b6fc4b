// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace switchfold {

std::uint32_t Topology::gpus() const {
    return static_cast<std::uint32_t>(std::count_if(
        nodes.begin(), nodes.end(), [](const auto& n) { return n.kind == NodeKind::kGpu; }));
}

PathFinder::PathFinder(const Topology& topology) :
    topology_(topology),
    neighbours_(topology.nodes.size()),
    distance_(topology.nodes.size(), UINT32_MAX) {
    for (std::uint32_t i = 0; i < topology.edges.size(); ++i) {
        const TopologyEdge& edge = topology.edges[i];
        neighbours_[edge.a].push_back({edge.b, 2 * i});
        neighbours_[edge.b].push_back({edge.a, 2 * i + 1});
    }
}

std::vector<Path> PathFinder::shortest(std::uint32_t from, std::uint32_t to, std::size_t limit) {
    // Breadth first from the destination, level by level, until the source is met.
    touched_.assign(1, to);
    distance_[to] = 0;
    for (std::size_t next = 0; next < touched_.size(); ++next) {
        const std::uint32_t node = touched_[next];
        if (node == from)
            break;
        if (node != to && topology_.nodes[node].kind == NodeKind::kGpu)
            continue;
        for (const Neighbour& n : neighbours_[node])
            if (distance_[n.node] == UINT32_MAX) {
                distance_[n.node] = distance_[node] + 1;
                touched_.push_back(n.node);
            }
    }
    std::vector<Path> paths;
    if (from != to && distance_[from] != UINT32_MAX) {
        struct Frame {
            std::uint32_t node;
            std::size_t next;
        };
        std::vector<Frame> stack{{from, 0}};
        Path path;
        while (!stack.empty() && paths.size() < limit) {
            Frame& frame = stack.back();
            if (frame.node == to) {
                path.weight = UINT32_MAX;
                for (const std::uint32_t hop : path.hops)
                    path.weight = std::min(path.weight, topology_.edges[hop / 2].lanes);
                paths.push_back(path);
            }
            bool descended = false;
            while (frame.node != to && frame.next < neighbours_[frame.node].size()) {
                const Neighbour& n = neighbours_[frame.node][frame.next++];
                const bool closer = distance_[n.node] != UINT32_MAX &&
                                    distance_[n.node] + 1 == distance_[frame.node];
                if (closer && (n.node == to || topology_.nodes[n.node].kind != NodeKind::kGpu)) {
                    path.hops.push_back(n.hop);
                    stack.push_back({n.node, 0});
                    descended = true;
                    break;
                }
            }
            if (!descended) {
                stack.pop_back();
                if (!path.hops.empty())
                    path.hops.pop_back();
            }
        }
    }
    for (const std::uint32_t node : touched_)
        distance_[node] = UINT32_MAX;
    return paths;
}

std::vector<std::uint32_t>
common_switches(const Topology& topology, std::span<const std::uint32_t> ranks) {
    std::vector<std::uint32_t> seen(topology.nodes.size(), 0);
    for (const TopologyEdge& edge : topology.edges)
        for (const auto& [gpu, other] : {std::pair{edge.a, edge.b}, std::pair{edge.b, edge.a}})
            if (topology.nodes[other].kind == NodeKind::kSwitch &&
                std::find(ranks.begin(), ranks.end(), gpu) != ranks.end())
                ++seen[other];
    std::vector<std::uint32_t> common;
    for (std::uint32_t node = 0; node < seen.size(); ++node)
        if (seen[node] == ranks.size())
            common.push_back(node);
    return common;
}

std::string why_no_reduction(const Topology& topology, std::span<const std::uint32_t> ranks) {
    const std::vector<std::uint32_t> common = common_switches(topology, ranks);
    if (common.empty())
        return "no switch is joined to all of the group's GPUs";
    for (const std::uint32_t node : common) {
        const SwitchParams& params = topology.switches[topology.nodes[node].switch_class];
        if (!params.reduction || !params.multicast)
            return fmt::format(
                "switch {} has no {}",
                topology.nodes[node].name,
                params.reduction ? "multicast" : "reduction unit");
        if (ranks.size() > params.reduction->max_members)
            return fmt::format(
                "a group of {} is more than the {} members that switch {} serves",
                ranks.size(),
                params.reduction->max_members,
                topology.nodes[node].name);
    }
    return {};
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

namespace {

/// Depth-first search for Hamiltonian cycles on the direct lanes that are left. Small machines
/// only: GPUs that are wired to each other come by the dozen at most.
class RingSearch {
public:
    RingSearch(std::vector<std::vector<std::uint32_t>> lanes) : lanes_(std::move(lanes)) {}

    /// The set of rings found by taking, again and again, the first cycle of a depth-first search
    /// that prefers the neighbour with most lanes left; it tries every first neighbour order and
    /// keeps the largest set.
    std::vector<std::vector<std::uint32_t>> run() {
        std::vector<std::vector<std::uint32_t>> rings;
        search(rings);
        return best_;
    }

private:
    void search(std::vector<std::vector<std::uint32_t>>& rings) {
        if (rings.size() > best_.size())
            best_ = rings;
        if (++visits_ > kVisits)
            return;
        // Upper bound: each ring takes two lanes of every GPU.
        std::uint32_t bound = UINT32_MAX;
        for (const auto& row : lanes_)
            bound = std::min(bound, std::accumulate(row.begin(), row.end(), 0U) / 2);
        if (rings.size() + bound <= best_.size())
            return;
        std::vector<std::vector<std::uint32_t>> cycles;
        std::vector<std::uint32_t> path{0};
        std::vector<bool> used(lanes_.size(), false);
        used[0] = true;
        collect(path, used, cycles);
        for (const auto& cycle : cycles) {
            take(cycle, -1);
            rings.push_back(cycle);
            search(rings);
            rings.pop_back();
            take(cycle, +1);
            if (visits_ > kVisits)
                return;
        }
    }

    void collect(
        std::vector<std::uint32_t>& path,
        std::vector<bool>& used,
        std::vector<std::vector<std::uint32_t>>& cycles) {
        const std::size_t n = lanes_.size();
        if (cycles.size() >= kCycles)
            return;
        if (path.size() == n) {
            const std::uint32_t needed = n == 2 ? 2 : 1;
            // Each undirected cycle once: the second node is smaller than the last.
            if (lanes_[path.back()][0] >= needed && (n == 2 || path[1] < path.back()))
                cycles.push_back(path);
            return;
        }
        for (std::uint32_t next = 0; next < n; ++next)
            if (!used[next] && lanes_[path.back()][next] > 0) {
                used[next] = true;
                path.push_back(next);
                collect(path, used, cycles);
                path.pop_back();
                used[next] = false;
            }
    }

    void take(const std::vector<std::uint32_t>& cycle, int delta) {
        for (std::size_t i = 0; i < cycle.size(); ++i) {
            const std::uint32_t a = cycle[i];
            const std::uint32_t b = cycle[(i + 1) % cycle.size()];
            lanes_[a][b] += static_cast<std::uint32_t>(delta);
            lanes_[b][a] += static_cast<std::uint32_t>(delta);
        }
    }

    static constexpr std::uint32_t kVisits = 2000;
    static constexpr std::size_t kCycles = 256;
    std::vector<std::vector<std::uint32_t>> lanes_;
    std::vector<std::vector<std::uint32_t>> best_;
    std::uint32_t visits_ = 0;
};

}  // namespace

std::vector<std::vector<std::uint32_t>>
find_rings(const Topology& topology, const std::vector<std::uint32_t>& ranks) {
    std::vector<std::uint32_t> position(topology.nodes.size(), UINT32_MAX);
    for (std::uint32_t i = 0; i < ranks.size(); ++i)
        position[ranks[i]] = i;
    std::vector<std::vector<std::uint32_t>> lanes(
        ranks.size(), std::vector<std::uint32_t>(ranks.size(), 0));
    bool direct = false;
    bool through_switch = false;
    for (const TopologyEdge& edge : topology.edges) {
        const std::uint32_t a = position[edge.a];
        const std::uint32_t b = position[edge.b];
        if (a != UINT32_MAX && b != UINT32_MAX) {
            lanes[a][b] += edge.lanes;
            lanes[b][a] += edge.lanes;
            direct = true;
        } else if (
            topology.nodes[edge.a].kind == NodeKind::kSwitch ||
            topology.nodes[edge.b].kind == NodeKind::kSwitch) {
            through_switch = through_switch || a != UINT32_MAX || b != UINT32_MAX;
        }
    }
    if (!direct) {
        std::vector<std::vector<std::uint32_t>> rings;
        if (through_switch || ranks.size() == 1)
            rings.push_back(ranks);
        return rings;
    }
    auto rings = RingSearch(std::move(lanes)).run();
    for (auto& ring : rings)
        for (auto& member : ring)
            member = ranks[member];
    return rings;
}

}  // namespace switchfold
