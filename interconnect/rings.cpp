// SPDX-License-Identifier: Apache-2.0
#include "interconnect/rings.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace switchfold {

namespace {

/// Depth-first search for Hamiltonian cycles on the direct lanes that are left. Small machines
/// only: GPUs that are wired to each other come by the dozen at most.
class RingSearch {
public:
    explicit RingSearch(std::vector<std::vector<std::uint32_t>> lanes) : lanes_(std::move(lanes)) {}

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
            topology.nodes[edge.a].kind != NodeKind::kGpu ||
            topology.nodes[edge.b].kind != NodeKind::kGpu) {
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
