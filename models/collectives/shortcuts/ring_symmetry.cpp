// SPDX-License-Identifier: Apache-2.0
#include "interconnect/path_finder.h"
#include "models/collectives/shortcuts/flow_images.h"

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

/// The fold onto ranks 0 to `kept` - 1. `paths`: by ring and place.
std::optional<RankSymmetry> fold_onto(
    const Topology& topology, PathFinder& finder, const Rings& rings,
    const std::vector<std::vector<Paths>>& paths, std::uint32_t kept) {
    RankSymmetry fold(topology, static_cast<std::uint32_t>(rings.front().size()));
    for (std::uint32_t rank = 0; rank < fold.ranks(); ++rank)
        fold.image_of_rank[rank] = rank % kept;
    FlowImages images(topology, fold);
    for (std::size_t ring = 0; ring < rings.size(); ++ring) {
        const std::vector<std::uint32_t>& order = rings[ring];
        std::vector<Paths> shorter(kept);  // by sender
        for (std::uint32_t place = 0; place < kept; ++place)
            shorter[order[place] % kept] =
                finder.shortest(order[place] % kept, order[(place + 1) % order.size()] % kept);
        for (std::size_t place = 0; place < order.size(); ++place) {
            const std::uint32_t from = order[place] % kept;
            if (!images.add(paths[ring][place], shorter[from], ring * kept + from))
                return std::nullopt;
        }
    }
    if (!images.finish())
        return std::nullopt;
    return fold;
}

}  // namespace

std::optional<RankSymmetry> fold_rings(const Topology& topology, const Rings& rings) {
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
        if (auto fold = fold_onto(topology, finder, rings, paths, kept))
            return fold;
    }
    return std::nullopt;
}

}  // namespace switchfold
