// SPDX-License-Identifier: Apache-2.0
#include "interconnect/hop.h"
#include "interconnect/path_finder.h"
#include "models/collectives/choice/rank_fold.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace switchfold {

namespace {

using Rings = std::vector<std::vector<std::uint32_t>>;
using Paths = std::vector<Path>;

/// Whether the ring, with its ranks taken modulo `kept`, goes round the same `kept` places again
/// and again.
bool repeats(const std::vector<std::uint32_t>& ring, std::uint32_t kept) {
    std::vector<bool> seen(kept, false);
    for (std::uint32_t place = 0; place < kept; ++place)
        seen[ring[place] % kept] = true;
    if (std::find(seen.begin(), seen.end(), false) != seen.end())
        return false;
    for (std::size_t place = kept; place < ring.size(); ++place)
        if (ring[place] % kept != ring[place - kept] % kept)
            return false;
    return true;
}

/// Compares the rings with the shorter ones, link by link.
class Comparison {
public:
    Comparison(
        const Topology& topology,
        PathFinder& finder,
        const Rings& rings,
        const std::vector<std::vector<Paths>>& paths,
        std::uint32_t kept) :
        topology_(topology),
        finder_(finder),
        rings_(rings),
        paths_(paths),
        kept_(kept),
        used_(2 * topology.edges.size()),
        used_by_kept_(2 * topology.edges.size()),
        visits_(topology.nodes.size(), 0),
        visits_of_kept_(topology.nodes.size(), 0) {
        fold_.ranks = static_cast<std::uint32_t>(rings.front().size());
        fold_.kept = kept;
        fold_.image_of_hop.assign(2 * topology.edges.size(), RankFold::kIdle);
        fold_.image_of_node.resize(topology.nodes.size());
    }
    [[nodiscard]] std::optional<RankFold> result() {
        for (std::size_t ring = 0; ring < rings_.size(); ++ring)
            if (!map(ring))
                return std::nullopt;
        for (std::uint32_t hop = 0; hop < used_.size(); ++hop)
            if (fold_.image_of_hop[hop] != RankFold::kIdle && !same_uses(hop))
                return std::nullopt;
        for (std::uint32_t node = 0; node < visits_.size(); ++node)
            if (visits_[node] > 0 && !count_visits(node))
                return std::nullopt;
        return std::move(fold_);
    }

private:
    /// Maps the paths of a ring's neighbours to those of the kept neighbours.
    [[nodiscard]] bool map(std::size_t ring) {
        const std::vector<std::uint32_t>& order = rings_[ring];
        std::vector<Paths> short_paths(kept_);  // by sender
        for (std::uint32_t place = 0; place < kept_; ++place) {
            const std::uint32_t from = order[place] % kept_;
            short_paths[from] = finder_.shortest(from, order[(place + 1) % order.size()] % kept_);
            for (std::size_t way = 0; way < short_paths[from].size(); ++way)
                for (const std::uint32_t hop : short_paths[from][way].hops) {
                    used_by_kept_[hop].push_back(use(ring, from, way));
                    ++visits_of_kept_[topology_.end_of(hop)];
                }
        }
        for (std::size_t place = 0; place < order.size(); ++place) {
            const std::uint32_t from = order[place] % kept_;
            const Paths& ways = paths_[ring][place];
            if (ways.size() != short_paths[from].size())
                return false;
            for (std::size_t way = 0; way < ways.size(); ++way)
                if (!map(ways[way], short_paths[from][way], use(ring, from, way)))
                    return false;
        }
        return true;
    }
    [[nodiscard]] bool map(const Path& path, const Path& to, std::uint64_t use) {
        if (path.weight != to.weight || path.hops.size() != to.hops.size())
            return false;
        for (std::size_t i = 0; i < path.hops.size(); ++i) {
            const std::uint32_t hop = path.hops[i];
            const std::uint32_t image = to.hops[i];
            if (!alike(hop, image) || !set(fold_.image_of_hop[hop], image) ||
                !set(fold_.image_of_hop[reversed(hop)], reversed(image)) ||
                !set(fold_.image_of_node[topology_.end_of(hop)].node, topology_.end_of(image)))
                return false;
            used_[hop].push_back(use);
            ++visits_[topology_.end_of(hop)];
        }
        return true;
    }
    /// \returns whether there was no other value.
    static bool set(std::uint32_t& there, std::uint32_t value) {
        const bool fits = there == RankFold::kIdle || there == value;
        there = value;
        return fits;
    }
    [[nodiscard]] bool alike(std::uint32_t hop, std::uint32_t other) const {
        const TopologyEdge& a = topology_.edges[edge_of(hop)];
        const TopologyEdge& b = topology_.edges[edge_of(other)];
        const TopologyNode& end = topology_.nodes[topology_.end_of(hop)];
        const TopologyNode& other_end = topology_.nodes[topology_.end_of(other)];
        return a.lanes == b.lanes && a.link_class == b.link_class && end.kind == other_end.kind &&
               end.switch_class == other_end.switch_class;
    }
    /// Whether the hop carries each flow that its image carries, once. A hop without any carries
    /// replies, and so must its image.
    [[nodiscard]] bool same_uses(std::uint32_t hop) {
        std::vector<std::uint64_t>& uses = used_[hop];
        std::vector<std::uint64_t>& others = used_by_kept_[fold_.image_of_hop[hop]];
        std::sort(uses.begin(), uses.end());
        std::sort(others.begin(), others.end());
        return uses == others;
    }
    [[nodiscard]] bool count_visits(std::uint32_t node) {
        RankFold::NodeImage& image = fold_.image_of_node[node];
        const std::uint32_t visits = visits_of_kept_[image.node];
        image.times = visits_[node] / visits;
        return visits_[node] % visits == 0;
    }
    [[nodiscard]] std::uint64_t use(std::size_t ring, std::uint32_t from, std::size_t way) const {
        return (ring * kept_ + from) * (std::uint64_t{topology_.paths_per_pair} + 1) + way;
    }

    const Topology& topology_;
    PathFinder& finder_;
    const Rings& rings_;
    const std::vector<std::vector<Paths>>& paths_;
    std::uint32_t kept_;
    RankFold fold_;
    std::vector<std::vector<std::uint64_t>> used_;  ///< flows by hop
    std::vector<std::vector<std::uint64_t>> used_by_kept_;
    std::vector<std::uint32_t> visits_;  ///< paths into a node
    std::vector<std::uint32_t> visits_of_kept_;
};

}  // namespace

std::optional<RankFold> fold_rings(const Topology& topology, const Rings& rings) {
    const auto ranks = static_cast<std::uint32_t>(rings.front().size());
    PathFinder finder(topology);
    std::vector<std::vector<Paths>> paths;  // by ring and place; found when first needed
    for (std::uint32_t kept = 2; kept <= ranks / 2; ++kept) {
        if (ranks % kept != 0 || !std::all_of(rings.begin(), rings.end(), [&](const auto& ring) {
                return repeats(ring, kept);
            }))
            continue;
        if (paths.empty())
            for (const auto& ring : rings) {
                paths.emplace_back();
                for (std::size_t place = 0; place < ring.size(); ++place)
                    paths.back().push_back(
                        finder.shortest(ring[place], ring[(place + 1) % ring.size()]));
            }
        if (auto fold = Comparison(topology, finder, rings, paths, kept).result())
            return fold;
    }
    return std::nullopt;
}

}  // namespace switchfold
