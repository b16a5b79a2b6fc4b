// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/flow_images.h"

#include "interconnect/hop.h"

#include <algorithm>

namespace switchfold {

FlowImages::FlowImages(const Topology& topology, RankSymmetry& fold) :
    topology_(topology),
    fold_(fold),
    uses_(2 * topology.edges.size()),
    uses_by_kept_(2 * topology.edges.size()) {}

bool FlowImages::add(
    const std::vector<Path>& ways, const std::vector<Path>& images, std::uint64_t key) {
    if (ways.size() != images.size())
        return false;
    const std::uint64_t first_use = key * (std::uint64_t{topology_.paths_per_pair} + 1);
    const auto at = std::lower_bound(keys_.begin(), keys_.end(), key);
    if (at == keys_.end() || *at != key) {
        keys_.insert(at, key);
        for (std::size_t way = 0; way < images.size(); ++way)
            for (const std::uint32_t hop : images[way].hops)
                uses_by_kept_[hop].push_back(first_use + way);
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
        if (!alike(topology_, hop, other) || !fold_.set_hop(hop, other) ||
            !RankSymmetry::set(fold_.image_of_node[topology_.end_of(hop)], topology_.end_of(other)))
            return false;
        uses_[hop].push_back(use);
    }
    return true;
}

/// A hop without any flow carries replies, and so must its image.
bool FlowImages::same_uses(std::uint32_t hop) {
    std::vector<std::uint64_t>& own = uses_[hop];
    std::vector<std::uint64_t>& others = uses_by_kept_[fold_.image_of_hop[hop]];
    std::sort(own.begin(), own.end());
    std::sort(others.begin(), others.end());
    return own == others;
}

bool FlowImages::finish() {
    for (std::uint32_t hop = 0; hop < uses_.size(); ++hop)
        if (fold_.image_of_hop[hop] != RankSymmetry::kIdle && !same_uses(hop))
            return false;
    return true;
}

}  // namespace switchfold
