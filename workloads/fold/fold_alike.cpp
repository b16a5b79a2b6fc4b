// SPDX-License-Identifier: Apache-2.0
#include "workloads/fold/fold_alike.h"

#include <memory>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

/// Collectives inside machines take turns on one kind of links, those between them on another.
enum Links : std::uint32_t { kInside = 1, kBetween = 2 };

}  // namespace

FoldedGraph fold_alike(
    ExecutionGraph graph, const std::vector<std::vector<std::uint32_t>>& orbits,
    std::uint32_t machine, std::vector<std::uint32_t> ways) {
    const auto ranks = static_cast<std::uint32_t>(graph.ranks.size());
    std::vector<std::optional<std::uint32_t>> orbit_of(graph.groups.size());
    GroupOrbits found(machine, std::move(ways));
    for (const std::vector<std::uint32_t>& orbit : orbits) {
        if (orbit_of[orbit.front()] || graph.groups[orbit.front()].ranks.size() < 2)
            continue;
        std::vector<std::vector<std::uint32_t>> groups;
        for (const std::uint32_t group : orbit)
            groups.push_back(graph.groups[group].ranks);
        GroupOrbit one = orbit_of_groups(std::move(groups), machine, ranks);
        one.links = one.apart ? kBetween : kInside;
        const std::uint32_t number = found.add(std::move(one));
        for (const std::uint32_t group : orbit)
            orbit_of[group] = number;
    }
    ProbePieces none;
    none.graph.ranks.assign(ranks, std::make_shared<const RankGraph>());
    none.graph.steps = graph.steps;
    none.graph.provenance = graph.provenance;
    return FoldedGraph(
        {.skeleton = std::move(graph),
         .orbit_of = std::move(orbit_of),
         .orbits = std::move(found),
         .alone = false,
         .pieces_of = {},
         .whole = none,
         .shorter = none});
}

}  // namespace switchfold
