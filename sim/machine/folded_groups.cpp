// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/folded_groups.h"

#include "models/collectives/shortcuts/foldable.h"
#include "sim/machine/chosen_collectives.h"
#include "sim/machine/fold_work.h"
#include "sim/machine/system_queries.h"
#include "workloads/graph/rank_sets.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

namespace {

// Measured: 0.6 % on MI300X, whose GPUs have links of their own to each other; less elsewhere.
constexpr double kError = 0.01;

/// Groups whose ranks share what they do, each rank in one or idle; empty if some are otherwise.
std::vector<std::uint32_t> groups_apart(const ExecutionGraph& graph) {
    std::vector<std::uint32_t> groups;
    std::vector<bool> at_work(graph.ranks.size(), false);
    for (std::uint32_t number = 0; number < graph.groups.size(); ++number) {
        const Group& group = graph.groups[number];
        if (group.ranks.size() < 2)
            continue;
        for (const std::uint32_t rank : group.ranks) {
            if (group.stands_for != 0 || at_work.at(rank) ||
                graph.ranks[rank] != graph.ranks[group.ranks.front()])
                return {};
            at_work[rank] = true;
        }
        groups.push_back(number);
    }
    for (std::size_t rank = 0; rank < at_work.size(); ++rank)
        if (!at_work[rank] && !graph.ranks[rank]->operations.empty())
            return {};
    return groups;
}

}  // namespace

std::optional<RankSymmetry> fold_of_groups(
    const SystemParams& system, const ExecutionGraph& graph, const CollectivePolicies& policies,
    Fidelity fidelity) {
    if (!ranks_may_fold(system, fidelity))
        return std::nullopt;
    const std::vector<std::uint32_t> groups = groups_apart(graph);
    if (groups.empty())
        return std::nullopt;
    const std::vector<std::uint32_t>& members = graph.groups[groups.front()].ranks;
    const RankGraph& rank = *graph.ranks[members.front()];
    const auto collectives =
        collectives_of(rank, [&](std::uint32_t group) { return group == groups.front(); });
    SameWork work(graph);
    if (!collectives || collectives->empty() || !takes_long(groups.size() * members.size(), rank) ||
        !std::ranges::all_of(groups, [&](std::uint32_t group) {
            return work.of(members, graph.groups[group].ranks);
        }))
        return std::nullopt;
    const Topology topology = build_topology(system.topology);
    std::vector<std::vector<std::uint32_t>> rings;
    std::vector<Chosen> first;
    for (const std::uint32_t group : groups) {
        const std::vector<std::uint32_t>& ranks = graph.groups[group].ranks;
        const Choices choices(system, topology, ranks, policies);
        const auto all = choices.of(*collectives);
        if (!all || !only(Pattern::kRings, *all))
            return std::nullopt;
        if (first.empty())
            first = *all;
        for (std::size_t i = 0; i < first.size(); ++i)
            if ((*all)[i].choice.channels != first[i].choice.channels ||
                (*all)[i].choice.protocol != first[i].choice.protocol)
                return std::nullopt;
        for (const std::vector<std::uint32_t>& order : choices.group().rings) {
            std::vector<std::uint32_t>& ring = rings.emplace_back();
            for (const std::uint32_t place : order)
                ring.push_back(ranks[place]);
        }
    }
    const std::size_t each = rings.size() / groups.size();
    auto fold = fold_rings(
        topology, static_cast<std::uint32_t>(graph.ranks.size()), rings,
        static_cast<double>(shortest_of(first).count()) / static_cast<double>(each));
    if (!fold || fold->typical > kAutoError)
        return std::nullopt;
    fold->error = std::max(fold->error, kError);
    return fold;
}

}  // namespace switchfold
