// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/contrary_waits.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace switchfold {

namespace {

using Key = std::pair<std::uint32_t, std::uint64_t>;  ///< group and sequence
using Wait = std::pair<Key, Key>;                     ///< what waits, and for what

const CollectiveOperation* collective_at(const RankGraph& rank, std::uint32_t operation) {
    return std::get_if<CollectiveOperation>(&rank.operations[operation].body);
}

Key key_of(const CollectiveOperation& collective) {
    return {collective.group, collective.sequence};
}

/// Calls visit(operation, dependency, wait) for each wait of a collective for one of another group.
template <class Visit>
void each_wait(const RankGraph& rank, Visit visit) {
    for (std::uint32_t i = 0; i < rank.operations.size(); ++i) {
        const CollectiveOperation* const after = collective_at(rank, i);
        if (after == nullptr)
            continue;
        for (const std::uint32_t dependency : rank.operations[i].dependencies)
            if (const CollectiveOperation* before = collective_at(rank, dependency);
                before != nullptr && before->group != after->group)
                visit(i, dependency, Wait(key_of(*after), key_of(*before)));
    }
}

}  // namespace

std::size_t drop_contrary_waits(ExecutionGraph& graph) {
    std::size_t count = 0;
    std::set<Wait> waits;
    for (const auto& rank : graph.ranks)
        each_wait(
            *rank, [&](std::uint32_t, std::uint32_t, const Wait& wait) { waits.insert(wait); });
    const auto contrary = [&](const Wait& wait) {
        return waits.contains({wait.second, wait.first});
    };
    for (auto& rank : graph.ranks) {
        std::map<std::uint32_t, std::set<std::uint32_t>> dropped;
        each_wait(*rank, [&](std::uint32_t operation, std::uint32_t before, const Wait& wait) {
            if (contrary(wait) && dropped[operation].insert(before).second)
                ++count;
        });
        if (dropped.empty())
            continue;
        auto less = std::make_shared<RankGraph>(*rank);
        for (const auto& [operation, before] : dropped) {
            Dependencies kept;
            for (const std::uint32_t dependency : less->operations[operation].dependencies)
                if (!before.contains(dependency))
                    kept.push_back(dependency);
            less->operations[operation].dependencies = std::move(kept);
        }
        rank = std::move(less);
    }
    return count;
}

}  // namespace switchfold
