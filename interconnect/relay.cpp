// SPDX-License-Identifier: Apache-2.0
#include "interconnect/relay.h"

#include <algorithm>

namespace switchfold {

Relays::Relays(const Topology& topology) {
    if (!topology.relays)
        return;
    links_.resize(topology.nodes.size());
    for (std::uint32_t i = 0; i < topology.edges.size(); ++i) {
        const TopologyEdge& edge = topology.edges[i];
        if (edge.down || topology.nodes[edge.a].kind != NodeKind::kGpu ||
            topology.nodes[edge.b].kind != NodeKind::kGpu)
            continue;
        links_[edge.a].push_back({edge.b, hop_from_a(i), edge.lanes});
        links_[edge.b].push_back({edge.a, hop_from_b(i), edge.lanes});
    }
}

std::optional<Relays::Hops> Relays::between(std::uint32_t from, std::uint32_t to) const {
    std::optional<Hops> best;
    if (links_.empty())
        return best;
    for (const Link& first : links_[from])
        for (const Link& second : links_[first.peer]) {
            if (second.peer != to)
                continue;
            const std::uint32_t lanes = std::min(first.lanes, second.lanes);
            if (!best || lanes > best->lanes || (lanes == best->lanes && first.peer < best->gpu))
                best = {first.peer, first.hop, second.hop, lanes};
        }
    return best;
}

}  // namespace switchfold
