// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/flow_images.h"

#include "interconnect/hop.h"

#include <algorithm>

namespace switchfold {

bool set_image(std::uint32_t& there, std::uint32_t image) {
    if (there == RankFold::kIdle)
        there = image;
    return there == image;
}

FlowImages::FlowImages(const Topology& topology) :
    topology_(topology),
    uses_(2 * topology.edges.size()),
    uses_by_kept_(2 * topology.edges.size()),
    visits_(topology.nodes.size(), 0),
    visits_of_kept_(topology.nodes.size(), 0) {
    fold_.image_of_hop.assign(2 * topology.edges.size(), RankFold::kIdle);
    fold_.image_of_node.resize(topology.nodes.size());
}

bool FlowImages::add(
    const std::vector<Path>& ways, const std::vector<Path>& images, std::uint64_t key) {
    if (ways.size() != images.size())
        return false;
    const std::uint64_t first_use = key * (std::uint64_t{topology_.paths_per_pair} + 1);
    const auto at = std::lower_bound(keys_.begin(), keys_.end(), key);
    if (at == keys_.end() || *at != key) {
        keys_.insert(at, key);
        for (std::size_t way = 0; way < images.size(); ++way)
            for (const std::uint32_t hop : images[way].hops) {
                uses_by_kept_[hop].push_back(first_use + way);
                ++visits_of_kept_[topology_.end_of(hop)];
            }
    }
    for (std::size_t way = 0; way < ways.size(); ++way)
        if (!add(ways[way], images[way], first_use + way))
            return false;
    return true;
}

bool FlowImages::add(const Path& path, const Path& image, std::uint64_t use) {
    if (path.weight != image.weight || path.hops.size() != image.hops.size())
        return false;
    for (std::size_t i = 0; i < path.hops.size(); ++i) {
        const std::uint32_t hop = path.hops[i];
        const std::uint32_t other = image.hops[i];
        if (!alike(hop, other) || !set_image(fold_.image_of_hop[hop], other) ||
            !set_image(fold_.image_of_hop[reversed(hop)], reversed(other)) ||
            !set_image(fold_.image_of_node[topology_.end_of(hop)].node, topology_.end_of(other)))
            return false;
        uses_[hop].push_back(use);
        ++visits_[topology_.end_of(hop)];
    }
    return true;
}

bool FlowImages::alike(std::uint32_t hop, std::uint32_t other) const {
    const TopologyEdge& a = topology_.edges[edge_of(hop)];
    const TopologyEdge& b = topology_.edges[edge_of(other)];
    const TopologyNode& end = topology_.nodes[topology_.end_of(hop)];
    const TopologyNode& other_end = topology_.nodes[topology_.end_of(other)];
    return a.lanes == b.lanes && a.link_class == b.link_class && end.kind == other_end.kind &&
           end.switch_class == other_end.switch_class;
}

/// A hop without any flow carries replies, and so must its image.
bool FlowImages::same_uses(std::uint32_t hop) {
    std::vector<std::uint64_t>& own = uses_[hop];
    std::vector<std::uint64_t>& others = uses_by_kept_[fold_.image_of_hop[hop]];
    std::sort(own.begin(), own.end());
    std::sort(others.begin(), others.end());
    return own == others;
}

bool FlowImages::finish(RankFold& fold) {
    for (std::uint32_t hop = 0; hop < uses_.size(); ++hop)
        if (fold_.image_of_hop[hop] != RankFold::kIdle && !same_uses(hop))
            return false;
    for (std::uint32_t node = 0; node < visits_.size(); ++node) {
        if (visits_[node] == 0)
            continue;
        const std::uint32_t of_kept = visits_of_kept_[fold_.image_of_node[node].node];
        if (visits_[node] % of_kept != 0)
            return false;
        fold_.image_of_node[node].times = visits_[node] / of_kept;
    }
    fold.image_of_hop = std::move(fold_.image_of_hop);
    fold.image_of_node = std::move(fold_.image_of_node);
    return true;
}

}  // namespace switchfold
