// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/recalls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

bool never_waits(const RankGraph& rank) {
    return std::all_of(
        rank.operations.begin(), rank.operations.end(),
        [](const Operation& operation) { return operation.dependencies.empty(); });
}

/// Members may go on before the last of them has all its data.
bool ends_apart(const Operation& operation) {
    const auto* collective = std::get_if<CollectiveOperation>(&operation.body);
    return collective != nullptr && (collective->kind == CollectiveKind::kAllGather ||
                                     collective->kind == CollectiveKind::kReduceScatter);
}

/// All-gathers and reduce-scatters that wait for the kernel just before the one that waits for
/// them.
std::size_t between_kernels(const RankGraph& rank) {
    std::vector<std::optional<std::uint32_t>> last(rank.streams.size());  // kernel, by stream
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < rank.operations.size(); ++i) {
        const Operation& operation = rank.operations[i];
        if (!std::holds_alternative<KernelOperation>(operation.body))
            continue;
        const std::optional<std::uint32_t> before = last[operation.stream];
        last[operation.stream] = i;
        const auto waits_between = [&](std::uint32_t index) {
            const Operation& waited_for = rank.operations[index];
            return ends_apart(waited_for) &&
                   std::find(
                       waited_for.dependencies.begin(), waited_for.dependencies.end(), *before) !=
                       waited_for.dependencies.end();
        };
        if (before &&
            std::any_of(
                operation.dependencies.begin(), operation.dependencies.end(), waits_between))
            ++count;
    }
    return count;
}

/// All collectives of the step are of all its ranks.
bool is_of_one_group(const ExecutionGraph& graph) {
    const std::size_t at_work = ranks_at_work(graph);
    return std::all_of(graph.groups.begin(), graph.groups.end(), [&](const Group& group) {
        return group.ranks.size() < 2 || group.ranks.size() == at_work;
    });
}

}  // namespace

Recall may_recall(const ExecutionGraph& graph) {
    // Ranks that do the same share what they do.
    std::set<const RankGraph*> ranks;
    for (const auto& rank : graph.ranks)
        ranks.insert(rank.get());
    if (std::all_of(
            ranks.begin(), ranks.end(), [](const auto* rank) { return never_waits(*rank); }))
        return Recall::kAlone;
    const bool comes_apart = std::any_of(
        ranks.begin(), ranks.end(), [](const auto* rank) { return between_kernels(*rank) > 1; });
    if (comes_apart)
        return Recall::kAlone;
    return is_of_one_group(graph) ? Recall::kBesideKernels : Recall::kTogether;
}

bool may_remember_messages(const ExecutionGraph& graph) {
    const auto is_measured = [](const Operation& operation) {
        const auto* collective = std::get_if<CollectiveOperation>(&operation.body);
        return collective != nullptr && collective->given != Time();
    };
    return graph.provenance.synthetic &&
           std::any_of(graph.ranks.begin(), graph.ranks.end(), [&](const auto& rank) {
               return std::any_of(rank->operations.begin(), rank->operations.end(), is_measured);
           });
}

}  // namespace switchfold
