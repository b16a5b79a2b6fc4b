// SPDX-License-Identifier: Apache-2.0
#include "interconnect/path_finder.h"
#include "models/collectives/shortcuts/flow_images.h"
#include "models/collectives/shortcuts/machine_flows.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

using Rings = std::vector<std::vector<std::uint32_t>>;
using Paths = std::vector<Path>;

// Where a step is one slice, it waits for what the longest way adds, thrice. Where it lasts this
// many times as long, it has many slices, which hide it (docs/notebook/performance.md).
constexpr double kLongStep = 100;
constexpr double kErrorOverSpines = 0.015;

/// Ranks of a ring among ranks 0 to `kept` - 1.
std::size_t kept_of(const std::vector<std::uint32_t>& ring, std::uint32_t kept) {
    return static_cast<std::size_t>(
        std::ranges::count_if(ring, [kept](std::uint32_t rank) { return rank < kept; }));
}

/// Whether the ring, with its ranks taken modulo `kept`, goes round the same places, those of its
/// kept ranks, `times` times.
bool repeats(const std::vector<std::uint32_t>& ring, std::uint32_t kept, std::size_t times) {
    const std::size_t places = kept_of(ring, kept);
    if (places < 2 || places * times != ring.size())
        return false;
    std::vector<bool> met(kept, false);
    for (std::size_t place = 0; place < places; ++place)
        met[ring[place] % kept] = true;
    if (std::ranges::any_of(ring, [&](std::uint32_t rank) { return rank < kept && !met[rank]; }))
        return false;
    for (std::size_t place = places; place < ring.size(); ++place)
        if (ring[place] % kept != ring[place - places] % kept)
            return false;
    return true;
}

/// The ways of a ring among its kept ranks, by place.
std::vector<Paths>
shorter(PathFinder& finder, const std::vector<std::uint32_t>& order, std::uint32_t kept) {
    std::vector<Paths> ways;
    const std::size_t places = kept_of(order, kept);
    for (std::size_t place = 0; place < places; ++place)
        ways.push_back(
            finder.shortest(order[place] % kept, order[(place + 1) % order.size()] % kept));
    return ways;
}

RankSymmetry onto_first(const Topology& topology, std::uint32_t ranks, std::uint32_t kept) {
    RankSymmetry fold(topology, ranks);
    for (std::uint32_t rank = 0; rank < fold.ranks(); ++rank)
        fold.image_of_rank[rank] = rank % kept;
    return fold;
}

/// The fold onto ranks 0 to `kept` - 1; nothing if some link's image carries anything else.
/// `paths`: by ring and place.
std::optional<RankSymmetry> fold_onto(
    const Topology& topology, PathFinder& finder, std::uint32_t ranks, const Rings& rings,
    const std::vector<std::vector<Paths>>& paths, std::uint32_t kept) {
    RankSymmetry fold = onto_first(topology, ranks, kept);
    FlowImages images(topology, fold);
    for (std::size_t ring = 0; ring < rings.size(); ++ring) {
        const std::vector<Paths> ways = shorter(finder, rings[ring], kept);
        for (std::size_t place = 0; place < rings[ring].size(); ++place) {
            const std::size_t image = place % ways.size();
            if (!images.add(paths[ring][place], ways[image], ring * kept + image))
                return std::nullopt;
        }
    }
    if (!images.finish())
        return std::nullopt;
    return fold;
}

/// GPUs of each machine, if all have equally many and the ranks are those of the first machines.
std::uint32_t even_members(const Topology& topology, std::uint32_t ranks) {
    const std::uint32_t machines = topology.machines();
    if (topology.gpus() % machines != 0)
        return 0;
    const std::uint32_t members = topology.gpus() / machines;
    if (ranks % members != 0)
        return 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        if (topology.machine_of(rank) != rank / members)
            return 0;
    return members;
}

/// Onto whole machines, whose ways between each other need not be those of all machines, unless
/// that lets `bytes` arrive at another time. `flows`: of the whole rings.
std::optional<RankSymmetry> fold_onto_machines(
    const Topology& topology, PathFinder& finder, std::uint32_t ranks, const Rings& rings,
    MachineFlows& flows, std::uint32_t kept, double bytes) {
    RankSymmetry fold = onto_first(topology, ranks, kept);
    std::vector<Paths> images;
    for (const auto& order : rings)
        std::ranges::move(shorter(finder, order, kept), std::back_inserter(images));
    if (!flows.fold_onto(topology.machine_of(kept), images, fold))
        return std::nullopt;
    const double step = flows.limit() * bytes / static_cast<double>(rings.front().size());
    if (step < kLongStep * static_cast<double>(flows.farther().count()))
        return std::nullopt;
    fold.error = kErrorOverSpines;
    return fold;
}

}  // namespace

std::optional<RankSymmetry>
fold_rings(const Topology& topology, std::uint32_t ranks, const Rings& rings, double bytes) {
    const std::uint32_t members = even_members(topology, ranks);
    PathFinder finder(topology);
    std::vector<std::vector<Paths>> paths;  // by ring and place; found when first needed
    std::optional<MachineFlows> flows;      // likewise
    for (std::uint32_t kept = 2; kept <= ranks / 2; ++kept) {
        if (ranks % kept != 0 || !std::all_of(rings.begin(), rings.end(), [&](const auto& ring) {
                return repeats(ring, kept, ranks / kept);
            }))
            continue;
        if (paths.empty())
            for (const auto& ring : rings) {
                paths.emplace_back();
                for (std::size_t place = 0; place < ring.size(); ++place)
                    paths.back().push_back(
                        finder.shortest(ring[place], ring[(place + 1) % ring.size()]));
            }
        if (auto fold = fold_onto(topology, finder, ranks, rings, paths, kept))
            return fold;
        if (members == 0 || kept % members != 0 || kept == members)
            continue;
        if (!flows) {
            flows.emplace(topology, ranks / members);
            for (const auto& ring : paths)
                std::ranges::for_each(ring, [&](const Paths& ways) { flows->add(ways); });
        }
        if (auto fold = fold_onto_machines(topology, finder, ranks, rings, *flows, kept, bytes))
            return fold;
    }
    return std::nullopt;
}

std::optional<RankSymmetry> fold_shift(const Topology& topology, std::uint32_t ranks, Bytes bytes) {
    if (!one_nic_each(topology))
        return std::nullopt;
    std::vector<std::uint32_t> order(ranks);
    std::iota(order.begin(), order.end(), 0U);
    return fold_rings(topology, ranks, {std::move(order)}, static_cast<double>(bytes.count()));
}

}  // namespace switchfold
