// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/folded_groups.h"

#include "models/collectives/shortcuts/foldable.h"
#include "sim/machine/chosen_collectives.h"
#include "sim/machine/fold_work.h"
#include "sim/machine/system_queries.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
// Measured: 0.6 % on MI300X, whose GPUs have links of their own to each other; less elsewhere.
constexpr double kError = 0.01;

/// Groups of equally many ranks, each rank in one.
struct AlikeGroups {
    std::vector<std::uint32_t> groups;
    std::vector<CollectiveOperation> collectives;
    const RankGraph* rank = nullptr;  ///< what each does, but for its group
};

/// The group of each rank; nothing where one is of several, or groups are of different sizes.
std::optional<std::vector<std::uint32_t>> groups_by_rank(const ExecutionGraph& graph) {
    std::vector<std::uint32_t> group_of(graph.ranks.size(), kNone);
    std::size_t size = 0;
    for (std::uint32_t number = 0; number < graph.groups.size(); ++number) {
        const Group& group = graph.groups[number];
        if (group.ranks.size() < 2)
            continue;
        if (group.stands_for != 0 || (size != 0 && group.ranks.size() != size))
            return std::nullopt;
        size = group.ranks.size();
        for (const std::uint32_t rank : group.ranks) {
            if (group_of.at(rank) != kNone)
                return std::nullopt;
            group_of[rank] = number;
        }
    }
    for (std::size_t rank = 0; rank < group_of.size(); ++rank)
        if ((group_of[rank] == kNone) != graph.ranks[rank]->operations.empty())
            return std::nullopt;
    return group_of;
}

/// Whether two operations are the same, each of its own group.
bool alike(const Operation& a, const Operation& b) {
    Operation other = b;
    const auto* own = std::get_if<CollectiveOperation>(&a.body);
    if (auto* theirs = std::get_if<CollectiveOperation>(&other.body);
        theirs != nullptr && own != nullptr)
        theirs->group = own->group;
    return a == other;
}

std::optional<AlikeGroups> alike_groups(const ExecutionGraph& graph) {
    const auto group_of = groups_by_rank(graph);
    if (!group_of)
        return std::nullopt;
    AlikeGroups found;
    std::set<const RankGraph*> known;
    std::set<std::uint32_t> groups;
    for (std::size_t i = 0; i < group_of->size(); ++i) {
        const std::uint32_t group = (*group_of)[i];
        const RankGraph* rank = graph.ranks[i].get();
        if (group == kNone)
            continue;
        groups.insert(group);
        if (!known.insert(rank).second)
            continue;
        const auto collectives =
            collectives_of(*rank, [group](std::uint32_t other) { return other == group; });
        if (!collectives || collectives->empty())
            return std::nullopt;
        if (found.rank == nullptr) {
            found.rank = rank;
            found.collectives = *collectives;
        } else if (!std::ranges::equal(
                       found.rank->operations, rank->operations,
                       [](const Operation& a, const Operation& b) { return alike(a, b); })) {
            return std::nullopt;
        }
    }
    if (found.rank == nullptr)
        return std::nullopt;
    found.groups.assign(groups.begin(), groups.end());
    return found;
}

/// Whether the places of a group's members repeat those of the kept ones, 0 to `kept` - 1.
bool repeats(const std::vector<std::uint32_t>& ranks, std::uint32_t kept) {
    const auto places =
        static_cast<std::size_t>(std::ranges::lower_bound(ranks, kept) - ranks.begin());
    for (std::size_t place = 0; place < ranks.size(); ++place)
        if (ranks[place] % kept != ranks[place % places])
            return false;
    return true;
}

}  // namespace

std::optional<RankSymmetry> fold_of_groups(
    const SystemParams& system, const ExecutionGraph& graph, const CollectivePolicies& policies,
    Fidelity fidelity) {
    if (!ranks_may_fold(system, fidelity))
        return std::nullopt;
    const std::optional<AlikeGroups> alike = alike_groups(graph);
    if (!alike)
        return std::nullopt;
    const std::size_t size = graph.groups[alike->groups.front()].ranks.size();
    if (!takes_long(alike->groups.size() * size, *alike->rank))
        return std::nullopt;
    const Topology topology = build_topology(system.topology);
    std::vector<std::vector<std::uint32_t>> rings;
    std::vector<Chosen> first;
    for (const std::uint32_t group : alike->groups) {
        const std::vector<std::uint32_t>& ranks = graph.groups[group].ranks;
        const Choices choices(system, topology, ranks, policies);
        const auto all = choices.of(alike->collectives);
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
    const std::size_t each = rings.size() / alike->groups.size();
    auto fold = fold_rings(
        topology, static_cast<std::uint32_t>(graph.ranks.size()), rings,
        static_cast<double>(shortest_of(first).count()) / static_cast<double>(each));
    if (!fold || fold->typical > kAutoError)
        return std::nullopt;
    const auto kept = static_cast<std::uint32_t>(fold->kept().size());
    for (const std::uint32_t group : alike->groups)
        if (!repeats(graph.groups[group].ranks, kept))
            return std::nullopt;
    fold->error = std::max(fold->error, kError);
    return fold;
}

}  // namespace switchfold
